/** What the server grants, each a key under `limits`. */
import * as read from "#kit/readers.ts";
import { key, type Settings } from "#kit/settings.ts";

const MINUTE = 60;
const DAY = 24 * 60 * MINUTE;

export const limitSettings = {
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
  "limits.origin_seconds": key(
    "SECONDS",
    100,
    read.integer(1, DAY),
    "time that an origin has to begin its answer",
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
