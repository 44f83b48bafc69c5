/** The real server before origins that hold what they hear to the letter of HTTP. RFC 9112. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { ownAddress } from "../support/own-address.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { call } from "./api.ts";

/** A client that names the one over HTTP, or the other over TLS, has its origin asked on the first. */
export const HTTP_PORT = 2052;
export const HTTPS_PORT = 2053;

/** For tests that look for what is cached: what one thread has, another would have to ask for. */
export const ONE_THREAD = { SELVEDGE_EDGE_THREADS: "1" } as const;

/** A request as an origin heard it. */
export interface Heard {
  readonly line: string;
  /** As they came, `Name: value`. */
  readonly headers: readonly string[];
  readonly body: string;
  /** What stood behind a body in chunks. */
  readonly trailers: readonly string[];
}

export type Behave = (socket: Socket, request: Heard) => void;

export class Edge implements AsyncDisposable {
  readonly server: TestServer;
  readonly http: string;
  readonly https: URL;
  readonly #zone: string;
  readonly #ca: string;
  readonly #origins: RawOrigin[] = [];

  private constructor(server: TestServer, zone: string) {
    this.server = server;
    this.http = server.ready["edge"]!;
    this.https = new URL(server.ready["edge_tls"]!);
    this.#zone = zone;
    this.#ca = readFileSync(join(server.data, "local-ca.crt"), "utf8");
  }

  static async start(env: Readonly<Record<string, string>>): Promise<Edge> {
    const server = await startServer({
      env: { SELVEDGE_EDGE_ORIGINS: "127.0.0.0/8", ...env },
      args: ["--dns", "off"],
    });
    const { result } = await call(server, "POST", "/zones", { body: { name: "example.com" } });
    const { id } = result as { id: string };
    const edge = new Edge(server, id);
    await edge.setting("ssl", "flexible");
    return edge;
  }

  async setting(id: string, value: unknown): Promise<void> {
    const path = `/zones/${this.#zone}/settings/${id}`;
    const { status } = await call(this.server, "PATCH", path, { body: { value } });
    assert.equal(status, 200);
  }

  /** An origin under a name of its own. It answers "ok" to each request unless told otherwise. */
  async origin(name: string, behave: Behave = sayOk): Promise<RawOrigin> {
    const origin = new RawOrigin(behave);
    this.#origins.push(origin);
    const content = ownAddress();
    await origin.listen(content);
    const body = { type: "A", name, content, proxied: true };
    const { status } = await call(this.server, "POST", `/zones/${this.#zone}/dns_records`, {
      body,
    });
    assert.equal(status, 200);
    return origin;
  }

  /** A client of HTTP/2 that is well-behaved. */
  session(name: string): ClientHttp2Session {
    const servername = `${name}.example.com`;
    const { hostname: host, port } = this.https;
    const to = { ca: this.#ca, host, port: Number(port), servername };
    const session = connectHttp2(`https://${servername}:${HTTPS_PORT}`, to as object);
    session.on("error", () => {});
    return session;
  }

  /** What the server holds, in MiB. */
  memory(): number {
    const status = readFileSync(`/proc/${this.server.process.pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    for (const origin of this.#origins) origin.close();
  }
}

export class RawOrigin {
  readonly heard: Heard[] = [];
  /** What no strict server would take. */
  readonly faults: string[] = [];
  readonly sockets = new Set<Socket>();
  readonly #behave: Behave;
  readonly #server: Server;

  constructor(behave: Behave) {
    this.#behave = behave;
    this.#server = createServer((socket) => this.#serve(socket));
  }

  /** Where it listens. */
  host = "";

  async listen(host: string): Promise<void> {
    this.host = host;
    this.#server.listen(HTTP_PORT, host);
    await once(this.#server, "listening");
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
  }

  #serve(socket: Socket): void {
    this.sockets.add(socket);
    let text = "";
    socket.setEncoding("latin1");
    socket.on("error", () => {}).on("close", () => this.sockets.delete(socket));
    socket.on("data", (more: string) => {
      text += more;
      try {
        for (let found = takeRequest(text); found !== null; found = takeRequest(text)) {
          text = text.slice(found.length);
          this.heard.push(found.request);
          this.#behave(socket, found.request);
        }
      } catch (fault) {
        this.faults.push(`${(fault as Error).message} in ${JSON.stringify(text)}`);
        socket.destroy();
      }
    });
  }
}

const sayOk: Behave = (socket) => {
  socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
};

/** An origin that says this, whatever it is asked. */
export const saying =
  (text: string): Behave =>
  (socket) =>
    socket.write(text, "latin1");

const REQUEST_LINE = /^[A-Z]+ \/[\x21-\x7e\x80-\xff]* HTTP\/1\.1$/;
const HEADER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+: [\t\x20-\x7e\x80-\xff]*$/;

/** The first request in what came; null while it is not whole. Throws at what two readers might read in two ways. */
function takeRequest(text: string): { request: Heard; length: number } | null {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [line = "", ...headers] = text.slice(0, end).split("\r\n");
  assert.match(line, REQUEST_LINE);
  for (const header of headers) assert.match(header, HEADER);
  assert.equal(valuesOf(headers, "host").length, 1, "not one Host");
  const lengths = valuesOf(headers, "content-length");
  const codings = valuesOf(headers, "transfer-encoding");
  assert.ok(lengths.length + codings.length <= 1, "two lengths");
  assert.ok(codings.length === 0 || codings[0] === "chunked", "another coding than chunks");
  const from = end + 4;
  const body =
    codings.length > 0 ? takeChunks(text, from) : takeLength(text, from, lengths[0] ?? "0");
  if (body === null) return null;
  const { text: whole, end: length, trailers } = body;
  return { request: { line, headers, body: whole, trailers }, length };
}

export function valuesOf(headers: readonly string[], name: string): string[] {
  const start = `${name}: `;
  return headers
    .filter((header) => header.toLowerCase().startsWith(start))
    .map((header) => header.slice(start.length));
}

function takeLength(text: string, from: number, length: string) {
  assert.match(length, /^\d+$/);
  const end = from + Number(length);
  return text.length < end ? null : { text: text.slice(from, end), end, trailers: [] };
}

interface Chunks {
  readonly text: string;
  readonly end: number;
  readonly trailers: readonly string[];
}

function takeChunks(text: string, from: number): Chunks | null {
  let whole = "";
  for (let at = from; ;) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd === -1) return null;
    assert.match(text.slice(at, lineEnd), /^[0-9a-f]+$/, "more than a chunk's size");
    const size = Number.parseInt(text.slice(at, lineEnd), 16);
    if (size === 0) return takeTrailers(text, lineEnd, whole);
    at = lineEnd + 2 + size + 2;
    if (text.length < at) return null;
    assert.equal(text.slice(at - 2, at), "\r\n", "a longer chunk");
    whole += text.slice(lineEnd + 2, at - 2);
  }
}

function takeTrailers(text: string, from: number, body: string): Chunks | null {
  const last = text.indexOf("\r\n\r\n", from);
  if (last === -1) return null;
  const trailers = text.slice(from, last).split("\r\n").slice(1);
  for (const trailer of trailers) assert.match(trailer, HEADER);
  return { text: body, end: last + 4, trailers };
}
