/** Every setting of the server: its key, what it may hold, its default and its line of help. */
import { availableParallelism } from "node:os";
import { logLevels } from "#kit/log.ts";
import * as read from "#kit/readers.ts";
import type { Setting, Settings } from "#kit/settings.ts";

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

/** A setting with a flag of its own. */
function flag<T>(
  value: string,
  fallback: string | number,
  reader: (raw: unknown) => T,
  help: string,
) {
  return { value, fallback, read: reader, help, flag: true } satisfies Setting<T>;
}

/** A setting for the file or the environment. */
function key<T>(
  value: string,
  fallback: string | number | readonly string[],
  reader: (raw: unknown) => T,
  help: string,
) {
  return { value, fallback, read: reader, help, flag: false } satisfies Setting<T>;
}

const HOST = "HOST:PORT";

/** By key. A dot is a table in the file, a dash in a flag, an underscore in the environment. */
export const settings = {
  data: flag("DIR", "./selvedge-data", read.text, "database, blobs, scripts, credentials"),
  api: flag(
    HOST,
    "127.0.0.1:8700",
    read.listen,
    "management API, /store/v1 for programs, /healthz, /readyz, /metrics",
  ),
  dns: flag(HOST, "127.0.0.1:1053", read.listen, "DNS over UDP and TCP"),
  dns_tls: flag(HOST, "off", read.listen, "DNS over TLS"),
  dns_threads: flag(
    "N",
    Math.max(1, availableParallelism() - 1),
    read.integer(1, 1024),
    "query threads; one core less than there are, at least 1",
  ),
  s3: flag(HOST, "127.0.0.1:9000", read.listen, "S3 API"),
  edge: flag(HOST, "127.0.0.1:8080", read.listen, "HTTP for proxied names"),
  edge_tls: flag(HOST, "127.0.0.1:8443", read.listen, "HTTPS for proxied names"),
  database: flag(
    "URL",
    "sqlite:",
    read.url("sqlite", "postgres", "postgresql"),
    "sqlite:PATH or postgres://…",
  ),
  blobs: flag(
    "URL",
    "file:",
    read.url("file", "s3"),
    "file:DIR or s3://BUCKET/PREFIX?endpoint=…&region=…",
  ),
  log: flag(
    "FORMAT",
    "auto",
    read.oneOf("auto", "pretty", "json"),
    "pretty, json, or auto: pretty on a terminal",
  ),

  log_level: key("LEVEL", "info", read.oneOf(...logLevels), "the least that is logged"),
  nameservers: key(
    "NAMES",
    ["ns1.selvedge.test", "ns2.selvedge.test"],
    read.someOf(read.hostname),
    "names given to zones",
  ),
  "edge.addresses": key(
    "ADDRESSES",
    [],
    read.listOf(read.ipAddress),
    "what proxied names answer; the address of --edge when empty",
  ),
  "edge.scripts_domain": key(
    "NAME",
    "scripts.localhost",
    read.hostname,
    "scripts answer under it as NAME.SUBDOMAIN, beside their routes",
  ),
  "edge.cache_memory_mib": key(
    "MIB",
    64,
    read.integer(1, 1024 ** 2),
    "responses of origins kept in memory, for zones whose cache_level is on",
  ),
  "edge.cache_disk_mib": key(
    "MIB",
    1024,
    read.integer(0, 1024 ** 3),
    "responses of origins kept in the data folder; 0 keeps none there",
  ),
  "edge.origins": key(
    "RANGES",
    [],
    read.listOf(read.addressRange),
    "internal addresses where origins of proxied names may be",
  ),
  "scripts.outbound": key(
    "RANGES",
    [],
    read.listOf(read.addressRange),
    "addresses that scripts may fetch from beside public ones",
  ),
  "platform.networks": key(
    "RANGES",
    [],
    read.listOf(read.addressRange),
    "addresses that A and AAAA records may not hold",
  ),
  resolvers: key(
    "ADDRESSES",
    [],
    read.listOf(read.serverAddress),
    "for flattening and origins; the system's when empty",
  ),
  dns_tls_certificate: key(
    "FILE",
    "off",
    read.textOrOff,
    "for DNS over TLS, in PEM, with its chain; off is one of its own in the data folder",
  ),
  dns_tls_key: key("FILE", "off", read.textOrOff, "the key of that certificate, in PEM"),
  "acme.directory": key(
    "URL",
    "off",
    read.orOff(read.url("https")),
    "the ACME authority that certificates of zones come from",
  ),
  "acme.email": key("ADDRESS", "off", read.textOrOff, "whom the authority may write to"),
  "acme.ca_file": key(
    "FILE",
    "off",
    read.textOrOff,
    "roots in PEM that the authority's own HTTPS is trusted by, beside the usual ones",
  ),
  "acme.eab_kid": key(
    "TEXT",
    "off",
    read.textOrOff,
    "the account that the authority knows already",
  ),
  "acme.eab_hmac_key": key("BASE64URL", "off", read.textOrOff, "the key of that account"),
  "dns.identity": key(
    "TEXT",
    "off",
    read.textOrOff,
    "what NSID and hostname.bind tell of this node",
  ),
  "dns.version": key("TEXT", "off", read.textOrOff, "what version.bind tells"),
  "dns.exempt": key(
    "RANGES",
    ["127.0.0.0/8", "::1"],
    read.listOf(read.addressRange),
    "clients of DNS without rate and connection limits",
  ),
  trusted_proxies: key(
    "RANGES",
    [],
    read.listOf(read.addressRange),
    "whose X-Forwarded-For is believed",
  ),

  "limits.api_body_bytes": key(
    "BYTES",
    1024 ** 2,
    read.integer(1024, 1024 ** 3),
    "largest JSON body",
  ),
  "limits.header_bytes": key(
    "BYTES",
    16 * 1024,
    read.integer(1024, 1024 ** 2),
    "largest request head",
  ),
  "limits.header_seconds": key(
    "SECONDS",
    20,
    read.integer(1, DAY),
    "time for a request's head to arrive",
  ),
  "limits.request_seconds": key(
    "SECONDS",
    5 * MINUTE,
    read.integer(1, DAY),
    "time for a request to arrive; a body that keeps moving has more",
  ),
  "limits.idle_seconds": key(
    "SECONDS",
    65,
    read.integer(1, DAY),
    "life of a connection on which nothing moves",
  ),
  "limits.drain_seconds": key(
    "SECONDS",
    30,
    read.integer(0, DAY),
    "time that requests have to finish at a stop",
  ),
  "limits.connections": key(
    "N",
    10_000,
    read.integer(1, 1_000_000),
    "open connections to a listener",
  ),
  "limits.connections_per_source": key(
    "N",
    1_000,
    read.integer(1, 1_000_000),
    "of these, from one address (IPv6: one /64)",
  ),
  "limits.dns_answers_per_second": key(
    "N",
    100,
    read.integer(0, 1_000_000),
    "over UDP to one network (/24, /56) for one name; 0 is no limit",
  ),
  "limits.dns_errors_per_second": key(
    "N",
    20,
    read.integer(0, 1_000_000),
    "the same for errors, referrals and names that do not exist",
  ),
  "limits.dns_connections": key(
    "N",
    2_000,
    read.integer(1, 1_000_000),
    "open DNS connections over TCP and TLS",
  ),
  "limits.dns_connections_per_source": key(
    "N",
    20,
    read.integer(1, 1_000_000),
    "of these, from one address (IPv6: one /64)",
  ),
  "limits.auth_failures": key(
    "N",
    100,
    read.integer(0, 1_000_000_000),
    "failed logins from one address in a window; 0 is no limit",
  ),
  "limits.auth_failure_window_seconds": key("SECONDS", MINUTE, read.integer(1, DAY), "that window"),
  "limits.requests": key(
    "N",
    0,
    read.integer(0, 1_000_000_000),
    "API requests of one user, key and tokens together, in a window; 0 is no limit",
  ),
  "limits.request_window_seconds": key("SECONDS", 5 * MINUTE, read.integer(1, DAY), "that window"),
  "limits.tokens_per_owner": key(
    "N",
    10_000,
    read.integer(1, 1_000_000),
    "API tokens of a user or of an account",
  ),
  "limits.records_per_zone": key(
    "N",
    1_000_000,
    read.integer(1, 100_000_000),
    "DNS records of a zone",
  ),
  "limits.scripts_per_account": key(
    "N",
    500,
    read.integer(1, 100_000),
    "edge scripts of an account",
  ),
  "limits.script_bytes": key(
    "BYTES",
    10 * 1024 ** 2,
    read.integer(1024, 256 * 1024 ** 2),
    "all modules of a script together",
  ),
  "limits.script_memory_mib": key(
    "MIB",
    128,
    read.integer(32, 1024 ** 2),
    "memory that a script's process may take beyond the runtime's own",
  ),
  "limits.script_cpu_seconds": key(
    "SECONDS",
    10,
    read.integer(1, DAY),
    "CPU time in which a script must let others of its requests run",
  ),
  "limits.script_idle_seconds": key(
    "SECONDS",
    5 * MINUTE,
    read.integer(1, DAY),
    "a script that nobody asked for so long is stopped until it is asked for",
  ),
  "limits.script_processes": key(
    "N",
    200,
    read.integer(1, 10_000),
    "scripts that run at one time, a process each",
  ),
} as const satisfies Settings;
