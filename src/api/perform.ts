/** One operation: who asks, may they, is the input right, then the work. */
import type { IncomingMessage } from "node:http";
import {
  AccountFault,
  type Identity,
  type Permission,
  personBehind,
  type Resource,
} from "#accounts";
import { readBody, type Reply } from "#http";
import type { Ranges } from "#kit/cidr.ts";
import { parseJsonInput } from "#kit/json-input.ts";
import type { WindowLimit } from "#kit/window-limit.ts";
import type { Zone } from "#zones";
import { checkShape } from "./check.ts";
import { addressOf, authenticate, credentialsOf } from "./credentials.ts";
import type { ApiParts, Endpoint } from "./endpoint.ts";
import { PlainAnswer, successBody, TextAnswer } from "./envelope.ts";
import * as errors from "./errors.ts";
import { boundaryOf, formParts } from "./form.ts";
import { isJavaScript, uploadParts } from "./upload-body.ts";
import type { UploadBudget } from "./upload-budget.ts";

export interface PerformOptions {
  readonly parts: ApiParts;
  readonly now: () => number;
  readonly bodyBytes: number;
  readonly uploads: UploadBudget;
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
    const resource = resourceOf(params, zone, identity, endpoint.permission);
    await parts.accounts.authorize(identity, endpoint.permission, resource);
  }
  const fields = queryFields(call.query, endpoint.repeats);
  const query = endpoint.query && checkShape(endpoint.query, fields);
  using held = new DisposableStack();
  if (endpoint.upload === true) {
    held.use(options.uploads.take(params["account_id"]!, request.headers["content-length"]));
  }
  const body =
    endpoint.body && checkShape(endpoint.body, await readFields(request, endpoint, options));
  const { headers } = request;
  const input = { params, query, body, identity, headers, address, request, zone };
  return success(await endpoint.handle(input as never, parts));
}

function success(result: unknown): Reply {
  if (result instanceof TextAnswer) {
    const headers = { "Content-Disposition": `attachment; filename="${result.filename}"` };
    return { status: 200, type: "text/plain; charset=utf-8", body: result.text, headers };
  }
  if (result instanceof PlainAnswer) return result.reply;
  return { status: 200, type: "application/json", body: successBody(result) };
}

/** What the path names: a zone, a bucket, an account, or nothing, which means the user who asks. */
function resourceOf(
  params: Readonly<Record<string, string>>,
  zone: Zone | null,
  identity: Identity,
  permission: Permission,
): Resource {
  if (zone !== null) return { kind: "zone", zone: zone.id, account: zone.accountId };
  const { account_id: account, bucket_name: bucket } = params;
  if (account !== undefined && bucket !== undefined && permission.startsWith("objects.")) {
    return { kind: "bucket", bucket, account };
  }
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
  {
    form = false,
    upload = false,
    plainText = false,
  }: { form?: boolean; upload?: boolean; plainText?: boolean },
  { bodyBytes, uploads }: PerformOptions,
): Promise<unknown> {
  const type = request.headers["content-type"];
  if (form || upload) {
    const isForm = type !== undefined && /^multipart\/form-data\s*;/i.test(type);
    if (!isForm && !(upload && isJavaScript(type ?? ""))) throw errors.wrongContentType();
    if (upload) return uploadParts(await readBody(request, uploads.mostBytes), type!);
    const parts = formParts(await readBody(request, bodyBytes), boundaryOf(type!));
    return Object.fromEntries(parts.map(({ name, content }) => [name, content]));
  }
  const isJson = type === undefined || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type);
  if (!isJson && !(plainText && /^text\/plain\s*(?:;|$)/i.test(type))) {
    throw errors.wrongContentType();
  }
  const bytes = await readBody(request, bodyBytes);
  return bytes.length === 0 ? undefined : parseJsonInput(bytes);
}
