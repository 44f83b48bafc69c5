/**
 * The proxies of Debian that our edge is measured beside, each with one worker, no log of requests, and
 * connections kept to clients and to the origin.
 */
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { PATH } from "./dns-peers.ts";

export interface EdgePeer {
  readonly key: string;
  /** Debian's package. */
  readonly packages: string;
  readonly program: string;
  /** Its name with its version; null when it is not installed. */
  name(): string | null;
  /** Writes its configuration into the folder; returns the arguments that run it in the foreground. */
  configure(at: EdgeSite): readonly string[];
}

export interface EdgeSite {
  readonly folder: string;
  readonly http: number;
  readonly https: number;
  /** As `HOST:PORT`. */
  readonly origin: string;
  /** The name whose answers are cached; those of any other are not. */
  readonly cachedHost: string;
  /** In PEM: the certificate and its key. */
  readonly certificate: string;
  readonly privateKey: string;
}

/** Room for those held idle, and so much more that nginx, with a sixteenth left, closes none of them. */
const CONNECTIONS = 12_000;
/** A connection that ends after a number of requests would be part of the figure. */
const ENDLESS = 1_000_000_000;
const CACHE_MIB = 64;
const LARGEST_OCTETS = 2 * 1024 ** 2;

/** With its version; null when it is not installed. */
export function nginxName(): string | null {
  return versionOf("nginx", "-v");
}

const nginx: EdgePeer = {
  key: "nginx",
  packages: "nginx-light",
  program: "nginx",
  name: nginxName,
  configure({ folder, http, https, origin, cachedHost, certificate, privateKey }) {
    const listen = [`listen 127.0.0.1:${http}`, `listen 127.0.0.1:${https} ssl http2`];
    const config = write(folder, "nginx.conf", [
      "daemon off; worker_processes 1; error_log stderr crit;",
      ...(process.getuid?.() === 0 ? ["user root;"] : []), // Another could not read the folder.
      `pid ${folder}/nginx.pid;`,
      `worker_rlimit_nofile ${CONNECTIONS + 1000};`,
      `events { worker_connections ${CONNECTIONS}; }`,
      "http {",
      "access_log off; keepalive_timeout 120s;",
      `keepalive_requests ${ENDLESS};`,
      `client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;`,
      "proxy_max_temp_file_size 0;", // Passed on as it comes, not written to disk meanwhile.
      `proxy_cache_path ${folder}/cache keys_zone=edge:8m max_size=${CACHE_MIB}m;`,
      "ssl_protocols TLSv1.2 TLSv1.3;", // Before 1.23.4 the latter is off by default.
      `ssl_certificate ${write(folder, "tls.crt", [certificate])};`,
      `ssl_certificate_key ${write(folder, "tls.key", [privateKey])};`,
      `upstream origin { server ${origin}; keepalive 64; keepalive_requests ${ENDLESS}; }`,
      'proxy_http_version 1.1; proxy_set_header Connection "";',
      "proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;",
      "proxy_set_header X-Forwarded-Proto $scheme;",
      `server { ${listen.map((line) => `${line} default_server; `).join("")}`,
      "location / { proxy_pass http://origin; } }",
      `server { ${listen.map((line) => `${line}; `).join("")} server_name ${cachedHost};`,
      "location / { proxy_pass http://origin; proxy_cache edge; } }",
      "}",
    ]);
    return ["-p", folder, "-c", config, "-e", "stderr"];
  },
};

const haproxy: EdgePeer = {
  key: "haproxy",
  packages: "haproxy",
  program: "haproxy",
  name: () => versionOf("HAProxy", "-v"),
  configure({ folder, http, https, origin, cachedHost, certificate, privateKey }) {
    const pem = write(folder, "tls.pem", [certificate, privateKey]);
    const config = write(folder, "haproxy.cfg", [
      "global",
      "  nbthread 1",
      "  no strict-limits", // It wants two files a connection, which a user may not have.
      `  maxconn ${CONNECTIONS}`,
      "defaults",
      "  mode http",
      "  option forwardfor",
      "  timeout connect 5s",
      "  timeout client 120s",
      "  timeout server 120s",
      "  http-reuse always",
      "cache edge",
      `  total-max-size ${CACHE_MIB}`,
      `  max-object-size ${LARGEST_OCTETS}`,
      "  max-age 3600",
      "frontend edge",
      `  bind 127.0.0.1:${http}`,
      `  bind 127.0.0.1:${https} ssl crt ${pem} alpn h2,http/1.1`,
      "  http-request set-header X-Forwarded-Proto https if { ssl_fc }",
      `  use_backend cached if { hdr(host) -m beg ${cachedHost} }`,
      "  default_backend plain",
      "backend plain",
      `  server origin ${origin}`,
      "backend cached",
      "  http-request cache-use edge",
      "  http-response cache-store edge",
      `  server origin ${origin}`,
    ]);
    return ["-db", "-f", config];
  },
};

export const edgePeers: readonly EdgePeer[] = [nginx, haproxy];

function versionOf(name: string, flag: string): string | null {
  const { status, stdout, stderr } = spawnSync(name.toLowerCase(), [flag], { env: { PATH } });
  if (status === null) return null;
  const version = /version:? (?:nginx\/)?(\d+(?:\.\d+)*)/.exec(
    `${String(stdout)}${String(stderr)}`,
  );
  return version === null ? name : `${name} ${version[1]}`;
}

function write(folder: string, file: string, lines: readonly string[]): string {
  const path = join(folder, file);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}
