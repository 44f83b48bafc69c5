/** The management API for the commands: envelopes, pages, and errors that say what to do. */
import { setTimeout as sleep } from "node:timers/promises";
import {
  answerOf,
  ApiFault,
  type ApiMessage,
  networkCode,
  noApi,
  unreachable,
} from "./api-fault.ts";

export interface ApiClientOptions {
  /** Of the server, without a slash at its end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof globalThis.fetch;
  readonly signal: AbortSignal;
  readonly userAgent: string;
  readonly pause?: (milliseconds: number) => Promise<unknown>;
}

/** Values that are undefined are left out; a list is the same name again for each. */
export type Query = Readonly<
  Record<string, string | number | boolean | undefined | readonly string[]>
>;

export interface ApiRequest {
  readonly query?: Query;
  /** A form or octets go as they are, anything else as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiReply<T> {
  readonly result: T;
  readonly messages: readonly ApiMessage[];
  /** Of lists: how they are paged. */
  readonly info: { readonly total_pages?: number; readonly cursor?: string };
  /** The whole envelope, for the few answers that have something beside the result. */
  readonly envelope: Readonly<Record<string, unknown>>;
}

/** An import of a large zone takes seconds, and a proxy before the server has its queue. */
const TIMEOUT_MS = 300_000;

/** Pauses before a read is tried again: what a restart of the server takes. */
const RETRY_PAUSES_MS = [200, 800, 2_000];
/** The longest that a server's own wish for a pause is followed. */
const LONGEST_PAUSE_MS = 10_000;
const TRANSIENT = new Set([429, 502, 503, 504]);
const REFUSALS = new Set(["ECONNREFUSED", "ENOTFOUND"]);

/** Few requests for long lists, and none of them too long for one answer. */
const PER_PAGE = 5_000;

export class ApiClient {
  readonly #options: ApiClientOptions;
  constructor(options: ApiClientOptions) {
    this.#options = options;
  }

  async get<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.request<T>("GET", path, { query })).result;
  }

  async post<T>(path: string, body?: unknown, query: Query = {}): Promise<T> {
    return (await this.request<T>("POST", path, { body, query })).result;
  }

  async put<T>(path: string, body?: unknown, query: Query = {}): Promise<T> {
    return (await this.request<T>("PUT", path, { body, query })).result;
  }

  async patch<T>(path: string, body?: unknown, query: Query = {}): Promise<T> {
    return (await this.request<T>("PATCH", path, { body, query })).result;
  }

  async delete<T>(path: string, query: Query = {}): Promise<T> {
    return (await this.request<T>("DELETE", path, { query })).result;
  }

  /** All of a list that has numbered pages. */
  async all<T>(path: string, query: Query = {}): Promise<T[]> {
    const found: T[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const asked = { per_page: PER_PAGE, ...query, page };
      const { result, info } = await this.request<T[]>("GET", path, { query: asked });
      found.push(...result);
      pages = info.total_pages ?? 1;
    }
    return found;
  }

  async request<T>(method: string, path: string, request: ApiRequest = {}): Promise<ApiReply<T>> {
    const response = await this.send(method, path, request);
    const envelope = readEnvelope(await response.text());
    if (envelope === null) throw noApi(this.#options.url, answerOf(response));
    if (!response.ok || envelope["success"] !== true) throw ApiFault.of(response, envelope);
    return {
      result: envelope["result"] as T,
      messages: (envelope["messages"] as ApiMessage[] | undefined) ?? [],
      info: envelope["result_info"] ?? {},
      envelope,
    };
  }

  /** An answer that is text, such as a zone file. */
  async text(path: string, query: Query = {}): Promise<string> {
    const response = await this.send("GET", path, { query });
    const text = await response.text();
    if (response.ok) return text;
    throw ApiFault.of(response, readEnvelope(text) ?? {});
  }

  /** The answer as it comes. Only reads are tried again: a write may have been done. */
  async send(method: string, path: string, request: ApiRequest = {}): Promise<Response> {
    const pauses = method === "GET" ? RETRY_PAUSES_MS : [];
    for (const pause of pauses) {
      const response = await this.#try(method, path, request).catch((error: unknown) => {
        if (isRefusal(error) || this.#options.signal.aborted) throw error;
        return null;
      });
      if (response !== null && !TRANSIENT.has(response.status)) return response;
      await response?.body?.cancel();
      await this.#pause(pauseOf(response, pause));
    }
    return this.#try(method, path, request);
  }

  #pause(milliseconds: number): Promise<unknown> {
    const { pause, signal } = this.#options;
    return pause === undefined ? sleep(milliseconds, null, { signal }) : pause(milliseconds);
  }

  async #try(method: string, path: string, request: ApiRequest): Promise<Response> {
    const { url, headers, fetch, signal, userAgent } = this.#options;
    const { body, type } = bodyOf(request.body);
    try {
      return await fetch(`${url}/client/v4${path}${queryOf(request.query)}`, {
        method,
        headers: { ...headers, ...type, "user-agent": userAgent, ...request.headers },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
    } catch (error) {
      if (signal.aborted) throw error;
      throw unreachable(url, error);
    }
  }
}

/** Nobody listens there: trying again would only be slow. */
function isRefusal(error: unknown): boolean {
  return REFUSALS.has(networkCode(error) ?? "");
}

function pauseOf(response: Response | null, otherwise: number): number {
  const asked = Number(response?.headers.get("retry-after") ?? 0) * 1_000;
  return asked > 0 ? Math.min(asked, LONGEST_PAUSE_MS) : otherwise;
}

function bodyOf(body: unknown): {
  body?: FormData | Uint8Array<ArrayBuffer> | string;
  type?: Record<string, string>;
} {
  if (body === undefined) return {};
  if (body instanceof FormData) return { body };
  if (body instanceof Uint8Array) return { body: body as Uint8Array<ArrayBuffer> };
  return { body: JSON.stringify(body), type: { "content-type": "application/json" } };
}

function queryOf(query: Query = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as string[]) : [value])
      .filter((one) => one !== undefined)
      .map((one) => [name, String(one)]),
  );
  return pairs.length === 0 ? "" : `?${new URLSearchParams(pairs).toString()}`;
}

function readEnvelope(text: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(text) as Record<string, unknown> | null;
    return value !== null && typeof value === "object" && "success" in value ? value : null;
  } catch {
    return null;
  }
}
