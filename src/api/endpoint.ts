/** The form in which an endpoint is declared. Router, checks and the reference page read it. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { z } from "zod";
import type {
  Accounts,
  Authenticator,
  Credentials,
  Identity,
  Permission,
  S3Keys,
  Tokens,
} from "#accounts";
import type { Certificates } from "#certificates";
import type { BucketDomains, Notifications, ObjectStore } from "#objects";
import type { Routes, Schedules, Scripts } from "#scripts";
import type { Records, Zone, Zones } from "#zones";
import type { ZonePurge } from "./cache/shape.ts";
import type { TailSessions } from "./script-tails/sessions.ts";

/** The cores that handlers call. */
export interface ApiParts {
  readonly accounts: Accounts;
  readonly tokens: Tokens;
  readonly s3Keys: S3Keys;
  readonly authenticator: Authenticator;
  readonly zones: Zones;
  readonly records: Records;
  readonly objects: ObjectStore;
  readonly bucketDomains: BucketDomains;
  readonly notifications: Notifications;
  readonly scripts: Scripts;
  readonly routes: Routes;
  readonly schedules: Schedules;
  readonly tails: TailSessions;
  /** The caches of all nodes. */
  readonly purges: { purge(purges: readonly ZonePurge[]): Promise<void> };
  readonly certificates: Certificates;
  /** Where scripts answer beside their routes: `scripts.localhost:8080`. */
  readonly scriptsHost: string;
  /** Where the S3 API is: `127.0.0.1:9000`; empty where it is off. */
  readonly s3Host: string;
  /** The names of the platform's servers, which every zone is given. */
  readonly nameservers: readonly string[];
  readonly now: () => number;
}

/** `"/accounts/:account_id/files/*key"` has the parameters `account_id` and `key`. */
type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<Rest>
  : Path extends `${string}:${infer Name}` | `${string}*${infer Name}`
    ? Name
    : never;

export interface EndpointInput<Path extends string, Query, Body> {
  readonly params: Readonly<Record<ParamNames<Path>, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly identity: Identity;
  readonly headers: IncomingHttpHeaders;
  /** Whence it comes, through proxies that are trusted. */
  readonly address: string;
  /** For what streams. */
  readonly request: IncomingMessage;
  /** The zone that the path names. */
  readonly zone: Path extends `${string}:zone_id${string}` ? Zone : null;
}

/** What an endpoint that checks credentials itself is given. */
export interface OpenInput<Path extends string> {
  readonly params: Readonly<Record<ParamNames<Path>, string>>;
  readonly credentials: Credentials | null;
  readonly address: string;
}

interface Route<Path extends string> {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below `/client/v4`. Parameters that end in `_id` are ids of 32 hex digits. */
  readonly path: Path;
  /** One line for the reference page. */
  readonly summary: string;
}

interface Guarded<
  Path extends string,
  Q extends z.ZodType,
  B extends z.ZodType,
> extends Route<Path> {
  /** Checked for the account or zone that the path names, else for the user who asks. */
  readonly permission: Permission | "signed-in";
  readonly query?: Q;
  /** Query names that may stand more than once; their shape takes a list. */
  readonly repeats?: readonly string[];
  readonly body?: B;
  /** The body is a form; its fields are held against `body`. Files come as bytes. */
  readonly form?: boolean;
  /** The body is a script's upload, a form that may be as large as scripts may; `body` is a list of parts. */
  readonly upload?: boolean;
  /** JSON may call itself plain text, as wrangler's does. */
  readonly plainText?: boolean;
  handle(input: EndpointInput<Path, z.output<Q>, z.output<B>>, parts: ApiParts): unknown;
}

interface Open<Path extends string> extends Route<Path> {
  readonly permission: "open";
  handle(input: OpenInput<Path>, parts: ApiParts): unknown;
}

/** A declaration whose own types have been checked and put aside. */
export type Endpoint = (
  | Omit<Guarded<string, z.ZodType, z.ZodType>, "handle">
  | Omit<Open<string>, "handle">
) & { readonly handle: (input: never, parts: ApiParts) => unknown };

/** An operation that needs a permission, or anyone who is signed in. */
export function endpoint<
  const Path extends string,
  Q extends z.ZodType = z.ZodUndefined,
  B extends z.ZodType = z.ZodUndefined,
>(declaration: Guarded<Path, Q, B>): Endpoint {
  return declaration;
}

/** An operation that finds out by itself who asks, such as the check of a token. */
export function openEndpoint<const Path extends string>(declaration: Open<Path>): Endpoint {
  return declaration;
}
