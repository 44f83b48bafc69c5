/** Reads the settings from flags, environment and file into the config that the platform starts from. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { FirstCredentials } from "#accounts";
import type { HttpLimits } from "#http";
import type { HostPort } from "#kit/address.ts";
import { closest } from "#kit/closest.ts";
import type { LogFormat } from "#kit/log.ts";
import { readSettings, SettingsFault, type Values, variableOf } from "#kit/settings.ts";
import { settings } from "./settings.ts";

const PREFIX = "SELVEDGE_";
const DEFAULT_FILE = "server.toml";

type Given = Values<typeof settings>;

export interface Config {
  readonly dataDir: string;
  readonly listen: {
    readonly api: HostPort | null;
    readonly dns: HostPort | null;
    readonly dnsTls: HostPort | null;
    readonly s3: HostPort | null;
    readonly edge: HostPort | null;
    readonly edgeTls: HostPort | null;
  };
  readonly dnsThreads: number;
  readonly edgeThreads: number;
  readonly dns: {
    readonly identity: string | null;
    readonly version: string | null;
    readonly exempt: readonly string[];
    readonly rates: { readonly answers: number; readonly others: number };
    readonly connections: number;
    readonly connectionsPerSource: number;
    /** Files for DNS over TLS; null has a certificate made. */
    readonly certificate: { readonly certificate: string; readonly key: string } | null;
  };
  /** Where certificates come from; null is nowhere. */
  readonly acme: {
    readonly directory: string;
    readonly email: string | null;
    readonly caFile: string | null;
    readonly externalAccount: { readonly kid: string; readonly hmacKey: string } | null;
  } | null;
  readonly databaseUrl: string;
  readonly blobsUrl: string;
  readonly log: { readonly format: LogFormat; readonly level: Given["log_level"] };
  readonly nameservers: readonly string[];
  readonly edgeAddresses: readonly string[];
  readonly platformNetworks: readonly string[];
  readonly resolvers: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly s3: {
    readonly threads: number;
    readonly domains: readonly string[];
    readonly trustedProxies: readonly string[];
  };
  readonly httpLimits: HttpLimits;
  readonly apiBodyBytes: number;
  readonly authFailures: { readonly quota: number; readonly windowSeconds: number };
  readonly requests: { readonly quota: number; readonly windowSeconds: number };
  readonly tokensPerOwner: number;
  readonly recordsPerZone: number;
  readonly cache: { readonly memoryMib: number; readonly diskMib: number };
  /** Internal networks where origins may be. */
  readonly origins: readonly string[];
  /** Internal networks where webhooks may be. */
  readonly webhooks: readonly string[];
  /** How long an origin may take to begin its answer. */
  readonly originSeconds: number;
  readonly scriptsDomain: string;
  readonly scripts: {
    readonly outbound: readonly string[];
    readonly bytes: number;
    readonly perAccount: number;
    readonly processes: number;
    readonly memoryMib: number;
    readonly cpuSeconds: number;
    readonly idleSeconds: number;
  };
  readonly firstCredentials: Partial<FirstCredentials>;
  readonly secretKey: string | null;
  /** What the operator should know of and the start does not fail for. */
  readonly warnings: readonly string[];
}

export interface ConfigSources {
  /** Given flags by setting key. */
  readonly flags: Readonly<Record<string, string>>;
  /** `--config`; null looks for `server.toml` here. */
  readonly file: string | null;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly onTerminal: boolean;
}

export function readConfig(sources: ConfigSources): Config {
  const { environment } = sources;
  const file = readConfigFile(sources.file ?? (environment[`${PREFIX}CONFIG`] || null));
  const given = readSettings(settings, {
    flags: sources.flags,
    environment,
    environmentPrefix: PREFIX,
    file,
  });
  if (given.dns === null && given.dns_tls !== null) {
    throw new SettingsFault("Cannot use --dns-tls without --dns: it answers what --dns answers.");
  }
  const auto: LogFormat = sources.onTerminal ? "pretty" : "json";
  return {
    dataDir: resolve(given.data),
    listen: {
      api: given.api,
      dns: given.dns,
      dnsTls: given.dns_tls,
      s3: given.s3,
      edge: given.edge,
      edgeTls: given.edge_tls,
    },
    dnsThreads: given.dns_threads,
    edgeThreads: given.edge_threads,
    dns: {
      identity: given["dns.identity"],
      version: given["dns.version"],
      exempt: given["dns.exempt"],
      rates: {
        answers: given["limits.dns_answers_per_second"],
        others: given["limits.dns_errors_per_second"],
      },
      connections: given["limits.dns_connections"],
      connectionsPerSource: given["limits.dns_connections_per_source"],
      certificate: dnsCertificateOf(given),
    },
    acme: acmeOf(given),
    databaseUrl: given.database,
    blobsUrl: given.blobs,
    log: { format: given.log === "auto" ? auto : given.log, level: given.log_level },
    nameservers: given.nameservers,
    edgeAddresses: given["edge.addresses"],
    platformNetworks: given["platform.networks"],
    resolvers: given.resolvers,
    trustedProxies: given.trusted_proxies,
    s3: {
      threads: given["s3.threads"],
      domains: given["s3.domain"],
      trustedProxies:
        given["s3.trusted_proxies"].length > 0
          ? given["s3.trusted_proxies"]
          : given.trusted_proxies,
    },
    httpLimits: httpLimitsOf(given),
    apiBodyBytes: given["limits.api_body_bytes"],
    authFailures: {
      quota: given["limits.auth_failures"],
      windowSeconds: given["limits.auth_failure_window_seconds"],
    },
    requests: {
      quota: given["limits.requests"],
      windowSeconds: given["limits.request_window_seconds"],
    },
    tokensPerOwner: given["limits.tokens_per_owner"],
    recordsPerZone: given["limits.records_per_zone"],
    cache: {
      memoryMib: given["edge.cache_memory_mib"],
      diskMib: given["edge.cache_disk_mib"],
    },
    origins: given["edge.origins"],
    webhooks: given["events.webhooks"],
    originSeconds: given["limits.origin_seconds"],
    scriptsDomain: given["edge.scripts_domain"],
    scripts: {
      outbound: given["scripts.outbound"],
      bytes: given["limits.script_bytes"],
      perAccount: given["limits.scripts_per_account"],
      processes: given["limits.script_processes"],
      memoryMib: given["limits.script_memory_mib"],
      cpuSeconds: given["limits.script_cpu_seconds"],
      idleSeconds: given["limits.script_idle_seconds"],
    },
    firstCredentials: firstCredentialsOf(environment),
    secretKey: environment[`${PREFIX}SECRET_KEY`] || null,
    warnings: strangeVariables(environment),
  };
}

/** A certificate is of no use without its key, nor the key without it. */
function dnsCertificateOf({ dns_tls_certificate: certificate, dns_tls_key: key }: Given) {
  if (certificate !== null && key !== null)
    return { certificate: resolve(certificate), key: resolve(key) };
  if (certificate === null && key === null) return null;
  const [given, missing] = key === null ? ["certificate", "key"] : ["key", "certificate"];
  throw new SettingsFault(`Cannot use dns_tls_${given} without dns_tls_${missing}.`);
}

function acmeOf(given: Given): Config["acme"] {
  const directory = given["acme.directory"];
  const [kid, hmacKey] = [given["acme.eab_kid"], given["acme.eab_hmac_key"]];
  if ((kid === null) !== (hmacKey === null)) {
    const [there, missing] = kid === null ? ["hmac_key", "kid"] : ["kid", "hmac_key"];
    throw new SettingsFault(`Cannot use acme.eab_${there} without acme.eab_${missing}.`);
  }
  if (directory === null) return null;
  const caFile = given["acme.ca_file"];
  return {
    directory,
    email: given["acme.email"],
    caFile: caFile && resolve(caFile),
    externalAccount: kid === null || hmacKey === null ? null : { kid, hmacKey },
  };
}

function httpLimitsOf(given: Given): HttpLimits {
  return {
    headerBytes: given["limits.header_bytes"],
    headerSeconds: given["limits.header_seconds"],
    requestSeconds: given["limits.request_seconds"],
    idleSeconds: given["limits.idle_seconds"],
    drainSeconds: given["limits.drain_seconds"],
    connections: given["limits.connections"],
    connectionsPerSource: given["limits.connections_per_source"],
  };
}

function readConfigFile(named: string | null): { path: string; text: string } | null {
  const path = named ?? DEFAULT_FILE;
  try {
    return { path, text: readFileSync(path, "utf8") };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (named === null && code === "ENOENT") return null;
    const why = code === "ENOENT" ? "there is no such file" : message;
    throw new SettingsFault(`Cannot read the config file ${path}: ${why}.`, { cause });
  }
}

/** Variables that only the first start reads, and where each goes. */
const bootstrapVariables = {
  email: `${PREFIX}BOOTSTRAP_EMAIL`,
  key: `${PREFIX}BOOTSTRAP_KEY`,
  s3_access_key_id: `${PREFIX}BOOTSTRAP_S3_ACCESS_KEY_ID`,
  s3_secret_access_key: `${PREFIX}BOOTSTRAP_S3_SECRET_ACCESS_KEY`,
} as const satisfies Record<keyof FirstCredentials, string>;

/** What each must look like to be usable in a header and by S3 clients. */
const bootstrapForms: Record<keyof FirstCredentials, readonly [form: RegExp, wanted: string]> = {
  email: [/^[^\s@]{1,64}@[^\s@]{1,255}$/, "an e-mail address"],
  key: [/^[\x21-\x7e]{8,256}$/, "8 to 256 visible ASCII characters"],
  s3_access_key_id: [
    /^[A-Za-z0-9_.-]{3,128}$/,
    "3 to 128 letters, digits, dots, hyphens or underscores",
  ],
  s3_secret_access_key: [/^[\x21-\x7e]{8,128}$/, "8 to 128 visible ASCII characters"],
};

function firstCredentialsOf(environment: ConfigSources["environment"]): Partial<FirstCredentials> {
  const wishes: Record<string, string> = {};
  for (const [name, variable] of Object.entries(bootstrapVariables)) {
    const value = environment[variable];
    if (value === undefined || value === "") continue;
    const [form, wanted] = bootstrapForms[name as keyof FirstCredentials];
    // The value is a secret and stays out of the sentence.
    if (!form.test(value)) throw new SettingsFault(`Cannot use ${variable}: expected ${wanted}.`);
    wishes[name] = value;
  }
  return wishes;
}

/** Read by client commands and by the parts that need them, or made for other uses; none is a mistake. */
const otherVariables = [
  "CONFIG",
  "SECRET_KEY",
  "ACCOUNT_ID",
  "EMAIL",
  "KEY",
  "TOKEN",
  "BLOBS_ACCESS_KEY_ID",
  "BLOBS_SECRET_ACCESS_KEY",
  "BLOBS_SESSION_TOKEN",
].map((name) => PREFIX + name);

/**
 * A mistyped variable would be ignored in silence. It cannot stop the start, though: clusters set
 * variables of their own after a service's name, such as SELVEDGE_SERVICE_HOST.
 */
function strangeVariables(environment: ConfigSources["environment"]): string[] {
  const known = new Set<string>([
    ...Object.keys(settings).map((name) => variableOf(PREFIX, name)),
    ...Object.values(bootstrapVariables),
    ...otherVariables,
  ]);
  return Object.keys(environment)
    .filter(
      (name) => name.startsWith(PREFIX) && !known.has(name) && !name.startsWith(`${PREFIX}TEST_`),
    )
    .map((name) => {
      const guess = closest(name, known);
      return `${name} is not a setting${guess === null ? "" : `; did you mean ${guess}?`}`;
    });
}
