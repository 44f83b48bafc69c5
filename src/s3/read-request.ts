/** What a request asks for: its bucket and key, the operation, and what its signature is held against. */
import type { IncomingMessage } from "node:http";
import { sharesHeaders } from "#http";
import type { Ranges } from "#kit/cidr.ts";
import type { SignedRequest } from "./auth/index.ts";
import { hostsOf } from "./hosts.ts";
import type { Seen } from "./observe.ts";
import type { Operation } from "./operation.ts";
import type { Routes } from "./routes.ts";
import { signedHeaders } from "./signed-headers.ts";
import { readTarget, type Target } from "./target.ts";

export interface ReadRequest {
  readonly target: Target;
  /** Null for a browser's question whether it may ask. */
  readonly operation: Operation | null;
  readonly signed: SignedRequest;
}

/** One that has come before. */
interface Known extends ReadRequest {
  readonly method: string | undefined;
  readonly headers: IncomingMessage["headers"];
}

export interface RequestReaderOptions {
  readonly domains: readonly string[];
  readonly trustedProxies: Ranges | null;
  readonly routes: Routes;
}

/** Past this many all are forgotten; those in use come back. */
const MAX_KNOWN = 1_000;
const MAX_URL_LENGTH = 2_048;

export class RequestReader {
  readonly #options: RequestReaderOptions;
  /** By URL. */
  readonly #known = new Map<string, Known>();

  constructor(options: RequestReaderOptions) {
    this.#options = options;
  }

  /** What it finds is noted as it is found: a request that cannot be read to its end has a line in the log too. */
  read(request: IncomingMessage, seen: Seen): ReadRequest {
    const { url = "/", method, headers } = request;
    const known = this.#known.get(url);
    // Those of the same headers have the same record of them, whoever sent them.
    if (known?.headers === headers && known.method === method) {
      note(seen, known.target, known.operation);
      return known;
    }
    return this.#read(request, url, seen);
  }

  /** It was proved, and need not be read again. What strangers send is not kept. */
  keep(request: IncomingMessage, read: ReadRequest): void {
    const { url = "/", method, headers } = request;
    const mayCome = this.#options.trustedProxies === null && sharesHeaders(request);
    if (!mayCome || url.length > MAX_URL_LENGTH || this.#known.get(url) === read) return;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(url, { ...read, method, headers });
  }

  #read(request: IncomingMessage, url: string, seen: Seen): ReadRequest {
    const { domains, trustedProxies, routes } = this.#options;
    const { method = "", headers } = request;
    const hosts = hostsOf(request, trustedProxies, domains);
    const target = readTarget(url, hosts[0]!, domains);
    note(seen, target, null);
    const copies = headers["x-amz-copy-source"] !== undefined;
    const operation = method === "OPTIONS" ? null : routes.find(method, target, copies);
    note(seen, target, operation);
    const { path: rawPath, query } = target;
    const signed = { method, rawPath, query, headers: signedHeaders(request), hosts };
    return { target, operation, signed };
  }
}

function note(seen: Seen, { path, bucket }: Target, operation: Operation | null): void {
  seen.path = path;
  seen.bucket = bucket;
  if (operation !== null) seen.operation = operation.name;
}
