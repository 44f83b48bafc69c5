/** The management API as one request listener: routes, the log and the metrics around each call. */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import {
  breakOff,
  leavesMuch,
  type Match,
  type RejectedReply,
  type RejectedRequest,
  type Reply,
  requestIds,
  Router,
  sendReply,
} from "#http";
import type { Log } from "#kit/log.ts";
import type { ScriptRuntime } from "#scripts";
import { endpoints } from "./endpoints.ts";
import { failureBody } from "./envelope.ts";
import * as errors from "./errors.ts";
import { healthRoutes, type HealthOptions } from "./health.ts";
import { describeApi } from "./openapi.ts";
import { type ApiCall, perform, type PerformOptions } from "./perform.ts";
import { tailDoor } from "./script-tails/listen.ts";

export interface ApiOptions extends HealthOptions, PerformOptions {
  readonly runtime: Pick<ScriptRuntime, "tail">;
  /** DNS over HTTPS, which shares this listener; null without a nameserver. */
  readonly dnsQuery: Handler | null;
  /** The object store for programs elsewhere. */
  readonly store: Handler;
}

type Handler = (call: ApiCall) => Reply | Promise<Reply>;

const BASE = "/client/v4";
const DNS_QUERY = "/dns-query";
const STORE = "/store/v1/:bucket";
const JSON_TYPE = "application/json";
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** What a listener needs to serve the API. */
export interface ApiDoor {
  readonly handle: RequestListener;
  /** Tails are WebSockets. */
  readonly handleUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  readonly answerRejected: (rejected: RejectedRequest) => RejectedReply;
}

export function apiDoor(options: ApiOptions): ApiDoor {
  const { log } = options;
  const router = routes(options);
  const observe = observer(options);
  const nextId = requestIds();
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const began = performance.now();
    const requestId = nextId();
    try {
      const { path, query } = splitUrl(request.url ?? "/");
      const match = router.match(path);
      const call = {
        request,
        path,
        query,
        params: match?.params ?? {},
        actor: null,
        headers: null,
      };
      const reply = await answer(call, match, requestId, log);
      await sendReply(response, reply, requestId, call.headers);
      observe(call, match?.path ?? "none", reply, requestId, performance.now() - began);
    } catch (cause) {
      log.error("answer failed", { request_id: requestId, cause });
      breakOff(response);
    }
  };
  return {
    handle: (request, response) => void serve(request, response),
    handleUpgrade: tailDoor({
      sessions: options.parts.tails,
      runtime: options.runtime,
      now: options.now,
      random: Math.random,
      log,
    }),
    answerRejected(rejected) {
      const requestId = nextId();
      log.info("request rejected", { request_id: requestId, ...rejected });
      return { requestId, type: JSON_TYPE, body: failureBody([errors.rejectedMessage(rejected)]) };
    },
  };
}

function routes(options: ApiOptions): Router<Handler> {
  const router = new Router<Handler>();
  for (const [path, handler] of Object.entries(healthRoutes(options)))
    router.add("GET", path, handler);
  if (options.dnsQuery !== null) {
    for (const method of ["GET", "POST"]) router.add(method, DNS_QUERY, options.dnsQuery);
  }
  router.add("POST", STORE, options.store);
  const description = JSON.stringify(describeApi(endpoints, BASE));
  router.add("GET", `${BASE}/openapi.json`, () => ({
    status: 200,
    type: JSON_TYPE,
    body: description,
  }));
  for (const endpoint of endpoints) {
    router.add(endpoint.method, BASE + endpoint.path, (call) => perform(call, endpoint, options));
  }
  return router;
}

async function answer(
  call: ApiCall,
  match: Match<Handler> | null,
  requestId: string,
  log: Log,
): Promise<Reply> {
  try {
    return await handlerOf(match, call.request.method ?? "")(call);
  } catch (error) {
    const reply = failure(error, requestId, log);
    return { ...reply, closes: reply.status === 413 || leavesMuch(call.request) };
  }
}

/** What the request's path and method lead to. */
function handlerOf(match: Match<Handler> | null, method: string): Handler {
  if (match === null) throw errors.noRoute();
  const handler = match.methods.get(method === "HEAD" ? "GET" : method);
  if (handler === undefined) throw errors.methodNotAvailable(method, [...match.methods.keys()]);
  return handler;
}

/** The answer to what was thrown. Bugs and broken disks are logged here, and only here. */
function failure(error: unknown, requestId: string, log: Log): Reply {
  const known = errors.toApiError(error);
  if ((known?.status ?? 500) >= 500) {
    log.error("request failed", { request_id: requestId, cause: error });
  }
  const { status, errors: entries, headers } = known ?? errors.internalError(requestId);
  return { status, type: JSON_TYPE, body: failureBody(entries), headers };
}

/** Gives each request its line in the log and its place in the metrics. */
function observer({ log, metrics }: ApiOptions) {
  const requests = metrics.counter(
    "selvedge_api_requests_total",
    "Requests to the management API.",
    ["method", "route", "status"],
  );
  const durations = metrics.histogram(
    "selvedge_api_request_seconds",
    "Time from a request's headers to its answer.",
    DURATION_BUCKETS,
  );
  return (call: ApiCall, route: string, { status }: Reply, requestId: string, ms: number): void => {
    const method = methodLabel(call.request);
    requests.count(method, route, String(status));
    durations.observe(ms / 1000);
    log.info("request", {
      request_id: requestId,
      method,
      path: call.path, // Without its query, which may hold what nobody should read.
      status,
      ms: Math.round(ms * 100) / 100,
      ...(call.actor !== null && { actor: call.actor }),
    });
  };
}

/** A client could invent methods without end; metrics keep the known ones apart. */
function methodLabel({ method = "" }: IncomingMessage): string {
  return /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : "other";
}

/** A request may name its target by the whole address. RFC 9112 §3.2.2. */
function splitUrl(target: string): { path: string; query: string } {
  const url = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/?#]*(?=\/)/i, "");
  const mark = url.indexOf("?");
  return mark === -1
    ? { path: url, query: "" }
    : { path: url.slice(0, mark), query: url.slice(mark + 1) };
}
