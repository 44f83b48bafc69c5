/** The store's side of the binding: takes a request apart, calls the core, words the answer. */
import { parseRangeHeader } from "#kit/range-header.ts";
import {
  type Body,
  type Bucket,
  type CompleteOptions,
  type CustomerKey,
  leave,
  ObjectFault,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
  type RangeRequest,
  type StorageClass,
  type WriteOptions,
} from "#objects";
import { CONDITION_FAILED, NO_SUCH_KEY, storeErrors } from "./codes.ts";
import type { LentBodies, Loan } from "./lent-bodies.ts";
import type {
  Octets,
  StoreMethod,
  StoreReply,
  StoreRequest,
  WireList,
  WireObject,
  WireWrite,
} from "./protocol.ts";

/** A reply whose octets are as the core gave them: a stream must be read or returned. */
export type ServedReply =
  | {
      readonly ok: true;
      readonly result: unknown;
      readonly body?: Octets;
      /** The octets are to be sent when they are wanted. */
      readonly loan?: Loan;
    }
  | Extract<StoreReply, { ok: false }>;

type RequestOf<M extends StoreMethod> = Extract<StoreRequest, { method: M }>;

/** Who lends octets, and to whom. */
export interface Lender {
  readonly lent: LentBodies;
  readonly owner: string | null;
  /** Whether the answer can wait until its octets are wanted. */
  readonly canWait: boolean;
}

/** Answers for one bucket. What the store will not do is a reply; only a fault of ours is thrown. */
export async function serve(
  store: ObjectStore,
  find: () => Promise<Bucket>,
  request: StoreRequest,
  body: Body | Uint8Array,
  /** Without one nothing is lent. */
  lender: Lender | null = null,
): Promise<ServedReply> {
  try {
    const method = methods[request.method] as Method<StoreMethod>;
    return await method(store, await find(), request, body, lender);
  } catch (error) {
    await leave(body); // The core may not have come to it.
    if (error instanceof ObjectFault) return refusal(error);
    throw error;
  }
}

export function refusal({ kind, message }: ObjectFault): Extract<ServedReply, { ok: false }> {
  const { status, code, message: known } = storeErrors[kind];
  return { ok: false, status, code, message: known ?? message };
}

type Method<M extends StoreMethod> = (
  store: ObjectStore,
  bucket: Bucket,
  request: RequestOf<M>,
  body: Body | Uint8Array,
  lender: Lender | null,
) => Promise<ServedReply>;

/** An upload that was completed is no more, however often it is asked. */
const COMPLETE: CompleteOptions = { evenParts: true, isRepeatable: false };

const methods: { readonly [M in StoreMethod]: Method<M> } = {
  head: async (store, bucket, { key }) => {
    const object = await store.head(bucket, key);
    return object === null ? NO_SUCH_KEY : done(showWhole(object));
  },
  get,
  begin: async (_store, bucket, request, _body, lender) => {
    lender?.lent.begin(request.lent, bucket);
    return done(null);
  },
  put,
  delete: async (store, bucket, { keys }) => {
    await store.delete(bucket, keys);
    return done(null);
  },
  list,
  createMultipartUpload: async (store, bucket, request) => {
    const { uploadId } = await store.createUpload(bucket, request.key, writeOptions(request));
    return done({ uploadId });
  },
  uploadPart: async (store, bucket, { key, uploadId, partNumber, ssecKey }, body) => {
    const options = encryptionOf(ssecKey);
    const { etag } = await store.uploadPart(bucket, key, uploadId, partNumber, body, options);
    return done({ etag });
  },
  completeMultipartUpload: async (store, bucket, { key, uploadId, parts }) => {
    const object = await store.completeUpload(bucket, key, uploadId, parts, COMPLETE);
    return object === null ? CONDITION_FAILED : done(show(object));
  },
  abortMultipartUpload: async (store, bucket, { key, uploadId }) => {
    await store.abortUpload(bucket, key, uploadId);
    return done(null);
  },
};

async function get(
  store: ObjectStore,
  bucket: Bucket,
  request: RequestOf<"get">,
  _body: Body | Uint8Array,
  lender: Lender | null,
): Promise<ServedReply> {
  const { key, onlyIf, rangeHeader, ssecKey } = request;
  const options = { ...(onlyIf && { conditions: onlyIf }), ...encryptionOf(ssecKey) };
  const open = (range?: RangeRequest) =>
    store.get(bucket, key, { ...options, ...(range && { range }) });
  const found =
    rangeHeader === undefined
      ? await open(request.range)
      : // A header that asks for what is not there is left aside, as the original's simulator does.
        await open(parseRangeHeader(rangeHeader)).catch(async (error: unknown) => {
          if (error instanceof ObjectFault && error.kind === "bad-range") return open();
          throw error;
        });
  if (found.kind === "missing") return NO_SUCH_KEY;
  if (found.kind === "condition-failed") {
    return { ...CONDITION_FAILED, result: showWhole(found.object) };
  }
  const { object, range, body } = found;
  const result = { ...show(object), range };
  const mayLend = lender?.canWait === true && request.lends === true;
  const loan = mayLend ? lender.lent.lend(bucket, found, lender.owner) : null;
  return { ok: true, result, body, ...(loan && { loan }) };
}

async function put(
  store: ObjectStore,
  bucket: Bucket,
  request: RequestOf<"put">,
  body: Body | Uint8Array,
): Promise<ServedReply> {
  const { key, onlyIf, checksum } = request;
  const options: PutOptions = {
    ...writeOptions(request),
    ...(onlyIf && { conditions: onlyIf }),
    ...(checksum && { checksums: [{ algorithm: checksum.algorithm, value: checksum.hex }] }),
  };
  const object = await store.put(bucket, key, body, options);
  return object === null ? CONDITION_FAILED : done(show(object));
}

async function list(
  store: ObjectStore,
  bucket: Bucket,
  { include, ...request }: RequestOf<"list">,
): Promise<ServedReply> {
  const options = { ...request, metadata: include.length > 0 };
  const { objects, prefixes, cursor } = await store.list(bucket, options);
  const [withHttp, withCustom] = [
    include.includes("httpMetadata"),
    include.includes("customMetadata"),
  ];
  const result: WireList = {
    objects: objects.map((object) => {
      const { key, version, size, etag, uploadedAt: uploaded, storageClass } = object;
      const checksums = checksumsOf(object);
      const shown: WireObject = { key, version, size, etag, uploaded, checksums, storageClass };
      if (object.encryption !== null) shown.ssecKeyMd5 = object.encryption.keyMd5;
      if (withHttp) shown.http = object.http;
      if (withCustom) shown.custom = object.custom;
      return shown;
    }),
    prefixes: [...prefixes],
    truncated: cursor !== null,
    ...(cursor !== null && { cursor }),
  };
  return done(result);
}

function done(result: unknown): ServedReply {
  return { ok: true, result };
}

function show(object: ObjectInfo): WireObject {
  const { key, version, size, etag, uploadedAt: uploaded, http, custom, storageClass } = object;
  const checksums = checksumsOf(object);
  return {
    key,
    version,
    size,
    etag,
    uploaded,
    http,
    custom,
    checksums,
    storageClass,
    ...(object.encryption && { ssecKeyMd5: object.encryption.keyMd5 }),
  };
}

/** Scripts know of hashes of the whole object; others come and go through S3. */
function checksumsOf({ checksums, checksumType }: ObjectInfo): WireObject["checksums"] {
  if (checksumType === null) return checksums; // No more than the MD5.
  if (checksumType === "composite") return {};
  const { crc32: _, crc32c: _c, crc64nvme: _n, ...hashes } = checksums;
  return hashes;
}

function showWhole(object: ObjectInfo): WireObject {
  return { ...show(object), range: { offset: 0, length: object.size } };
}

function writeOptions({ http, custom, storageClass, ssecKey }: WireWrite): WriteOptions {
  return {
    ...encryptionOf(ssecKey),
    ...(http && { http }),
    ...(custom && { custom }),
    // The core says what it thinks of another.
    ...(storageClass !== undefined && { storageClass: storageClass as StorageClass }),
  };
}

function encryptionOf(ssecKey: string | undefined): { encryption?: CustomerKey } {
  return ssecKey === undefined ? {} : { encryption: { key: Buffer.from(ssecKey, "hex") } };
}
