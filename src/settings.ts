/** Every setting of the server: its key, what it may hold, its default and its line of help. */
import { availableParallelism } from "node:os";
import { logLevels } from "#kit/log.ts";
import * as read from "#kit/readers.ts";
import { flag, key, type Settings } from "#kit/settings.ts";
import { limitSettings } from "./limit-settings.ts";

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
  "s3.domain": flag(
    "NAMES",
    "",
    read.listOf(read.hostname),
    "host names of the S3 API, under which buckets have theirs: BUCKET.NAME",
  ),
  "s3.trusted_proxies": flag(
    "RANGES",
    "",
    read.listOf(read.addressRange),
    "whose X-Forwarded-Host the S3 API believes; trusted_proxies when empty",
  ),
  "s3.threads": flag(
    "N",
    0,
    read.integer(0, 1024),
    "threads of the S3 API; 0 serves it on the main thread",
  ),
  edge: flag(HOST, "127.0.0.1:8080", read.listen, "HTTP for proxied names"),
  edge_tls: flag(HOST, "127.0.0.1:8443", read.listen, "HTTPS for proxied names"),
  edge_threads: flag(
    "N",
    // Only there can threads share an address.
    process.platform === "linux" ? Math.max(1, availableParallelism() - 1) : 1,
    read.integer(1, 1024),
    "threads of the edge; one core less than there are, at least 1",
  ),
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
  "events.webhooks": key(
    "RANGES",
    [],
    read.listOf(read.addressRange),
    "internal addresses that notifications of buckets may be sent to",
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

  ...limitSettings,
} as const satisfies Settings;
