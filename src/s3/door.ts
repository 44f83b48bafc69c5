/** The S3 API as one request listener: who asks, for what, whether they may, and the log around it. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { breakOff, leavesMuch, type RejectedReply, type RejectedRequest, requestIds } from "#http";
import type { Ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import { randomHex } from "#kit/random.ts";
import { admit } from "./admit.ts";
import type { Authenticated } from "./auth/index.ts";
import { S3Call } from "./call.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { errorDocument, toS3Fault } from "./errors.ts";
import { S3Fault } from "./fault.ts";
import type { S3Figures } from "./figures.ts";
import { sendLate, unlessLate } from "./late.ts";
import { beginning, observer, type Seen } from "./observe.ts";
import type { Operation, S3Answer, S3Parts } from "./operation.ts";
import { operations } from "./operations/index.ts";
import { RequestReader } from "./read-request.ts";
import { Routes } from "./routes.ts";
import { send, sendLast } from "./send.ts";

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
  const { log, store } = options;
  const reader = new RequestReader({ ...options, routes: new Routes(operations) });
  const observe = observer(options);
  const nextId = requestIds();
  const hostId = randomHex(HOST_ID_DIGITS);

  /** Waits for nothing that is at hand: most requests are answered in one go. */
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const seen = beginning(request, nextId());
    const refused = (error: unknown) => respond(response, refusal(error, seen, hostId, log), seen);
    let answer: S3Answer | Promise<S3Answer>;
    try {
      answer = perform(options, reader, response, seen);
    } catch (error) {
      refused(error);
      return;
    }
    if (!(answer instanceof Promise)) respond(response, answer, seen);
    else answer.then((made) => respond(response, made, seen), refused);
  };

  const respond = (response: ServerResponse, answer: S3Answer, seen: Seen): void => {
    const failed = (cause: unknown) => {
      log.error("answer failed", { request_id: seen.requestId, cause });
      breakOff(response);
    };
    const { request, requestId } = seen;
    const common = ["x-amz-request-id", requestId, "x-amz-id-2", hostId, "Server", "Selvedge"];
    const isPlain = request.headers.origin === undefined && answer.late === undefined;
    try {
      if (!isPlain || leavesUnread(seen)) {
        const sent = respondOtherwise(response, answer, seen, common);
        sent.then((last) => observe(seen, last)).catch(failed);
        return;
      }
      const sent = send(response, answer, common);
      if (sent instanceof Promise) sent.then(() => observe(seen, answer)).catch(failed);
      else observe(seen, answer);
    } catch (cause) {
      failed(cause);
    }
  };

  /** What takes its time, what is for another origin, and what is the last of its connection. */
  const respondOtherwise = async (
    response: ServerResponse,
    answer: S3Answer,
    seen: Seen,
    common: string[],
  ): Promise<S3Answer> => {
    const { request, requestId } = seen;
    if (request.headers.origin !== undefined && request.method !== "OPTIONS") {
      common.push(...(await corsHeaders(store, seen.bucket, request)));
    }
    const isLast = leavesUnread(seen);
    if (answer.late !== undefined) {
      if (isLast) common.push("Connection", "close");
      const late = answer.late.catch((error: unknown) => refusal(error, seen, hostId, log));
      return sendLate(response, late, common);
    }
    await (isLast ? sendLast(response, answer, common, requestId) : send(response, answer, common));
    return answer;
  };

  return {
    handle: serve,
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

function perform(
  options: S3DoorOptions,
  reader: RequestReader,
  response: ServerResponse,
  seen: Seen,
): S3Answer | Promise<S3Answer> {
  const { request } = seen;
  const read = reader.read(request, seen);
  const { target, operation, signed } = read;
  if (operation === null) {
    seen.operation = "Preflight";
    return preflight(options.store, target.bucket, request.headers);
  }
  const askForBody = () => {
    if (!seen.isAsked) response.writeContinue();
    seen.isAsked = true;
  };
  const { authentication } = options;
  const proceed = (authenticated: Authenticated) => {
    if (authentication.mayComeAgain(signed)) reader.keep(request, read);
    seen.actor = authenticated.caller?.accessKeyId ?? null;
    return carryOut(new S3Call({ request, target, authenticated, askForBody }), operation, options);
  };
  const authenticated = authentication.authenticate(signed);
  return authenticated instanceof Promise ? authenticated.then(proceed) : proceed(authenticated);
}

function carryOut(
  call: S3Call,
  operation: Operation,
  parts: S3Parts,
): S3Answer | Promise<S3Answer> {
  const work = () => {
    const answer = operation.handle(call, parts);
    return operation.takesLong === true ? unlessLate(answer) : answer;
  };
  const admitted = admit(call, operation, parts);
  return admitted instanceof Promise ? admitted.then(work) : work();
}

/** A body that is still to come is read past when it is small, unless its sender waits to be asked for it. */
function leavesUnread({ request, isAsked }: Seen): boolean {
  return !request.complete && (leavesMuch(request) || !isAsked);
}

/** The answer to what was thrown. Bugs and broken disks are logged here, and only here. */
function refusal(
  error: unknown,
  { request, requestId, path }: Seen,
  hostId: string,
  log: Log,
): S3Answer {
  const fault = toS3Fault(error) ?? new S3Fault("InternalError");
  if (fault.status >= 500 && fault.status !== 501) {
    log.error("request failed", { request_id: requestId, cause: error });
  }
  const headers = ["Content-Type", "application/xml", ...fault.headers];
  if (request.method === "HEAD") return { status: fault.status, headers: [...fault.headers] };
  const body = errorDocument(fault, { resource: path, requestId, hostId });
  return { status: fault.status, headers, body };
}

function rejectionOf({ status, isCutShort = false }: RejectedRequest): S3Fault {
  if (isCutShort) return new S3Fault("IncompleteBody");
  if (status === 408) return new S3Fault("RequestTimeout");
  const message = status === 431 ? "Your request header section is too large." : undefined;
  return new S3Fault("BadRequest", message, { status });
}
