/** Where a client finds the server, and what it shows there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface StoreCredentials {
  /** Of the account whose `key` this is; the first account's by default. */
  readonly email?: string;
  readonly key?: string;
  /** An API token. */
  readonly token?: string;
  /** A data folder whose `credentials.json` has the key; `./selvedge-data` by default. */
  readonly data?: string;
}

const DEFAULT_API = "http://127.0.0.1:8700";
const FIRST_EMAIL = "admin@selvedge.local";
const DEFAULT_DATA = "./selvedge-data";

type Environment = Readonly<Record<string, string | undefined>>;

/** The server's base URL. Takes `host:port` and the base URL of the API, too: both are what people have at hand. */
export function serverUrl(given: string | undefined, environment: Environment): string {
  const asked = given ?? (environment["SELVEDGE_API"] || DEFAULT_API);
  const url = /^https?:\/\//i.test(asked) ? asked : `http://${asked}`;
  if (!URL.canParse(url)) throw new TypeError(`"${asked}" is not the URL of a server`);
  return url.replace(/\/(?:client\/v4\/?)?$/, "");
}

export function authHeaders(
  given: StoreCredentials,
  environment: Environment,
): Record<string, string> {
  const isGiven = given.token !== undefined || given.key !== undefined;
  if (isGiven) return headersOf(given);
  const { SELVEDGE_TOKEN: token, SELVEDGE_EMAIL: email, SELVEDGE_KEY: key } = environment;
  if (given.data === undefined && token) return headersOf({ token });
  if (given.data === undefined && key) return headersOf({ key, ...(email && { email }) });
  return headersOf(fromFolder(given.data ?? (environment["SELVEDGE_DATA"] || DEFAULT_DATA)));
}

function headersOf({ token, email = FIRST_EMAIL, key = "" }: StoreCredentials) {
  if (token !== undefined) return { authorization: `Bearer ${token}` };
  return { "x-auth-email": email, "x-auth-key": key };
}

function fromFolder(data: string): StoreCredentials {
  const path = join(data, "credentials.json");
  try {
    const { email, key } = JSON.parse(readFileSync(path, "utf8")) as Required<StoreCredentials>;
    return { email, key };
  } catch (cause) {
    const ways = "give a key or a token, set SELVEDGE_KEY or SELVEDGE_TOKEN, or name a data folder";
    const why = (cause as Error).message;
    throw new Error(`There are no credentials for the store: ${ways} (${path}: ${why})`, { cause });
  }
}
