/** What a command is given: the server, the account, the terminal, and the user's answer to a question. */
import type { Readable } from "node:stream";
import type { StoreBucket } from "#binding";
import type { ObjectStore } from "#objects";
import { findAccount, type Account } from "./accounts.ts";
import { ApiClient } from "./api-client.ts";
import type { CommonOptions } from "./attach.ts";
import { CliFault, wrongUsage } from "./fault.ts";
import { Output, type OutputStream } from "./output.ts";

/** What the root lends to the commands: it is shared with the library `selvedge/store`. */
export interface ClientRoot {
  readonly version: string;
  /** The server's base URL, without a slash at its end. */
  serverUrl(given: string | undefined, environment: Environment): string;
  /** Throws when there are no credentials. */
  authHeaders(given: { readonly data?: string }, environment: Environment): Record<string, string>;
  connectStore(options: {
    readonly url: string;
    readonly data?: string;
    readonly fetch: typeof globalThis.fetch;
  }): { bucket(name: string): StoreBucket };
  /** The objects of a data folder on this machine, which `selvedge dev` has to itself. */
  openObjects(data: string): Promise<LocalObjects>;
}

export interface LocalObjects extends AsyncDisposable {
  readonly store: ObjectStore;
  readonly accountId: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the process has around it; tests bring their own. */
export interface Surroundings {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly env: Environment;
  readonly cwd: string;
}

export interface CommandContext extends Surroundings {
  readonly version: string;
  readonly out: Output;
  /** Aborted by Ctrl-C. What is then cleaned up has a moment; a second Ctrl-C does not wait. */
  readonly signal: AbortSignal;
  /** The management API. */
  readonly api: ApiClient;
  /** The server's base URL. */
  readonly serverUrl: string;
  /** The account that `--account` or the environment names, else the only one. */
  account(): Promise<Account>;
  /** Whether one was asked for: lists of everything then show only what is in it. */
  readonly accountIsNamed: boolean;
  /** Whether a token asks, which may see less than there is. */
  readonly usesToken: boolean;
  bucket(name: string): StoreBucket;
  /** The objects of a data folder on this machine. */
  openObjects(data: string): Promise<LocalObjects>;
  /** Whether there is somebody to ask. */
  readonly isInteractive: boolean;
  /** Goes on only when the user says yes. Without a terminal it is wrong usage: only `--yes` can say so. */
  confirm(question: string, otherwise: string): Promise<void>;
}

export function contextOf(
  root: ClientRoot,
  common: CommonOptions,
  around: Surroundings,
  signal: AbortSignal,
): CommandContext {
  const { env } = around;
  const out = new Output(around.stdout, around.stderr, { env, json: common.json });
  const data = common.data === undefined ? {} : { data: common.data };
  const wanted = common.account ?? (env["SELVEDGE_ACCOUNT_ID"] || undefined);
  const known: { account?: Promise<Account>; api?: ApiClient } = {};
  return {
    ...around,
    version: root.version,
    out,
    signal,
    // Read when first needed: a command that works without a server must not ask for credentials.
    get serverUrl() {
      return serverUrl(root, common.api, env);
    },
    get api() {
      known.api ??= new ApiClient({
        url: this.serverUrl,
        headers: credentials(root, data, env),
        fetch: globalThis.fetch,
        signal,
        userAgent: `selvedge/${root.version}`,
      });
      return known.api;
    },
    account() {
      known.account ??= findAccount(this.api, wanted);
      return known.account;
    },
    accountIsNamed: wanted !== undefined,
    get usesToken() {
      return "authorization" in credentials(root, data, env);
    },
    bucket(name) {
      credentials(root, data, env); // In our words, when there are none.
      const fetch: typeof globalThis.fetch = (url, init) =>
        globalThis.fetch(url, { ...init, signal });
      return root.connectStore({ url: this.serverUrl, ...data, fetch }).bucket(name);
    },
    openObjects: (data) => root.openObjects(data),
    isInteractive: isInteractive(around),
    confirm: (question, otherwise) => confirm(question, otherwise, around, signal),
  };
}

function serverUrl(root: ClientRoot, given: string | undefined, env: Environment): string {
  try {
    return root.serverUrl(given, env);
  } catch (error) {
    throw wrongUsage(`${(error as Error).message}. Set SELVEDGE_API or --api to one.`);
  }
}

function credentials(root: ClientRoot, data: { readonly data?: string }, env: Environment) {
  const { SELVEDGE_EMAIL: email, SELVEDGE_KEY: key, SELVEDGE_TOKEN: token } = env;
  if (data.data === undefined && email && !key && !token) {
    const message = `SELVEDGE_EMAIL is set, but SELVEDGE_KEY is not. Set both, or neither.`;
    throw new CliFault("not-allowed", message);
  }
  try {
    return root.authHeaders(data, env);
  } catch (error) {
    const why = ((error as Error).cause as Error | undefined)?.message ?? (error as Error).message;
    const ways =
      "set SELVEDGE_TOKEN, or SELVEDGE_EMAIL and SELVEDGE_KEY, or name the server's data folder with --data";
    throw new CliFault("not-allowed", `There are no credentials: ${ways} (${why}).`, {
      cause: error,
    });
  }
}

function isInteractive({ stdin, stderr }: Surroundings): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

async function confirm(
  question: string,
  otherwise: string,
  around: Surroundings,
  signal: AbortSignal,
): Promise<void> {
  if (!isInteractive(around)) {
    throw wrongUsage(`${question} There is no terminal to ask at: say so with --yes.`);
  }
  const { stdin, stderr } = around;
  const prompts = await import("@clack/prompts"); // Only here: it would slow down every start.
  const answer = await prompts.confirm({
    message: question,
    initialValue: false,
    input: stdin,
    output: stderr,
    signal,
  });
  if (prompts.isCancel(answer)) throw new Interrupted();
  // What was asked for has not been done, so that `… && next` must not go on.
  if (!answer) throw new CliFault("failed", otherwise);
}

/** The user has gone away from a question. */
export class Interrupted extends Error {}
