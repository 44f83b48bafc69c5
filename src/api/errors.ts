/** Answers that are not a success, in the words that clients of the API know (`wordings.ts`). */
import { AccountFault } from "#accounts";
import { CertificateFault } from "#certificates";
import { DatabaseFault } from "#db";
import { NameFault, RecordFault } from "#dns";
import { BodyCutShort, BodyTooLarge, type RejectedRequest } from "#http";
import { JsonFault } from "#kit/json-input.ts";
import { ObjectFault } from "#objects";
import { ScriptFault } from "#scripts";
import { ZoneFault } from "#zones";
import type { ApiMessage } from "./envelope.ts";
import {
  accountWordings,
  certificateWordings,
  badHeader,
  INVALID_FIELD,
  jsonWordings,
  NOT_OFFERED,
  objectWordings,
  recordWordings,
  scriptWordings,
  THROTTLE,
  type Wording,
  zoneWordings,
} from "./wordings.ts";

/** An answer that is not a success. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly errors: readonly ApiMessage[];
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: number,
    errors: readonly ApiMessage[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(errors[0]?.message ?? "");
    this.status = status;
    this.errors = errors;
    this.headers = headers;
  }
}

/** The answer to a fault that a client can understand; null for a bug or a broken disk. */
export function toApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (error instanceof AccountFault) return worded(accountWordings[error.kind], error);
  if (error instanceof ZoneFault) return worded(zoneWordings[error.kind], error);
  if (error instanceof RecordFault) return recordError(error);
  if (error instanceof ObjectFault) return worded(objectWordings[error.kind], error);
  if (error instanceof ScriptFault) return worded(scriptWordings[error.kind], error);
  if (error instanceof CertificateFault) return worded(certificateWordings[error.kind], error);
  if (error instanceof NameFault) return worded(zoneWordings["bad-name"], error);
  if (error instanceof JsonFault) return worded(jsonWordings[error.kind], error);
  if (error instanceof BodyTooLarge)
    return new ApiError(413, [{ code: 6010, message: error.message }]);
  if (error instanceof BodyCutShort)
    return new ApiError(400, [{ code: 6013, message: error.message }]);
  if (error instanceof DatabaseFault && error.kind !== "unique" && error.kind !== "guard") {
    const message = "The database cannot be reached right now; try again shortly";
    return new ApiError(503, [{ code: 10_503, message }], { "Retry-After": "1" });
  }
  return null;
}

function worded(
  { status, code, message, chain }: Wording,
  error: { message: string; pointer?: string | null; retryAfterSeconds?: number | null },
): ApiError {
  const entry: ApiMessage = {
    code,
    message: message ?? error.message,
    ...(chain !== undefined && { error_chain: [chain] }),
    ...(typeof error.pointer === "string" && { source: { pointer: error.pointer } }),
  };
  const wait = error.retryAfterSeconds ?? null;
  return new ApiError(status, [entry], wait === null ? {} : { "Retry-After": String(wait) });
}

/** One entry for each field that is missing. */
function recordError(error: RecordFault): ApiError {
  const wording: Wording = recordWordings[error.kind];
  if (error.kind !== "missing-field" && error.kind !== "missing-data-field") {
    const pointer = error.field === null ? null : `/${error.field}`;
    return worded(wording, { message: error.message, pointer });
  }
  const what =
    error.kind === "missing-field" ? "is a required field." : "is a required data field.";
  const fields = error.fields.length === 0 ? ["content"] : error.fields;
  return new ApiError(
    wording.status,
    fields.map((field) => ({ code: wording.code, message: `${field} ${what}` })),
  );
}

/** Names of buckets are one for the whole installation. */
export function nameTaken(): ApiError {
  const message = "The bucket name is taken by another account.";
  return new ApiError(400, [{ code: 10_073, message }]);
}

export function noCors(): ApiError {
  const message = "The CORS configuration does not exist.";
  return new ApiError(404, [{ code: 10_059, message }]);
}

/** By this code wrangler knows that there is nothing to show. */
export function noSippy(): ApiError {
  const message = "The bucket has no Sippy configuration.";
  return new ApiError(404, [{ code: 10_007, message }]);
}

/** For what only the original has. The message says what to use instead, where there is something. */
export function notOffered(message: string): ApiError {
  return new ApiError(400, [{ code: NOT_OFFERED, message }]);
}

export function noSuchKey(): ApiError {
  const message = "The specified key does not exist.";
  return new ApiError(404, [{ code: 10_007, message }]);
}

export function recordInTheWay(hostname: string): ApiError {
  const message = `${hostname} has DNS records that lead elsewhere; delete them, or, for a script, set override_existing_dns_record`;
  return new ApiError(400, [{ code: 100_117, message }]);
}

export function domainTaken({
  hostname,
  service,
}: {
  hostname: string;
  service: string;
}): ApiError {
  const message = `${hostname} belongs to the script ${service}; set override_existing_origin to take it`;
  return new ApiError(400, [{ code: 100_116, message }]);
}

export function rateLimited(retryAfterSeconds: number): ApiError {
  return new ApiError(429, [{ code: 971, message: THROTTLE }], {
    "Retry-After": String(retryAfterSeconds),
  });
}

export function noRoute(): ApiError {
  return new ApiError(404, [{ code: 7000, message: "No route for that URI" }]);
}

export function methodNotAvailable(method: string, allowed: readonly string[]): ApiError {
  const message = `Method ${method} not available for that URI.`;
  return new ApiError(405, [{ code: 7001, message }], { Allow: allowed.join(", ") });
}

export function malformedId(path: string): ApiError {
  const message = `Could not route to ${path}, perhaps your object identifier is invalid?`;
  return new ApiError(404, [{ code: 7003, message }]);
}

export function wrongContentType(): ApiError {
  const message =
    "Invalid Content-Type header, valid values are application/json,multipart/form-data";
  return worded(badHeader(6105, message), { message });
}

/** One entry for each field that is wrong. */
export function invalidFields(
  fields: readonly { readonly pointer: string; readonly message: string }[],
): ApiError {
  return new ApiError(
    400,
    fields.map(({ pointer, message }) => ({ code: INVALID_FIELD, message, source: { pointer } })),
  );
}

export function internalError(requestId: string): ApiError {
  const message = `An internal error occurred. The server's log tells more under request ${requestId}.`;
  return new ApiError(500, [{ code: 10_500, message }]);
}

/** For requests that Node's parser turned away before there was a request. */
export function rejectedMessage({ status }: RejectedRequest): ApiMessage {
  if (status === 417) return { code: 6014, message: "The request's expectation cannot be met" };
  if (status === 431) return { code: 6011, message: "The request's headers are too large" };
  if (status === 408) return { code: 6012, message: "The request did not arrive in time" };
  return { code: 6003, message: "The request is not valid HTTP" };
}
