/** The S3 API as one request listener: who asks, for what, whether they may, and the log around it. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { breakOff, leavesMuch, type RejectedReply, type RejectedRequest, requestIds } from "#http";
import type { Ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import { randomHex } from "#kit/random.ts";
import { admit } from "./admit.ts";
import { S3Call } from "./call.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { errorDocument, toS3Fault } from "./errors.ts";
import { S3Fault } from "./fault.ts";
import type { S3Figures } from "./figures.ts";
import { hostsOf } from "./hosts.ts";
import { sendLate, unlessLate } from "./late.ts";
import { observer, type Seen } from "./observe.ts";
import type { S3Answer, S3Parts } from "./operation.ts";
import { operations } from "./operations/index.ts";
import { Routes } from "./routes.ts";
import { send, sendLast } from "./send.ts";
import { signedHeaders } from "./signed-headers.ts";
import { readTarget } from "./target.ts";

export interface S3DoorOptions extends S3Parts {
  /** Under which buckets have host names of their own. */
  readonly domains: readonly string[];
  /** Whose `X-Forwarded-Host` is believed. */
  readonly trustedProxies: Ranges | null;
  readonly log: Log;
  readonly figures: S3Figures;
}

/** What a listener needs to serve S3. */
export interface S3Door {
  readonly handle: RequestListener;
  readonly answerRejected: (rejected: RejectedRequest) => RejectedReply;
}

/** Shows which node answered. */
const HOST_ID_DIGITS = 16;

export function s3Door(options: S3DoorOptions): S3Door {
  const { log } = options;
  const routes = new Routes(operations);
  const observe = observer(options);
  const nextId = requestIds();
  const hostId = randomHex(HOST_ID_DIGITS);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const began = performance.now();
    const requestId = nextId();
    const isAsked = request.headers.expect === undefined;
    const seen: Seen = { request, path: "", bucket: "", operation: "none", actor: null, isAsked };
    let common: readonly string[] = [
      "x-amz-request-id",
      requestId,
      "x-amz-id-2",
      hostId,
      "Server",
      "Selvedge",
    ];
    const refused = (error: unknown) =>
      refusal(error, { resource: seen.path, requestId, hostId }, request, log);
    let answer: S3Answer;
    try {
      answer = await perform(options, routes, response, seen);
    } catch (error) {
      answer = refused(error);
    }
    try {
      if (request.headers.origin !== undefined && request.method !== "OPTIONS") {
        common = [...common, ...(await corsHeaders(options.store, seen.bucket, request))];
      }
      const isLast = leavesUnread(seen);
      if (answer.late !== undefined) {
        const headers = isLast ? [...common, "Connection", "close"] : common;
        answer = await sendLate(response, answer.late.catch(refused), headers);
      } else if (isLast) await sendLast(response, answer, common, requestId);
      else await send(response, answer, common);
      observe(seen, answer, requestId, performance.now() - began);
    } catch (cause) {
      log.error("answer failed", { request_id: requestId, cause });
      breakOff(response);
    }
  };
  return {
    handle: (request, response) => void serve(request, response),
    answerRejected(rejected) {
      const requestId = nextId();
      log.info("request rejected", { request_id: requestId, ...rejected });
      const fault = rejectionOf(rejected);
      const body = errorDocument(fault, { resource: "", requestId, hostId });
      const headers = { "x-amz-request-id": requestId, "x-amz-id-2": hostId, Server: "Selvedge" };
      return { requestId, status: fault.status, type: "application/xml", body, headers };
    },
  };
}

async function perform(
  options: S3DoorOptions,
  routes: Routes,
  response: ServerResponse,
  seen: Seen,
): Promise<S3Answer> {
  const { request } = seen;
  const { headers, method = "" } = request;
  const { domains, trustedProxies } = options;
  const hosts = hostsOf(request, trustedProxies, domains);
  const target = readTarget(request.url ?? "/", hosts[0]!, domains);
  seen.path = target.path;
  seen.bucket = target.bucket;
  if (method === "OPTIONS") {
    seen.operation = "Preflight";
    return preflight(options.store, target.bucket, headers);
  }
  const operation = routes.find(method, target, headers["x-amz-copy-source"] !== undefined);
  seen.operation = operation.name;
  const authenticated = await options.authentication.authenticate({
    method,
    rawPath: target.path,
    query: target.query,
    headers: signedHeaders(request),
    hosts,
  });
  seen.actor = authenticated.caller?.accessKeyId ?? null;
  const askForBody = () => {
    if (!seen.isAsked) response.writeContinue();
    seen.isAsked = true;
  };
  const call = new S3Call({ request, target, authenticated, askForBody });
  await admit(call, operation, options);
  const work = operation.handle(call, options);
  return operation.takesLong === true ? unlessLate(work) : work;
}

/** A body that is still to come is read past when it is small, unless its sender waits to be asked for it. */
function leavesUnread({ request, isAsked }: Seen): boolean {
  return !request.complete && (leavesMuch(request) || !isAsked);
}

/** The answer to what was thrown. Bugs and broken disks are logged here, and only here. */
function refusal(
  error: unknown,
  place: { resource: string; requestId: string; hostId: string },
  { method }: IncomingMessage,
  log: Log,
): S3Answer {
  const fault = toS3Fault(error) ?? new S3Fault("InternalError");
  if (fault.status >= 500 && fault.status !== 501) {
    log.error("request failed", { request_id: place.requestId, cause: error });
  }
  const headers = ["Content-Type", "application/xml", ...fault.headers];
  if (method === "HEAD") return { status: fault.status, headers: [...fault.headers] };
  return { status: fault.status, headers, body: errorDocument(fault, place) };
}

function rejectionOf({ status, isCutShort = false }: RejectedRequest): S3Fault {
  if (isCutShort) return new S3Fault("IncompleteBody");
  if (status === 408) return new S3Fault("RequestTimeout");
  const message = status === 431 ? "Your request header section is too large." : undefined;
  return new S3Fault("BadRequest", message, { status });
}
