/** Sends a request and turns what the store will not do into the errors that scripts know. */
import type {
  LentOctets,
  Octets,
  RequestBody,
  StoreMethod,
  StoreReply,
  StoreRequest,
  StoreTransport,
} from "./protocol.ts";

/** The codes that a script never sees: they are results. Status and code must both match. */
const NO_SUCH_KEY = { status: 404, codes: [10_007] };
const CONDITION_FAILED = { status: 412, codes: [10_031, 10_032] };
const MAY_MISS = new Set<StoreMethod>(["head", "get", "put", "delete", "abortMultipartUpload"]);
const MAY_DECLINE = new Set<StoreMethod>(["get", "put"]);

export type Answer =
  | { kind: "done"; result: unknown; body?: Octets | LentOctets }
  | { kind: "missing" }
  | { kind: "condition failed"; result: unknown };

export async function call(
  transport: StoreTransport,
  request: StoreRequest,
  body: RequestBody | null = null,
): Promise<Answer> {
  const reply = await transport.send(request, body);
  if (reply.ok) {
    return { kind: "done", result: reply.result, ...(reply.body && { body: reply.body }) };
  }
  const { method } = request;
  if (is(reply, NO_SUCH_KEY) && MAY_MISS.has(method)) return { kind: "missing" };
  if (is(reply, CONDITION_FAILED) && MAY_DECLINE.has(method)) {
    return { kind: "condition failed", result: reply.result };
  }
  throw new Error(`${method}: ${reply.message} (${reply.code})`);
}

function is(
  reply: Extract<StoreReply, { ok: false }>,
  { status, codes }: { status: number; codes: readonly number[] },
): boolean {
  return reply.status === status && codes.includes(reply.code);
}
