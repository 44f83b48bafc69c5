/** One operation: who asks, may they, is the input right, then the work. */
import type { IncomingMessage } from "node:http";
import { AccountFault, type Identity, personBehind, type Resource } from "#accounts";
import { readBody, type Reply } from "#http";
import type { Ranges } from "#kit/cidr.ts";
import { JsonFault, parseJsonInput } from "#kit/json-input.ts";
import type { WindowLimit } from "#kit/window-limit.ts";
import type { Zone } from "#zones";
import { checkShape } from "./check.ts";
import { addressOf, authenticate, credentialsOf } from "./credentials.ts";
import type { ApiParts, Endpoint } from "./endpoint.ts";
import { successBody, TextAnswer } from "./envelope.ts";
import * as errors from "./errors.ts";

export interface PerformOptions {
  readonly parts: ApiParts;
  readonly now: () => number;
  readonly bodyBytes: number;
  readonly trustedProxies: Ranges | null;
  /** Requests per identity; null when there is no such limit. */
  readonly requestLimit: WindowLimit | null;
}

/** A request on its way through the API. */
export interface ApiCall {
  readonly request: IncomingMessage;
  readonly path: string;
  readonly query: string;
  readonly params: Readonly<Record<string, string>>;
  /** Who asks, once that is known; for the log. */
  actor: string | null;
  /** What the answer carries, whichever it is. */
  headers: Readonly<Record<string, string>> | null;
}

const ID = /^[0-9a-f]{32}$/;

export async function perform(
  call: ApiCall,
  endpoint: Endpoint,
  options: PerformOptions,
): Promise<Reply> {
  const { parts } = options;
  const { request, params } = call;
  for (const name in params) {
    if (name.endsWith("_id") && !ID.test(params[name]!)) throw errors.malformedId(call.path);
  }
  const credentials = credentialsOf(request.headers);
  const address = addressOf(request, options.trustedProxies);
  if (endpoint.permission === "open") {
    return success(await endpoint.handle({ params, credentials, address } as never, parts));
  }
  const identity = await authenticate(credentials, address, parts.authenticator);
  call.actor = `${identity.kind}:${identity.id}`;
  countRequest(call, identity, options);
  const zone = params["zone_id"] === undefined ? null : await parts.zones.get(params["zone_id"]);
  if (endpoint.permission !== "signed-in") {
    const resource = resourceOf(params, zone, identity);
    await parts.accounts.authorize(identity, endpoint.permission, resource);
  }
  const fields = queryFields(call.query, endpoint.repeats);
  const query = endpoint.query && checkShape(endpoint.query, fields);
  const body =
    endpoint.body && checkShape(endpoint.body, await readFields(request, endpoint, options));
  const input = { params, query, body, identity, headers: request.headers, zone };
  return success(await endpoint.handle(input as never, parts));
}

function success(result: unknown): Reply {
  if (result instanceof TextAnswer) {
    const headers = { "Content-Disposition": `attachment; filename="${result.filename}"` };
    return { status: 200, type: "text/plain; charset=utf-8", body: result.text, headers };
  }
  return { status: 200, type: "application/json", body: successBody(result) };
}

/** What the path names: a zone, an account, or nothing, which means the user who asks. */
function resourceOf(
  params: Readonly<Record<string, string>>,
  zone: Zone | null,
  identity: Identity,
): Resource {
  if (zone !== null) return { kind: "zone", zone: zone.id, account: zone.accountId };
  const account = params["account_id"];
  if (account !== undefined) return { kind: "account", account };
  const user = personBehind(identity);
  if (user === null) throw new AccountFault("forbidden", "The token belongs to an account");
  return { kind: "user", user };
}

/** Counts the request against its identity's limit, and tells of it in the answer. */
function countRequest(
  call: ApiCall,
  identity: Identity,
  { requestLimit, now }: PerformOptions,
): void {
  if (requestLimit === null) return;
  const { quota, windowSeconds } = requestLimit.options;
  const { exceeded, left, resetSeconds } = requestLimit.count(countedAs(identity), now());
  call.headers = {
    Ratelimit: `"default";r=${left};t=${resetSeconds}`,
    "Ratelimit-Policy": `"default";q=${quota};w=${windowSeconds}`,
  };
  if (exceeded) throw errors.rateLimited(resetSeconds);
}

/** A person's key and tokens share one quota, so that more tokens do not make more of it. */
function countedAs(identity: Identity): string {
  return personBehind(identity) ?? identity.id;
}

/** Where a name stands twice its last value counts, unless all are asked for. */
function queryFields(query: string, repeats: readonly string[] = []): Record<string, unknown> {
  if (query === "") return {};
  if (query.includes("%00")) {
    throw errors.invalidFields([{ pointer: "/", message: "query: NUL character" }]);
  }
  const given = new URLSearchParams(query);
  const lists = repeats.filter((name) => given.has(name)).map((name) => [name, given.getAll(name)]);
  return { ...Object.fromEntries(given), ...Object.fromEntries(lists) };
}

async function readFields(
  request: IncomingMessage,
  { form = false, plainText = false }: { form?: boolean; plainText?: boolean },
  { bodyBytes }: PerformOptions,
): Promise<unknown> {
  const type = request.headers["content-type"];
  if (form) {
    if (type === undefined || !/^multipart\/form-data\s*;/i.test(type))
      throw errors.wrongContentType();
    return formFields(await readBody(request, bodyBytes), type);
  }
  const isJson = type === undefined || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
  if (!isJson && !(plainText && /^text\/plain\s*(?:;|$)/i.test(type))) {
    throw errors.wrongContentType();
  }
  const bytes = await readBody(request, bodyBytes);
  return bytes.length === 0 ? undefined : parseJsonInput(bytes);
}

/** A file's field and a plain one are the same to us: bytes. */
async function formFields(bytes: Buffer, type: string): Promise<Record<string, Uint8Array>> {
  const whole = new Response(new Uint8Array(bytes), { headers: { "Content-Type": type } });
  const form = await whole.formData().catch((cause: unknown) => {
    throw new JsonFault("malformed", "Malformed form in request body", { cause });
  });
  const fields: Record<string, Uint8Array> = {};
  for (const [name, value] of form) {
    fields[name] = typeof value === "string" ? Buffer.from(value) : await value.bytes();
  }
  return fields;
}
