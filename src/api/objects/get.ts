/** Sends an object: its octets flow from the store to the client. */
import { bucketOf, checkJurisdiction } from "../buckets/shape.ts";
import { endpoint } from "../endpoint.ts";
import { PlainAnswer } from "../envelope.ts";
import { noSuchKey } from "../errors.ts";
import { keyOf, paths } from "./paths.ts";
import { conditionsOf, headersOf, typeOf } from "./shape.ts";

export const getObject = paths.map((path) =>
  endpoint({
    method: "GET",
    path,
    summary: "Fetch an object",
    permission: "objects.read",
    handle: async ({ params, headers, request }, { objects }) => {
      checkJurisdiction(headers);
      const bucket = await bucketOf(objects, params);
      if (request.method === "HEAD") {
        const object = await objects.head(bucket, keyOf(params));
        if (object === null) throw noSuchKey();
        const shown = { ...headersOf(object), "Content-Length": String(object.size) };
        return new PlainAnswer({ status: 200, type: typeOf(object), body: "", headers: shown });
      }
      const found = await objects.get(bucket, keyOf(params), { conditions: conditionsOf(headers) });
      if (found.kind === "missing") throw noSuchKey();
      if (found.kind === "condition-failed") {
        const unchanged = headersOf(found.object);
        return new PlainAnswer({
          status: 304,
          type: typeOf(found.object),
          body: "",
          headers: unchanged,
        });
      }
      const { object, range, body } = found;
      const octets =
        body instanceof Uint8Array
          ? body
          : { length: range.length, first: new Uint8Array(0), rest: body };
      const type = typeOf(object);
      return new PlainAnswer({ status: 200, type, body: octets, headers: headersOf(object) });
    },
  }),
);
