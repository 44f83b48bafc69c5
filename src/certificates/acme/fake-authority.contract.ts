/** An ACME server in a function: checks signatures and nonces as RFC 8555 §6 wants, and answers as it is told. */
import assert from "node:assert/strict";
import { createHmac, createPublicKey, verify } from "node:crypto";
import type { AcmeHttp, AcmeResponse } from "./http.ts";

export const BASE = "https://acme.test";
export const DIRECTORY = `${BASE}/dir`;

type Jwk = Record<string, string>;

export interface Call {
  readonly url: string;
  readonly head: Readonly<Record<string, unknown>>;
  /** Null for a read. */
  readonly payload: Readonly<Record<string, unknown>> | null;
}

/** Answers signed calls; what it does not answer is not found. */
export type Answers = (call: Call) => Partial<AcmeResponse> | object | null;

export interface FakeAuthority {
  readonly http: AcmeHttp;
  readonly calls: Call[];
  /** Nonces that are out; emptied, those that were given are no longer taken. */
  readonly nonces: Set<string>;
}

export function fakeAuthority(answers: Answers, meta: object = {}): FakeAuthority {
  const calls: Call[] = [];
  const nonces = new Set<string>();
  const keys = new Map<string, Jwk>();
  let given = 0;
  const reply = (status: number, body: unknown, headers = {}): AcmeResponse => {
    const nonce = `nonce${++given}`;
    nonces.add(nonce);
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return { status, text, headers: { "replay-nonce": nonce, ...headers } };
  };
  const http: AcmeHttp = async (method, url, body) => {
    if (method === "GET" && url === DIRECTORY) {
      const [newNonce, newAccount, newOrder] = ["nonce", "account", "order"].map(
        (name) => `${BASE}/new-${name}`,
      );
      return reply(200, { newNonce, newAccount, newOrder, meta });
    }
    if (method === "HEAD") return reply(200, "");
    const call = readCall(url, JSON.parse(body!) as Flattened, keys);
    assert.equal(call.head["url"], url);
    if (!nonces.delete(call.head["nonce"] as string)) return reply(400, problem("badNonce"));
    calls.push(call);
    if (url === `${BASE}/new-account`) {
      keys.set(`${BASE}/account/1`, call.head["jwk"] as Jwk);
      return reply(201, {}, { location: `${BASE}/account/1` });
    }
    const answer = answers(call);
    if (answer === null) return reply(404, problem("malformed", "no such thing"));
    if (!("status" in answer) || typeof answer.status !== "number") return reply(200, answer);
    const { status, text, headers } = answer as AcmeResponse;
    return reply(status, text, headers);
  };
  return { http, calls, nonces };
}

export function problem(type: string, detail = ""): object {
  return { type: `urn:ietf:params:acme:error:${type}`, detail };
}

export interface Flattened {
  readonly protected: string;
  readonly payload: string;
  readonly signature: string;
}

/** Checks an HMAC over a JWS and gives its head. */
export function checkMac(jws: Flattened, key: Buffer): Readonly<Record<string, unknown>> {
  const mac = createHmac("sha256", key).update(`${jws.protected}.${jws.payload}`);
  assert.equal(jws.signature, mac.digest("base64url"));
  return read(jws.protected);
}

function readCall(url: string, jws: Flattened, keys: ReadonlyMap<string, Jwk>): Call {
  const head = read(jws.protected);
  const jwk = (head["jwk"] as Jwk | undefined) ?? keys.get(head["kid"] as string);
  assert.ok(jwk !== undefined && "jwk" in head !== "kid" in head, "one of jwk and kid");
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${jws.protected}.${jws.payload}`);
  const signature = Buffer.from(jws.signature, "base64url");
  assert.ok(verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, signature));
  return { url, head, payload: jws.payload === "" ? null : read(jws.payload) };
}

function read(part: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, "base64url").toString()) as Record<string, unknown>;
}
