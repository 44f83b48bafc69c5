/** The management API over plain HTTP. Every answer is held to the rules of the envelope. */
import assert from "node:assert/strict";
import { keyHeaders, type TestServer } from "../support/server.ts";

export interface Entry {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly { readonly code: number; readonly message: string }[];
  readonly source?: { readonly pointer: string };
}

export interface Envelope {
  readonly result: unknown;
  readonly result_info?: Readonly<Record<string, number>>;
  readonly success: boolean;
  readonly errors: readonly Entry[];
  readonly messages: readonly Entry[];
}

export interface ApiAnswer extends Envelope {
  readonly status: number;
  readonly headers: Headers;
  /** The body as it came. */
  readonly text: string;
}

export interface CallOptions {
  /** Those of the account key unless told. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes and text go as they are, anything else as JSON. */
  readonly body?: unknown;
}

export async function call(
  server: TestServer,
  method: string,
  path: string,
  { headers = keyHeaders, body }: CallOptions = {},
): Promise<ApiAnswer> {
  const response = await fetch(server.base + path, {
    method,
    headers: { ...(body !== undefined && { "Content-Type": "application/json" }), ...headers },
    ...(body !== undefined && { body: bodyOf(body) }),
  });
  const text = await response.text();
  assert.equal(response.headers.get("content-type"), "application/json", `${method} ${path}`);
  return {
    ...readEnvelope(response.status, text),
    status: response.status,
    headers: response.headers,
    text,
  };
}

function bodyOf(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (typeof body === "string") return body;
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}

/** Reference §1.4: compact, the four keys always there, and an answer that agrees with its status. */
export function readEnvelope(status: number, text: string): Envelope {
  const envelope = JSON.parse(text) as Envelope;
  assert.equal(text, JSON.stringify(envelope), "the answer is not compact JSON");
  const { result_info: info, ...rest } = envelope;
  assert.deepEqual(Object.keys(rest).sort(), ["errors", "messages", "result", "success"]);
  assert.ok(Array.isArray(rest.errors) && Array.isArray(rest.messages), text);
  assert.equal(rest.success, status < 400, text);
  if (rest.success) assert.deepEqual(rest.errors, []);
  else {
    assert.equal(rest.result, null);
    assert.equal(info, undefined);
    assert.notEqual(rest.errors.length, 0);
  }
  for (const { code, message } of [...rest.errors, ...rest.messages]) {
    assert.ok(Number.isInteger(code), text);
    assert.equal(typeof message, "string", text);
  }
  return envelope;
}

export const bearer = (value: string) => ({ Authorization: `Bearer ${value}` });
