/** The scripts that are measured, the same text on every side. */

export const BINDING = "BUCKET";

export const HELLO = `export default { fetch() { return new Response("Hello"); } };`;

/** GET /KEY answers the object, PUT /KEY stores the body. */
export const BUCKET_SCRIPT = `export default {
  async fetch(request, env) {
    const key = new URL(request.url).pathname.slice(1);
    if (request.method === "PUT") {
      const { etag } = await env.${BINDING}.put(key, request.body);
      return new Response(etag);
    }
    const object = await env.${BINDING}.get(key);
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
};`;

/** Known to every runtime that is measured. */
export const COMPATIBILITY_DATE = "2026-07-01";
