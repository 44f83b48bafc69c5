/** Keeps what is put to a path, and gives it back: `PUT /hello.txt`, then `GET /hello.txt`. */
export default {
  async fetch(request, env): Promise<Response> {
    const key = decodeURIComponent(new URL(request.url).pathname.slice(1));
    switch (request.method) {
      case "PUT":
        return put(env.BUCKET, key, request);
      case "GET":
        return key === "" ? list(env) : get(env.BUCKET, key, request);
      case "DELETE":
        await env.BUCKET.delete(key);
        return new Response(null, { status: 204 });
      default:
        return new Response("Method not allowed\n", {
          status: 405,
          headers: { Allow: "GET, PUT, DELETE" },
        });
    }
  },
} satisfies ExportedHandler<Env>;

async function put(bucket: StoreBucket, key: string, request: Request): Promise<Response> {
  const object = await bucket.put(key, request.body, { httpMetadata: request.headers });
  return Response.json({ key: object.key, size: object.size, etag: object.etag }, { status: 201 });
}

async function get(bucket: StoreBucket, key: string, request: Request): Promise<Response> {
  // A client that has the object already sends its etag along and gets no body.
  const object = await bucket.get(key, { onlyIf: request.headers });
  if (object === null) return new Response(`There is no ${key}\n`, { status: 404 });
  const headers = new Headers({ ETag: object.httpEtag });
  object.writeHttpMetadata(headers);
  if (!("body" in object)) return new Response(null, { status: 304, headers });
  return new Response(object.body, { headers });
}

async function list({ BUCKET, GREETING }: Env): Promise<Response> {
  const { objects } = await BUCKET.list({ limit: 100 });
  const lines = objects.map(({ key, size }) => `${key}  ${size} bytes`);
  return new Response([GREETING, ...lines, ""].join("\n"));
}
