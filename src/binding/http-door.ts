/**
 * The store over HTTP: `POST /store/v1/{bucket}` takes a request of the binding as one body and answers
 * with its reply, octets streaming both ways. `frames.ts` has the form.
 */
import type { IncomingMessage } from "node:http";
import type { Reply } from "#http";
import type { Body, ObjectStore } from "#objects";
import type { Authorize, ObjectPermission } from "./access.ts";
import { badFrame, doorRefusal, NOT_PERMITTED } from "./door-errors.ts";
import {
  FEW_OCTETS,
  headerJson,
  IN_CHUNKS,
  JSON_BYTES,
  JSON_TEXT,
  jsonBytesOf,
  OCTETS,
} from "./frames.ts";
import type { LentBodies, Loan } from "./lent-bodies.ts";
import type { StoreMethod, StoreRequest, WireObject } from "./protocol.ts";
import { RequestFrames, type WholeRequest } from "./request-frames.ts";
import { readRequest } from "./request-shape.ts";
import { serve, type ServedReply } from "./service.ts";

export interface StoreDoorOptions<R = IncomingMessage> {
  readonly store: ObjectStore;
  readonly authorize: Authorize<R>;
  /** Those who call are of this version, and know a few octets in the head of a reply. */
  readonly areOwn?: boolean;
  /** Where octets are kept for those who may not want to read them. */
  readonly lent?: LentBodies;
}

/** What it needs of a call. */
export interface StoreCall<R = IncomingMessage> {
  readonly request: R;
  readonly params: Readonly<Record<string, string>>;
  /** Who asks, once that is known; for the log. */
  actor: string | null;
}

/** Methods that change nothing. */
const READS: ReadonlySet<StoreMethod> = new Set(["head", "get", "begin", "list"]);
/** Methods whose octets follow the JSON. */
const SENDS_OCTETS: ReadonlySet<StoreMethod> = new Set(["put", "uploadPart"]);

/** What a refused client still sends is passed over up to here; beyond, its connection is closed. */
const PASSED_OVER_BYTES = 64 * 1024;

/** With the JSON, well below what clients take of headers. */
const MAX_FEW_BYTES = 4 * 1024;

const NOTHING = new Uint8Array(0);

/** Over the API's listener. */
export function storeDoor(options: StoreDoorOptions) {
  const answer = storeCalls(options);
  return async (call: StoreCall): Promise<Reply> => {
    const { headers, ...framed } = await answer(call);
    const type = "application/octet-stream";
    return { ...framed, type, headers: { ...headers, "Cache-Control": "no-store" } };
  };
}

/** The answer to a call, whatever it comes and goes with. */
export type Framed = Required<Pick<Reply, "status" | "headers" | "body">> &
  Pick<Reply, "closes"> & {
    /** The body is to be sent when it is wanted. */
    readonly loan?: Loan;
  };

export function storeCalls<R extends IncomingMessage | WholeRequest>(options: StoreDoorOptions<R>) {
  return async (call: StoreCall<R>): Promise<Framed> => {
    const { request } = call;
    const frames = new RequestFrames(request);
    const reply = framed(await answer(options, call, frames), options.areOwn === true);
    await frames.leave();
    if (frames.isOver) return reply;
    const isSmall = Number(request.headers["content-length"] ?? Infinity) <= PASSED_OVER_BYTES;
    return isSmall ? reply : { ...reply, closes: true };
  };
}

async function answer<R extends IncomingMessage | WholeRequest>(
  { store, authorize, lent }: StoreDoorOptions<R>,
  call: StoreCall<R>,
  frames: RequestFrames,
): Promise<ServedReply> {
  try {
    const access = await authorize(call.request, call.params["bucket"]!);
    call.actor = access.actor;
    const request = await readFrame(call.request, frames);
    if ("ok" in request) return request;
    const { method } = request;
    const permission: ObjectPermission = READS.has(method) ? "objects.read" : "objects.edit";
    if (!(await access.may(permission))) return NOT_PERMITTED;
    const octets = SENDS_OCTETS.has(method) ? octetsOf(call.request, frames) : NOTHING;
    const { bucket, scriptId: owner = null } = access;
    // Connections that Node's server has cannot wait.
    const lender = lent === undefined ? null : { lent, owner, canWait: "octets" in call.request };
    return await serve(store, async () => bucket, request, octets, lender);
  } catch (error) {
    const refusal = doorRefusal(error);
    if (refusal !== null) return refusal;
    throw error;
  }
}

/** The request, or why it is none. */
async function readFrame(
  { headers }: Pick<IncomingMessage, "headers">,
  frames: RequestFrames,
): Promise<StoreRequest | ServedReply> {
  const text = headers[JSON_TEXT] ?? (await frontOf(headers, frames));
  if (typeof text !== "string") return text as ServedReply;
  const request = readRequest(parsed(text));
  if (typeof request === "string") return badFrame(request);
  if (SENDS_OCTETS.has(request.method) || (await frames.isEnd())) return request;
  return badFrame(`Nothing may follow the JSON of ${request.method}`);
}

/** The JSON before the octets of a body. */
async function frontOf(
  headers: IncomingMessage["headers"],
  frames: RequestFrames,
): Promise<string | ServedReply> {
  const header = headers[JSON_BYTES];
  const bytes = jsonBytesOf(Array.isArray(header) ? null : header);
  if (bytes === null) return badFrame(`The header ${JSON_BYTES} must say how long the JSON is`);
  const head = await frames.head(bytes);
  return head === null ? badFrame("The body ends within the JSON") : head.toString();
}

function octetsOf(
  { headers }: Pick<IncomingMessage, "headers">,
  frames: RequestFrames,
): Body | Uint8Array {
  return headers[OCTETS] === IN_CHUNKS ? frames.chunkedOctets() : frames.octets();
}

/** What is no JSON fits no shape. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function toldOf({ result, loan }: Extract<ServedReply, { ok: true }>, hasBody: boolean) {
  return { ok: true, result, hasBody, ...(loan !== undefined && { lent: loan.name }) };
}

function framed(reply: ServedReply, toOwn: boolean): Framed {
  const octets = reply.ok ? reply.body : undefined;
  const told = reply.ok ? toldOf(reply, octets !== undefined) : reply;
  const text = JSON.stringify(told);
  const header = headerJson(text);
  const json = header === null ? Buffer.from(text) : NOTHING;
  const common = {
    status: reply.ok ? 200 : reply.status,
    headers: header === null ? { [JSON_BYTES]: String(json.length) } : { [JSON_TEXT]: header },
  };
  if (octets === undefined) return { ...common, body: json };
  if (octets instanceof Uint8Array) {
    if (header === null) return { ...common, body: Buffer.concat([json, octets]) };
    if (!toOwn || octets.length > MAX_FEW_BYTES) return { ...common, body: octets };
    const headers = { ...common.headers, [FEW_OCTETS]: octets.toBase64() };
    return { ...common, headers, body: NOTHING };
  }
  const { result, loan } = reply as Extract<ServedReply, { ok: true }>;
  const { length } = (result as WireObject).range!;
  const body = { length: json.length + length, first: json, rest: octets };
  if (loan === undefined || header !== null) return { ...common, body, ...(loan && { loan }) };
  loan.end(true); // Its name would be found only behind what is waited for.
  return { ...common, body };
}
