/**
 * Buckets under hostnames of their own: anyone gets their objects, by plain GET and HEAD. Behind the edge, which
 * sends on what is for them; it knows the hostnames and speaks TLS.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { leavesMuch } from "#http";
import type { Log } from "#kit/log.ts";
import type { Bucket, BucketDomain } from "#objects";
import { Authentication } from "../auth/index.ts";
import { S3Call } from "../call.ts";
import { corsHeaders, preflight } from "../cors.ts";
import { toS3Fault } from "../errors.ts";
import { S3Fault } from "../fault.ts";
import type { S3Answer, S3Parts } from "../operation.ts";
import { getObject } from "../operations/get-object.ts";
import { headObject } from "../operations/head-object.ts";
import { send } from "../send.ts";
import { decoded } from "../target.ts";
import { errorPage } from "./error-page.ts";

export interface PublicBucketOptions extends Pick<S3Parts, "store" | "now" | "lend"> {
  /** The domain of a hostname, if a bucket answers there. */
  readonly domainAt: (hostname: string) => BucketDomain | null;
  readonly log: Log;
}

const ALLOWED = "GET, HEAD, OPTIONS";

export function publicBucketDoor(options: PublicBucketOptions) {
  const { store, now, lend, log } = options;
  // There are no keys here.
  const authentication = new Authentication({ find: async () => null, onUse: () => {}, now });
  const parts: S3Parts = { store, now, authentication, ...(lend && { lend }) };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let bucketName = "";
    let answer: S3Answer;
    try {
      const bucket = await bucketOf(request, options);
      bucketName = bucket.name;
      answer = await perform(request, bucket, parts);
    } catch (error) {
      const fault = toS3Fault(error) ?? new S3Fault("InternalError");
      if (fault.status >= 500) log.error("public request failed", { cause: error });
      answer = refusal(request, fault);
    }
    const cors = request.method === "OPTIONS" ? [] : await corsHeaders(store, bucketName, request);
    // A body that nobody wants is not waited for.
    const last = leavesMuch(request) ? ["Connection", "close"] : [];
    await send(response, answer, [...cors, ...last]);
  };
}

async function bucketOf(
  { headers }: IncomingMessage,
  { domainAt, store }: PublicBucketOptions,
): Promise<Bucket> {
  const hostname = (headers.host ?? "").replace(/:\d*$/, "").toLowerCase();
  const domain = domainAt(hostname);
  if (domain === null) throw new S3Fault("NoSuchBucket");
  return store.bucket(domain.bucket);
}

async function perform(
  request: IncomingMessage,
  bucket: Bucket,
  parts: S3Parts,
): Promise<S3Answer> {
  const { method, headers } = request;
  if (method === "OPTIONS") return preflight(parts.store, bucket.name, headers);
  if (method !== "GET" && method !== "HEAD") {
    throw new S3Fault("MethodNotAllowed", undefined, { headers: ["Allow", ALLOWED] });
  }
  const call = callFor(request, bucket);
  if (call.key === "") throw new S3Fault("NoSuchKey");
  const { handle } = method === "GET" ? getObject : headObject;
  const answer = await handle(call, parts);
  return { ...answer, headers: plainHeaders(answer.headers ?? []) };
}

/** As S3 sees it, but that queries say nothing: links carry all sorts of them. */
function callFor(request: IncomingMessage, bucket: Bucket): S3Call {
  const path = (request.url ?? "/").split("?", 1)[0]!;
  const target = { path, query: [], bucket: bucket.name, key: decoded(path.slice(1)) };
  const payload = { sha256: "UNSIGNED-PAYLOAD", headers: {}, hoisted: [], signing: null };
  const authenticated = { caller: null, payload };
  const call = new S3Call({ request, target, authenticated, askForBody: () => {} });
  call.bucket = bucket;
  return call;
}

/** What only clients of S3 want to know is its owner's business. */
function plainHeaders(headers: readonly string[]): string[] {
  const plain: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!headers[i]!.startsWith("x-amz-")) plain.push(headers[i]!, headers[i + 1]!);
  }
  return plain;
}

function refusal(
  { method, headers }: IncomingMessage,
  { status, headers: also }: S3Fault,
): S3Answer {
  const { type, body } = errorPage(status, MESSAGES[status], headers.accept);
  const told = ["Cache-Control", "no-store", ...also];
  if (method === "HEAD") return { status, headers: told };
  return { status, headers: ["Content-Type", type, ...told], body };
}

const MESSAGES: Readonly<Record<number, string>> = {
  403: "This request is not allowed here.",
  404: "There is nothing here.",
  405: "Objects can be read here, and nothing else.",
  412: "What the request takes for granted is not so.",
  416: "The object has no such range.",
  503: "This cannot be read right now. Try again shortly.",
};
