/** Signed requests to the S3 door as they go over the wire: no client that tidies paths and headers. */
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { type Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { type AccessKey, signRequest } from "#kit/sigv4.ts";
import { parseXml, type XmlElement } from "#kit/xml.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY } from "../support/s3.ts";

export interface Ask {
  /** As it is sent, escaped, without the query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Names in lower case. All of them are signed. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The tests' own unless told. */
  readonly key?: AccessKey;
  /** A connection of its own unless told. */
  readonly agent?: Agent;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

const ownKey = { id: ACCESS_KEY_ID, secret: SECRET_ACCESS_KEY };

/** The headers that make a request one of the tests' own key. */
export function signed(
  endpoint: string,
  method: string,
  { path, query = {}, headers = {}, body = "", key = ownKey }: Ask,
  payloadHash = hash("sha256", body, "hex"),
): Record<string, string> {
  const { host } = new URL(endpoint);
  return signRequest(
    { method, path, query, headers: { host, ...headers }, payloadHash },
    { key, region: REGION, service: "s3", now: Date.now() },
  );
}

/** The request's target, with the query as it was signed. */
export function targetOf({ path, query = {} }: Ask): string {
  const pairs = Object.entries(query).map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return pairs.length === 0 ? path : `${path}?${pairs.join("&")}`;
}

export async function ask(endpoint: string, method: string, wanted: Ask): Promise<Answer> {
  const { hostname, port } = new URL(endpoint);
  const headers: Record<string, string> = signed(endpoint, method, wanted);
  if (wanted.body !== undefined || method === "PUT" || method === "POST") {
    headers["content-length"] = String(Buffer.byteLength(wanted.body ?? ""));
  }
  return new Promise((resolve, reject) => {
    const path = targetOf(wanted);
    const sent = httpRequest({
      hostname,
      port,
      method,
      path,
      headers,
      agent: wanted.agent ?? false,
    });
    sent.once("error", reject);
    sent.once("response", (response) => {
      buffer(response).then(
        (body) =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            body,
            text: body.toString(),
          }),
        reject,
      );
    });
    sent.end(wanted.body);
  });
}

/** The document of an answer that went well. */
export function documentOf({ status, text }: Answer): XmlElement {
  assert.equal(status, 200, text);
  return parseXml(text);
}

/** The code of an answer that did not. */
export function codeOf({ text }: Answer): string | undefined {
  return /<Code>(.*?)<\/Code>/.exec(text)?.[1];
}

/** All texts of elements of this name below a document, in their order. */
export function textsOf(element: XmlElement, name: string): string[] {
  return element.children.flatMap((child) => [
    ...(child.name === name ? [child.text] : []),
    ...textsOf(child, name),
  ]);
}
