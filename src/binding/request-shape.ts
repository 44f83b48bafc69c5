/** Holds the JSON of a request to its shape: whoever speaks to the door may send anything. */
import { z } from "zod";
import { ALGORITHMS, type StoreRequest } from "./protocol.ts";

const key = z.string();
const uploadId = z.string();
const partNumber = z.int().min(1).max(10_000);
/** Milliseconds since the epoch, as far as dates reach. */
const time = z.int().min(-8.64e15).max(8.64e15);

const ssecKey = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .optional();

const etags = z.array(
  z.discriminatedUnion("type", [
    z.strictObject({ type: z.enum(["strong", "weak"]), value: z.string() }),
    z.strictObject({ type: z.literal("wildcard") }),
  ]),
);
const onlyIf = z
  .strictObject({
    etagMatches: etags.optional(),
    etagDoesNotMatch: etags.optional(),
    uploadedBefore: time.optional(),
    uploadedAfter: time.optional(),
    secondsGranularity: z.boolean().optional(),
  })
  .optional();

const write = {
  http: z
    .strictObject({
      contentType: z.string().optional(),
      contentLanguage: z.string().optional(),
      contentDisposition: z.string().optional(),
      contentEncoding: z.string().optional(),
      cacheControl: z.string().optional(),
      cacheExpiry: time.optional(),
    })
    .optional(),
  custom: z.record(z.string(), z.string()).optional(),
  storageClass: z.string().optional(),
  ssecKey,
};

const count = z.int().min(0);
const ranges = z.union([
  z.strictObject({ suffix: count }),
  z.strictObject({ offset: count.optional(), length: count.optional() }),
]);

const shape = z.discriminatedUnion("method", [
  z.strictObject({ method: z.literal("head"), key }),
  z.strictObject({
    method: z.literal("get"),
    key,
    onlyIf,
    range: ranges.optional(),
    rangeHeader: z.string().optional(),
    ssecKey,
    lends: z.literal(true).optional(),
  }),
  z.strictObject({ method: z.literal("begin"), lent: z.string() }),
  z.strictObject({
    method: z.literal("put"),
    key,
    onlyIf,
    checksum: z
      .strictObject({ algorithm: z.enum(ALGORITHMS), hex: z.string().regex(/^[0-9a-f]{1,128}$/) })
      .optional(),
    ...write,
  }),
  z.strictObject({ method: z.literal("delete"), keys: z.array(key) }),
  z.strictObject({
    method: z.literal("list"),
    limit: z.int().optional(),
    prefix: z.string().optional(),
    cursor: z.string().optional(),
    delimiter: z.string().optional(),
    startAfter: z.string().optional(),
    include: z.array(z.enum(["httpMetadata", "customMetadata"])),
  }),
  z.strictObject({ method: z.literal("createMultipartUpload"), key, ...write }),
  z.strictObject({ method: z.literal("uploadPart"), key, uploadId, partNumber, ssecKey }),
  z.strictObject({
    method: z.literal("completeMultipartUpload"),
    key,
    uploadId,
    parts: z.array(z.strictObject({ partNumber, etag: z.string() })),
  }),
  z.strictObject({ method: z.literal("abortMultipartUpload"), key, uploadId }),
]);

/** The request, or what is wrong with it. */
export function readRequest(json: unknown): StoreRequest | string {
  const checked = shape.safeParse(json);
  // What came is taken, not what the shape made of it: names such as `__proto__` must survive.
  if (checked.success) return json as StoreRequest;
  const { path, message } = checked.error.issues[0]!;
  return `${path.length === 0 ? "request" : path.join(".")}: ${message}`;
}
