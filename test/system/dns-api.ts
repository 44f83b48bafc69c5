/** Zones and records over plain HTTP, for the tests of the DNS part of the API. */
import assert from "node:assert/strict";
import { keyHeaders, type TestServer } from "../support/server.ts";
import { type ApiAnswer, call, type CallOptions, type Entry } from "./api.ts";

export interface ZoneRecord {
  readonly id: string;
  readonly zone_id: string;
  readonly zone_name: string;
  readonly name: string;
  readonly type: string;
  readonly content: string;
  readonly priority?: number;
  readonly proxiable: boolean;
  readonly proxied: boolean;
  readonly ttl: number;
  readonly locked: boolean;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly settings: Readonly<Record<string, boolean>>;
  readonly meta: Readonly<Record<string, unknown>>;
  readonly comment: string | null;
  readonly tags: readonly string[];
  readonly created_on: string;
  readonly modified_on: string;
  readonly comment_modified_on?: string;
  readonly tags_modified_on?: string;
}

export type Fields = Readonly<Record<string, unknown>>;

let zonesMade = 0;

/** A zone, and the calls about its records. */
export class TestZone {
  readonly server: TestServer;
  readonly id: string;
  readonly name: string;
  readonly path: string;

  constructor(server: TestServer, id: string, name: string) {
    this.server = server;
    this.id = id;
    this.name = name;
    this.path = `/zones/${id}`;
  }

  static async make(server: TestServer, name = `zone${++zonesMade}.example`): Promise<TestZone> {
    const answer = succeeded(await call(server, "POST", "/zones", { body: { name } }));
    const { id, name: kept } = answer.result as { id: string; name: string };
    return new TestZone(server, id, kept);
  }

  /** Any call about the records; `at` is what follows `dns_records`. */
  call(method: string, at = "", body?: unknown, options: CallOptions = {}): Promise<ApiAnswer> {
    return call(this.server, method, `${this.path}/dns_records${at}`, {
      ...options,
      ...(body !== undefined && { body }),
    });
  }

  async create(fields: Fields): Promise<ZoneRecord> {
    return succeeded(await this.call("POST", "", fields)).result as ZoneRecord;
  }

  async get(id: string): Promise<ZoneRecord> {
    return succeeded(await this.call("GET", `/${id}`)).result as ZoneRecord;
  }

  async put(id: string, fields: Fields): Promise<ZoneRecord> {
    return succeeded(await this.call("PUT", `/${id}`, fields)).result as ZoneRecord;
  }

  async patch(id: string, fields: Fields): Promise<ZoneRecord> {
    return succeeded(await this.call("PATCH", `/${id}`, fields)).result as ZoneRecord;
  }

  async list(query: Readonly<Record<string, string>> | string = ""): Promise<ZoneRecord[]> {
    const text = typeof query === "string" ? query : String(new URLSearchParams(query));
    return succeeded(await this.call("GET", `?${text}`)).result as ZoneRecord[];
  }

  /** Every record there is. */
  all(): Promise<ZoneRecord[]> {
    return this.list("per_page=5000000");
  }

  async setSetting(id: string, value: unknown): Promise<void> {
    const path = `${this.path}/settings/${id}`;
    succeeded(await call(this.server, "PATCH", path, { body: { value } }));
  }

  export(): Promise<string> {
    return exportText(this.server, this.id);
  }

  async import(
    file: string | Uint8Array<ArrayBuffer>,
    fields: Readonly<Record<string, string>> = {},
    query = "",
  ): Promise<BesideAnswer> {
    const form = new FormData();
    form.set("file", new Blob([file], { type: "text/plain" }), "zone.txt");
    for (const [name, value] of Object.entries(fields)) form.set(name, value);
    return besideCall(this.server, `${this.path}/dns_records/import${query}`, {
      method: "POST",
      body: form,
    });
  }

  history(query = ""): Promise<BesideAnswer> {
    return besideCall(this.server, `${this.path}/dns_records/history?${query}`);
  }
}

/** An answer that has more keys than the envelope: an import's `timing`, the history's next page. */
export interface BesideAnswer {
  readonly status: number;
  readonly result: unknown;
  readonly success: boolean;
  readonly errors: readonly Entry[];
  readonly messages: readonly Entry[];
  readonly timing?: Readonly<Record<string, unknown>>;
  readonly next_before_serial?: number;
}

export async function besideCall(
  server: TestServer,
  path: string,
  init: { method?: string; body?: FormData; headers?: Record<string, string> } = {},
): Promise<BesideAnswer> {
  const headers = { ...keyHeaders, ...init.headers };
  const response = await fetch(server.base + path, { ...init, headers });
  const text = await response.text();
  assert.equal(response.headers.get("content-type"), "application/json", text);
  const body = JSON.parse(text) as Omit<BesideAnswer, "status">;
  assert.equal(body.success, response.status < 400, text);
  for (const key of ["result", "errors", "messages"]) assert.ok(Object.hasOwn(body, key), text);
  return { ...body, status: response.status };
}

async function exportText(server: TestServer, id: string): Promise<string> {
  const path = `${server.base}/zones/${id}/dns_records/export`;
  const response = await fetch(path, { headers: keyHeaders });
  assert.equal(response.status, 200);
  assert.match(response.headers.get("content-type")!, /^text\/plain/);
  return response.text();
}

export function succeeded<T extends { status: number; errors: readonly Entry[] }>(answer: T): T {
  assert.equal(answer.status, 200, JSON.stringify(answer.errors));
  return answer;
}

/** Holds a refusal to its status, its code and its text. */
export function refused(
  answer: { status: number; errors: readonly Entry[] },
  status: number,
  code: number,
  message?: string | RegExp,
): void {
  const told = JSON.stringify(answer.errors);
  assert.deepEqual([answer.status, answer.errors[0]?.code], [status, code], told);
  if (typeof message === "string") assert.equal(answer.errors[0]!.message, message);
  if (message instanceof RegExp) assert.match(answer.errors[0]!.message, message);
}

/** What of a record its owner set: all but ids and times. */
export function settable(record: ZoneRecord) {
  const { type, name, content, priority, ttl, proxied, comment, tags, settings } = record;
  return { type, name, content, priority, ttl, proxied, comment, tags, settings };
}

export function byContent(a: ZoneRecord, b: ZoneRecord): number {
  const key = ({ type, name, content }: ZoneRecord) => `${type} ${name} ${content}`;
  return key(a) < key(b) ? -1 : 1;
}
