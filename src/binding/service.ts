/** The store's side of the binding: takes a request apart, calls the core, words the answer. */
import {
  type Body,
  type Bucket,
  type Conditions,
  ObjectFault,
  type ObjectInfo,
  type ObjectStore,
  type PutOptions,
  type RangeRequest,
  type StorageClass,
  type WriteOptions,
} from "#objects";
import { CONDITION_FAILED, NO_SUCH_KEY, storeErrors } from "./codes.ts";
import type {
  RequestBody,
  StoreReply,
  StoreRequest,
  WireList,
  WireObject,
  WireWrite,
} from "./protocol.ts";
import { parseRangeHeader } from "./range-header.ts";

type RequestOf<M extends StoreRequest["method"]> = Extract<StoreRequest, { method: M }>;

/** Answers for one bucket. What the store will not do is a reply; only a fault of ours is thrown. */
export async function serve(
  store: ObjectStore,
  bucketName: string,
  request: StoreRequest,
  body: RequestBody | null,
): Promise<StoreReply> {
  try {
    return await answer(store, await store.bucket(bucketName), request, body);
  } catch (error) {
    if (!(error instanceof ObjectFault)) throw error;
    const { status, code, message } = storeErrors[error.kind];
    return { ok: false, status, code, message: message ?? error.message };
  }
}

async function answer(
  store: ObjectStore,
  bucket: Bucket,
  request: StoreRequest,
  body: RequestBody | null,
): Promise<StoreReply> {
  switch (request.method) {
    case "head": {
      const object = await store.head(bucket, request.key);
      if (object === null) return NO_SUCH_KEY;
      return done({ ...show(object), range: { offset: 0, length: object.size } });
    }
    case "get":
      return get(store, bucket, request);
    case "put":
      return put(store, bucket, request, bodyOf(body));
    case "delete":
      await store.delete(bucket, request.keys);
      return done(null);
    case "list":
      return list(store, bucket, request);
    case "createMultipartUpload": {
      const { uploadId } = await store.createUpload(bucket, request.key, writeOptions(request));
      return done({ uploadId });
    }
    case "uploadPart": {
      const { key, uploadId, partNumber } = request;
      const part = await store.uploadPart(bucket, key, uploadId, partNumber, bodyOf(body));
      return done({ etag: part.etag });
    }
    case "completeMultipartUpload": {
      const { key, uploadId, parts } = request;
      const options = { evenParts: true };
      return done(show(await store.completeUpload(bucket, key, uploadId, parts, options)));
    }
    case "abortMultipartUpload":
      await store.abortUpload(bucket, request.key, request.uploadId);
      return done(null);
  }
}

async function get(
  store: ObjectStore,
  bucket: Bucket,
  request: RequestOf<"get">,
): Promise<StoreReply> {
  const { key, onlyIf, rangeHeader } = request;
  let range = request.range as RangeRequest | undefined;
  if (rangeHeader !== undefined) {
    // What the header means depends on the size; a write in between only makes it clamp.
    const object = await store.head(bucket, key);
    if (object !== null) range = parseRangeHeader(rangeHeader, object.size);
  }
  const found = await store.get(bucket, key, {
    ...(onlyIf && { conditions: onlyIf as Conditions }),
    ...(range && { range }),
  });
  if (found.kind === "missing") return NO_SUCH_KEY;
  if (found.kind === "condition-failed") {
    const whole = { offset: 0, length: found.object.size };
    return { ...CONDITION_FAILED, result: { ...show(found.object), range: whole } };
  }
  const { object, body } = found;
  return {
    ...done({ ...show(object), range: found.range }),
    body: body instanceof Uint8Array ? body : streamOf(body),
  };
}

async function put(
  store: ObjectStore,
  bucket: Bucket,
  request: RequestOf<"put">,
  body: Body | Uint8Array,
): Promise<StoreReply> {
  const { key, onlyIf, checksum } = request;
  const options: PutOptions = {
    ...writeOptions(request),
    ...(onlyIf && { conditions: onlyIf as Conditions }),
    ...(checksum && { checksum: { algorithm: checksum.algorithm, value: checksum.hex } }),
  };
  const object = await store.put(bucket, key, body, options);
  return object === null ? CONDITION_FAILED : done(show(object));
}

async function list(
  store: ObjectStore,
  bucket: Bucket,
  { include, method: _, ...options }: RequestOf<"list">,
): Promise<StoreReply> {
  const { objects, prefixes, cursor } = await store.list(bucket, options);
  const [withHttp, withCustom] = [
    include.includes("httpMetadata"),
    include.includes("customMetadata"),
  ];
  const result: WireList = {
    objects: objects.map((object) => {
      const { http, custom, ...shown } = show(object);
      return { ...shown, ...(withHttp && { http: http! }), ...(withCustom && { custom: custom! }) };
    }),
    prefixes: [...prefixes],
    truncated: cursor !== null,
    ...(cursor !== null && { cursor }),
  };
  return done(result);
}

function done(result: unknown): Extract<StoreReply, { ok: true }> {
  return { ok: true, result };
}

function show(object: ObjectInfo): WireObject {
  const { key, version, size, etag, uploadedAt, http, custom, checksums, storageClass } = object;
  return { key, version, size, etag, uploaded: uploadedAt, http, custom, checksums, storageClass };
}

function writeOptions({ http, custom, storageClass }: WireWrite): WriteOptions {
  return {
    ...(http && { http }),
    ...(custom && { custom }),
    // The core says what it thinks of another.
    ...(storageClass !== undefined && { storageClass: storageClass as StorageClass }),
  };
}

function bodyOf(body: RequestBody | null): Body | Uint8Array {
  return body ?? new Uint8Array(0);
}

/** A byte stream that reads as its reader does, and ends the body when its reader leaves. */
function streamOf(body: Body): ReadableStream<Uint8Array> {
  const octets = body[Symbol.asyncIterator]();
  return new ReadableStream({
    type: "bytes",
    async pull(controller) {
      for (;;) {
        const { done: isOver, value } = await octets.next();
        if (isOver === true) {
          controller.close();
          controller.byobRequest?.respond(0);
        } else if (value.length === 0) continue; // A pull must bring something, or the reader waits for good.
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
        return;
      }
    },
    async cancel() {
      await octets.return?.();
    },
  }) as ReadableStream<Uint8Array>;
}
