/** Stores an object that a browser sends as a form, signed by the policy among its fields. */
import type { ExpectedChecksum } from "#objects";
import { boundaryOf } from "#kit/form-headers.ts";
import { escapePath } from "#kit/sigv4.ts";
import { parseXml } from "#kit/xml.ts";
import { authenticatePost } from "../auth/index.ts";
import type { HeaderSource, S3Call } from "../call.ts";
import { readTagging } from "../configurations/tagging-xml.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, type S3Answer, type S3Parts, xmlAnswer } from "../operation.ts";
import { type FormUpload, isChecksum, readChecksum, readForm } from "../payload/index.ts";
import { writeOptionsOf } from "../write-options.ts";
import { bareDocument, tag } from "../xml/write.ts";

export const postObject: Operation = {
  name: "PostObject",
  method: "POST",
  on: "bucket",
  action: "write",
  authorisesItself: true,
  async handle(call, parts) {
    const form = await readForm(call.payload().body, boundary(call));
    const key = keyOf(form);
    const { leastOctets, mostOctets } = await authorize(call, parts, form.fields, key);
    const object = await parts.store.put(
      call.bucket,
      key,
      between(form.body, leastOctets, mostOctets),
      {
        ...writeOptionsOf(headersIn(form.fields)),
        ...tagsIn(form.fields),
        checksums: checksumsIn(form.fields),
        cameBy: { kind: "post" },
      },
    );
    return answer(call, form.fields, key, `"${object!.etag}"`); // Without conditions it is always there.
  },
};

function boundary({ request }: S3Call): string {
  const type = request.headers["content-type"] ?? "";
  const found = /^multipart\/form-data\s*;/i.test(type) ? boundaryOf(type) : null;
  if (found !== null) return found;
  const message = "Bucket POST must be of the enclosure-type multipart/form-data";
  throw new S3Fault("PreconditionFailed", message);
}

function keyOf({ fields, filename }: FormUpload): string {
  const key = fields.get("key")?.replaceAll("${filename}", () => filename) ?? "";
  if (key === "") throw new S3Fault("UserKeyMustBeSpecified");
  return key;
}

/** By the policy alone: a signature of the head covers a body only as a whole, and this one is not read so. */
async function authorize(
  { bucket }: S3Call,
  { authentication }: S3Parts,
  fields: ReadonlyMap<string, string>,
  key: string,
): Promise<{ leastOctets: number; mostOctets: number }> {
  const given = new Map(fields).set("key", key);
  const { caller, ...range } = await authenticatePost(authentication, given, bucket.name);
  // To whoever may use some operations only, it is a put like any other.
  const isAllowed = caller.may("write", bucket.name, key, "PutObject");
  if (bucket.accountId === caller.accountId && isAllowed) return range;
  throw new S3Fault("AccessDenied");
}

/** Fails a body that is not of the size that its policy wants. */
async function* between(
  body: AsyncIterable<Uint8Array>,
  least: number,
  most: number,
): AsyncGenerator<Uint8Array> {
  let octets = 0;
  for await (const piece of body) {
    octets += piece.length;
    if (octets > most) {
      throw new S3Fault("EntityTooLarge", undefined, { extra: { MaxSizeAllowed: String(most) } });
    }
    yield piece;
  }
  if (octets >= least) return;
  const extra = { ProposedSize: String(octets), MinSizeAllowed: String(least) };
  throw new S3Fault("EntityTooSmall", undefined, { extra });
}

/** Fields stand for the headers of a put. Those of headers come as Latin-1, those of forms are UTF-8. */
function headersIn(fields: ReadonlyMap<string, string>): HeaderSource {
  const headers: Record<string, string> = {};
  for (const [name, value] of fields) headers[name] = Buffer.from(value).toString("latin1");
  if (headers["acl"] !== undefined) headers["x-amz-acl"] = headers["acl"];
  return {
    request: { headers },
    header: (name) => headers[name],
    *headersUnder(prefix) {
      for (const [name, value] of Object.entries(headers)) {
        if (name.startsWith(prefix)) yield [name.slice(prefix.length), value];
      }
    },
  };
}

function tagsIn(fields: ReadonlyMap<string, string>): { tags?: Record<string, string> } {
  const tagging = fields.get("tagging");
  return tagging === undefined ? {} : { tags: readTagging(parseXml(tagging)) };
}

function checksumsIn(fields: ReadonlyMap<string, string>): ExpectedChecksum[] {
  const given = [...fields].filter(([name]) => isChecksum(name));
  return given.map(([name, value]) => {
    const { algorithm, value: expected } = readChecksum(name, value);
    return { algorithm, ...(expected !== null && { value: expected }) };
  });
}

function answer(
  { request, bucket, target }: S3Call,
  fields: ReadonlyMap<string, string>,
  key: string,
  etag: string,
): S3Answer {
  const redirect = fields.get("success_action_redirect") ?? fields.get("redirect") ?? "";
  if (/^https?:/i.test(redirect) && URL.canParse(redirect)) {
    const url = new URL(redirect);
    for (const [name, value] of Object.entries({ bucket: bucket.name, key, etag })) {
      url.searchParams.append(name, value);
    }
    return { status: 303, headers: ["Location", url.href, "ETag", etag] };
  }
  const path = target.path.endsWith("/") ? target.path : `${target.path}/`;
  const location = `http://${request.headers.host ?? ""}${path}${escapePath(key)}`;
  const headers = ["Location", location, "ETag", etag];
  const status = fields.get("success_action_status");
  if (status !== "201") return { status: status === "200" ? 200 : 204, headers };
  const document = bareDocument(
    "PostResponse",
    tag("Location", location) + tag("Bucket", bucket.name) + tag("Key", key) + tag("ETag", etag),
  );
  return { ...xmlAnswer(document, headers), status: 201 };
}
