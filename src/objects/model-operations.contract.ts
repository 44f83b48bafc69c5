/** Operations on a store, by chance: few keys, tags and sizes, so that they meet. */
import { createHash } from "node:crypto";
import fc from "fast-check";

export const keys = ["", "a", "a/", "a/b", "a/b/c", "a//", "b", "é", "\u{1F600}", "\0", "a\0"];
const key = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom("a", "a/b") },
  { weight: 20, arbitrary: fc.constantFrom(...keys) },
  { weight: 1, arbitrary: fc.constantFrom("x".repeat(1025), "\uD800") },
);
const octets = fc
  .tuple(fc.constantFrom(0, 1, 8, 9, 10, 10, 10, 20, 100), fc.nat(3))
  .map(([length, fill]) => Buffer.alloc(length, "wxyz"[fill]));
const write = fc.record(
  {
    http: fc.record({ contentType: fc.string() }, { requiredKeys: [] }),
    custom: fc.dictionary(fc.string({ maxLength: 3 }), fc.string(), { maxKeys: 2 }),
    storageClass: fc.constantFrom("Standard" as const, "InfrequentAccess" as const),
    tags: fc.constantFrom({}, { a: "1" }, { a: "2", "": "3" }, manyTags(10), manyTags(11)),
  },
  { requiredKeys: [] },
);
const choice = fc.constantFrom(
  null,
  null,
  { algorithm: "crc32", type: "full" } as const,
  { algorithm: "crc32", type: "composite" } as const,
  { algorithm: "sha256", type: "composite" } as const,
  { algorithm: "sha256", type: "full" } as const,
);
/** Tags are those of values that may be there. */
const pattern = fc.oneof(
  octets.map((value) => ({ type: "strong" as const, value: md5(value) })),
  octets.map((value) => ({ type: "weak" as const, value: md5(value) })),
  fc.constant({ type: "wildcard" as const }),
);
const patterns = fc.array(pattern, { minLength: 1, maxLength: 4 });
const ago = fc.constantFrom(-1000, -1, 0, 1, 500, 1000, 100_000);
/** Dates are told as distances from the clock. */
const conditions = fc.record(
  {
    etagMatches: patterns,
    etagDoesNotMatch: patterns,
    uploadedBefore: ago,
    uploadedAfter: ago,
    secondsGranularity: fc.boolean(),
  },
  { requiredKeys: [] },
);
const count = fc.constantFrom(0, 1, 5, 9, 10, 15, 25, 1000);
const range = fc.oneof(
  fc.record({ offset: count, length: count }, { requiredKeys: [] }),
  fc.record({ suffix: count }),
);
const listed = fc.record(
  {
    prefix: fc.constantFrom("", "a", "a/", "a//", "b", "zz"),
    delimiter: fc.constantFrom("", "/", "//", "b", "\0", "é"),
    startAfter: fc.constantFrom("", "a", "a/b", "aa", "b"),
    limit: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ["limit"] },
);
const marker = fc.record({
  keyMarker: fc.constantFrom("", "", "a", "a/", "a/b", "b"),
  upload: fc.option(fc.nat(3), { nil: null }),
});
const upload = fc.nat(3);
const number: fc.Arbitrary<number> = fc.constantFrom(1, 1, 2, 2, 3, 10_000, 0, 10_001);

export const operation = fc.oneof(
  fc.record({ op: fc.constant("head" as const), key }),
  fc.record({
    op: fc.constant("get" as const),
    key,
    conditions: fc.option(conditions, { nil: undefined }),
    range: fc.option(range, { nil: undefined }),
  }),
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("put" as const),
      key,
      octets,
      write,
      conditions: fc.option(conditions, { nil: undefined }),
      checksum: fc.constantFrom(null, null, "md5" as const, "sha256" as const, "wrong" as const),
      size: fc.constantFrom(null, null, 0, 10),
      inPieces: fc.boolean(),
    }),
  },
  fc.record({ op: fc.constant("delete" as const), keys: fc.array(key, { maxLength: 3 }) }),
  fc.record({
    op: fc.constant("deleteIf" as const),
    key,
    conditions,
    size: fc.constantFrom(null, null, null, 0, 10),
    /** From the clock, too. */
    uploadedAt: fc.constantFrom(null, null, null, 0, 999, 1000),
  }),
  fc.record({ op: fc.constant("setTags" as const), key, tags: fc.constantFrom({}, { b: "" }) }),
  fc.record({ op: fc.constant("transition" as const), key }),
  fc.record({ op: fc.constant("list" as const), options: listed }),
  fc.record({ op: fc.constant("listUploads" as const), options: listed, from: marker }),
  fc.record({ op: fc.constant("createUpload" as const), key, write, choice }),
  fc.record({ op: fc.constant("listParts" as const), upload, after: fc.nat(3) }),
  fc.record({ op: fc.constant("partsOf" as const), key, limit: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ op: fc.constant("getPart" as const), key, number: fc.constantFrom(0, 1, 2, 3) }),
  {
    weight: 4,
    arbitrary: fc.record({ op: fc.constant("uploadPart" as const), upload, number, octets }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("complete" as const),
      upload,
      numbers: fc.array(number, { maxLength: 3 }),
      isWrong: fc.constantFrom(false, false, false, true),
      evenParts: fc.boolean(),
      isRepeatable: fc.boolean(),
      conditions: fc.option(conditions, { nil: undefined }),
      size: fc.constantFrom(null, null, null, 10, 20),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("assemble" as const),
      key,
      parts: fc.array(fc.nat(3), { minLength: 1, maxLength: 4 }),
      choice,
    }),
  },
  fc.record({ op: fc.constant("abort" as const), upload, key: fc.option(key, { nil: null }) }),
  fc.record({ op: fc.constant("open" as const), key }),
  fc.record({ op: fc.constant("sweep" as const) }),
  fc.record({
    op: fc.constant("wait" as const),
    ms: fc.constantFrom(1, 999, 1000, 3_600_000, 3 * 86_400_000),
  }),
);
export type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

function manyTags(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`tag ${i}`, ""]));
}

function md5(octets: Buffer): string {
  return createHash("md5").update(octets).digest("hex");
}
