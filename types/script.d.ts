/**
 * What an edge script sees beyond the web platform (`lib: ["esnext", "webworker"]`), as global types.
 * `selvedge types` writes a file that refers to this one and says what is on the script's own `env`.
 */
/* oxlint-disable typescript/consistent-type-imports -- an import would make this a module, and its types no globals */
/* oxlint-disable typescript/no-extraneous-class -- the runtime has such a class */

// Buckets: the very types of the class that is on env.
type StoreBucket = import("../src/binding/types.ts").StoreBucket;
type StoreObject = import("../src/binding/types.ts").StoreObject;
type StoreObjectBody = import("../src/binding/types.ts").StoreObjectBody;
type StoreObjects = import("../src/binding/types.ts").StoreObjects;
type StoreMultipartUpload = import("../src/binding/types.ts").StoreMultipartUpload;
type StoreUploadedPart = import("../src/binding/types.ts").StoreUploadedPart;
type StoreValue = import("../src/binding/types.ts").StoreValue;
type StoreRange = import("../src/binding/types.ts").StoreRange;
type StoreHTTPMetadata = import("../src/binding/types.ts").StoreHTTPMetadata;
type StoreChecksums = import("../src/binding/types.ts").StoreChecksums;
type StoreConditional = import("../src/binding/types.ts").StoreConditional;
type StoreGetOptions = import("../src/binding/types.ts").StoreGetOptions;
type StorePutOptions = import("../src/binding/types.ts").StorePutOptions;
type StoreMultipartOptions = import("../src/binding/types.ts").StoreMultipartOptions;
type StoreUploadPartOptions = import("../src/binding/types.ts").StoreUploadPartOptions;
type StoreSsecKey = import("../src/binding/types.ts").StoreSsecKey;
type StoreListOptions = import("../src/binding/types.ts").StoreListOptions;
type StorageClass = import("../src/binding/types.ts").StorageClass;

/** What is bound to the script: `selvedge types` writes its members. */
interface Env {}

/** What a script exports: `export default { … } satisfies ExportedHandler<Env>`. */
interface ExportedHandler<Bound = Env> {
  fetch?(request: Request, env: Bound, ctx: ExecutionContext): Response | Promise<Response>;
  scheduled?(
    controller: ScheduledController,
    env: Bound,
    ctx: ExecutionContext,
  ): void | Promise<void>;
  /** Hears of changes in buckets whose notifications name the script. */
  queue?(batch: MessageBatch<BucketEvent>, env: Bound, ctx: ExecutionContext): void | Promise<void>;
}

interface ExecutionContext {
  /** The script goes on with this after it has answered. */
  waitUntil(promise: Promise<unknown>): void;
  passThroughOnException(): void;
}

/** A cron trigger. */
interface ScheduledController {
  readonly cron: string;
  /** In ms since the epoch. */
  readonly scheduledTime: number;
  /** Not again for this time, should this run fail. */
  noRetry(): void;
}

interface MessageBatch<Body> {
  readonly queue: string;
  readonly messages: readonly Message<Body>[];
  ackAll(): void;
  retryAll(): void;
}

/** Acknowledged when the handler ends without fault, unless it says otherwise. */
interface Message<Body> {
  /** The same each time that it comes. */
  readonly id: string;
  readonly timestamp: Date;
  readonly body: Body;
  /** Which time it is, from 1. */
  readonly attempts: number;
  ack(): void;
  retry(): void;
}

/** An object that has come or gone. */
interface BucketEvent {
  readonly account: string;
  readonly action:
    | "PutObject"
    | "CopyObject"
    | "CompleteMultipartUpload"
    | "DeleteObject"
    | "LifecycleDeletion";
  readonly bucket: string;
  /** Size and eTag are those of an object that has come. */
  readonly object: { readonly key: string; readonly size?: number; readonly eTag?: string };
  readonly eventTime: string;
  readonly copySource?: { readonly bucket: string; readonly object: string };
}

/** Another script that is bound as a service. */
interface Fetcher {
  fetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response>;
}

/** The version that runs, where `version_metadata` is bound. */
interface VersionMetadata {
  readonly id: string;
  readonly tag: string;
  readonly timestamp: string;
}

// The older syntax: a script that adds event listeners.
interface ScheduledEvent extends Event, ScheduledController {
  waitUntil(promise: Promise<unknown>): void;
}
declare function addEventListener(type: "fetch", listener: (event: FetchEvent) => void): void;
declare function addEventListener(
  type: "scheduled",
  listener: (event: ScheduledEvent) => void,
): void;

// What the runtime adds to the web platform's own.
interface Request {
  /** What the edge knows of the connection. */
  readonly cf?: Readonly<Record<string, unknown>>;
}
interface Response {
  readonly webSocket?: WebSocket | null;
}
interface ResponseInit {
  webSocket?: WebSocket | null;
  /** `manual` sends the body as it is, whatever Content-Encoding says. */
  encodeBody?: "automatic" | "manual";
}
interface WebSocket {
  /** Begins to deliver events; the script's end of a pair needs it. */
  accept(): void;
}
/** Two ends of one connection: one goes into the response, the other stays in the script. */
declare const WebSocketPair: { new (): { 0: WebSocket; 1: WebSocket } };
interface CacheStorage {
  readonly default: Cache;
}
interface SubtleCrypto {
  timingSafeEqual(a: BufferSource, b: BufferSource): boolean;
}
interface Crypto {
  readonly DigestStream: {
    new (algorithm: string): WritableStream<Uint8Array> & { readonly digest: Promise<ArrayBuffer> };
  };
}
/** Passes on what is written to it. */
declare class IdentityTransformStream extends TransformStream<Uint8Array, Uint8Array> {}
/** The same with a length known beforehand, which a body then has as its Content-Length. */
declare class FixedLengthStream extends IdentityTransformStream {
  constructor(length: number | bigint);
}
interface Scheduler {
  wait(ms: number, options?: { signal?: AbortSignal }): Promise<void>;
}

interface RewriterElement {
  tagName: string;
  readonly removed: boolean;
  readonly attributes: IterableIterator<[name: string, value: string]>;
  getAttribute(name: string): string | null;
  hasAttribute(name: string): boolean;
  setAttribute(name: string, value: string): RewriterElement;
  removeAttribute(name: string): RewriterElement;
  before(content: string, options?: { html?: boolean }): RewriterElement;
  after(content: string, options?: { html?: boolean }): RewriterElement;
  prepend(content: string, options?: { html?: boolean }): RewriterElement;
  append(content: string, options?: { html?: boolean }): RewriterElement;
  replace(content: string, options?: { html?: boolean }): RewriterElement;
  setInnerContent(content: string, options?: { html?: boolean }): RewriterElement;
  remove(): RewriterElement;
  removeAndKeepContent(): RewriterElement;
}
interface RewriterText {
  readonly text: string;
  readonly lastInTextNode: boolean;
  before(content: string, options?: { html?: boolean }): RewriterText;
  after(content: string, options?: { html?: boolean }): RewriterText;
  replace(content: string, options?: { html?: boolean }): RewriterText;
  remove(): RewriterText;
}
/** Changes HTML while it streams. */
declare class HTMLRewriter {
  on(
    selector: string,
    handlers: {
      element?(element: RewriterElement): void | Promise<void>;
      text?(text: RewriterText): void | Promise<void>;
    },
  ): HTMLRewriter;
  transform(response: Response): Response;
}

declare module "cloudflare:workers" {
  /** A class that other scripts call through a service binding. */
  export abstract class WorkerEntrypoint<Bound = Env> {
    protected readonly env: Bound;
    protected readonly ctx: ExecutionContext;
    constructor(ctx: ExecutionContext, env: Bound);
    fetch?(request: Request): Response | Promise<Response>;
    scheduled?(controller: ScheduledController): void | Promise<void>;
    queue?(batch: MessageBatch<BucketEvent>): void | Promise<void>;
  }
  /** An object that stays where it is; those who get it call its methods. */
  export abstract class RpcTarget {}
  export const env: Env;
  export function waitUntil(promise: Promise<unknown>): void;
}

// Files that go along as modules of their own.
declare module "*.txt" {
  const text: string;
  export default text;
}
declare module "*.html" {
  const text: string;
  export default text;
}
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.bin" {
  const data: ArrayBuffer;
  export default data;
}
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
declare module "*.wasm?module" {
  const module: WebAssembly.Module;
  export default module;
}
