/** Reads `s3://BUCKET/PREFIX?endpoint=URL&region=REGION&style=path`, and tells where a key lies. */
import { closest } from "#kit/closest.ts";
import { redactUrl } from "#kit/redact.ts";
import { SettingsFault } from "#kit/settings.ts";
import { escapePath } from "#kit/sigv4.ts";

export interface S3Location {
  /** Scheme, host and port. */
  readonly endpoint: URL;
  readonly region: string;
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
  /** Is the bucket a part of the host name, and not of the path? Some services take nothing else. */
  readonly isVirtualHost: boolean;
}

const DEFAULT_REGION = "us-east-1";
const PARAMETERS = ["endpoint", "region", "style"];

/** Names as S3 has them, with what others allow too: capitals and underscores. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/;
const REGION = /^[A-Za-z0-9-]{1,64}$/;
/** Characters that need no escape, so that no server and no proxy reads them in another way. */
const PREFIX = /^[A-Za-z0-9._-]{1,64}(?:\/[A-Za-z0-9._-]{1,64}){0,7}$/;

export function parseS3Url(text: string): S3Location {
  const inVain = (why: string) =>
    new SettingsFault(`Cannot use --blobs ${redactUrl(text)}: ${why}.`);
  if (!URL.canParse(text)) throw inVain("it is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") {
    throw inVain(
      "keys do not belong into it; set SELVEDGE_BLOBS_ACCESS_KEY_ID and SELVEDGE_BLOBS_SECRET_ACCESS_KEY",
    );
  }
  for (const name of url.searchParams.keys()) {
    if (PARAMETERS.includes(name)) continue;
    const guess = closest(name, PARAMETERS);
    const meant = guess === null ? "" : ` (did you mean ${guess}?)`;
    throw inVain(`it has no "${name}"${meant}, only ${PARAMETERS.join(", ")}`);
  }
  if (url.port !== "") throw inVain("a port belongs into endpoint=");
  if (!BUCKET.test(url.hostname)) throw inVain(`"${url.hostname}" is not the name of a bucket`);
  const prefix = url.pathname.replace(/^\//, "").replace(/\/$/, "");
  if (prefix !== "" && !PREFIX.test(prefix)) throw inVain(`"${prefix}" is not a usable prefix`);
  const region = url.searchParams.get("region") ?? DEFAULT_REGION;
  if (!REGION.test(region)) throw inVain(`"${region}" is not a region`);
  const style = url.searchParams.get("style") ?? "path";
  if (style !== "path" && style !== "virtual") throw inVain("style is path or virtual");
  const endpoint = url.searchParams.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  if (!isEndpoint(endpoint))
    throw inVain(`"${redactUrl(endpoint)}" is not http://HOST:PORT or https://…`);
  return {
    endpoint: new URL(endpoint),
    region,
    bucket: url.hostname,
    prefix: prefix === "" ? "" : `${prefix}/`,
    isVirtualHost: style === "virtual",
  };
}

function isEndpoint(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, host, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && host !== "" && href === `${origin}/`;
}

/** The host and the escaped path of a key, or of the bucket itself for an empty one. */
export function addressOf(location: S3Location, key: string): { host: string; path: string } {
  const { endpoint, bucket, isVirtualHost } = location;
  return isVirtualHost
    ? { host: `${bucket}.${endpoint.host}`, path: escapePath(`/${key}`) }
    : { host: endpoint.host, path: escapePath(`/${bucket}${key === "" ? "" : `/${key}`}`) };
}
