/** What `/metrics` shows of the nameserver. */
import { recordTypeByCode } from "#dns";
import type { Metrics } from "#kit/metrics.ts";
import { RCODE, TYPE } from "./codes.ts";
import type { OutsideNames } from "./outside/outside-names.ts";
import type { Publisher } from "./publisher.ts";
import type { ResponderSettings } from "./responder.ts";
import { readResponses } from "./response-counters.ts";
import type { Streams } from "./streams/streams.ts";
import type { UdpListener } from "./udp/threads.ts";

export interface MeasuredParts {
  readonly publisher: Publisher;
  readonly settings: ResponderSettings;
  readonly udp: UdpListener;
  readonly streams: Streams;
  readonly outside: OutsideNames;
}

/** A page with a line for each of a million zones helps nobody: the busiest are shown. */
const ZONES_SHOWN = 1_000;

const rcodeNames = new Map<number, string>(
  Object.entries(RCODE).map(([name, code]) => [code, name]),
);
const typeNames = new Map<number, string>(Object.entries(TYPE).map(([name, code]) => [code, name]));

export function addNameserverMetrics(metrics: Metrics, parts: MeasuredParts): void {
  const { publisher, settings, udp, streams, outside } = parts;
  const responses = () => readResponses(settings.counters);
  metrics.totals("selvedge_dns_responses_total", "Responses by RCODE.", ["rcode"], () =>
    counted(responses().rcodes, (code) => rcodeNames.get(code) ?? `RCODE${code}`),
  );
  metrics.totals("selvedge_dns_queries_total", "Answered queries by type.", ["type"], () => [
    ...counted(responses().types, typeName),
    [["other"], responses().otherTypes] as const,
  ]);
  const zoneTotals = new ZoneTotals(publisher);
  metrics.totals(
    "selvedge_dns_zone_queries_total",
    `Queries by zone; the busiest ${ZONES_SHOWN}.`,
    ["zone"],
    () => zoneTotals.busiest(),
  );
  metrics.total(
    "selvedge_dns_rate_limited_total",
    "Responses over the rate limit.",
    () => responses().limited,
  );
  metrics.total(
    "selvedge_dns_udp_received_total",
    "Datagrams received.",
    () => udp.counters().received,
  );
  metrics.totals("selvedge_dns_udp_dropped_total", "Datagrams without a reply.", ["reason"], () =>
    Object.entries(udp.counters().dropped).map(
      ([reason, count]) => [[snake(reason)], count] as const,
    ),
  );
  metrics.histogramOf(
    "selvedge_dns_udp_latency_seconds",
    "From the arrival of a batch of queries to the departure of its replies, for each query.",
    () => {
      const { boundsSeconds, counts, sumSeconds } = udp.counters().latency;
      return { bounds: boundsSeconds, counts, sum: sumSeconds };
    },
  );
  metrics.totals("selvedge_dns_thread_restarts_total", "Threads started anew.", ["threads"], () => [
    [["udp"], udp.counters().restarts],
    [["streams"], streams.counters().restarts],
  ]);
  metrics.gauge(
    "selvedge_dns_connections",
    "Open TCP and TLS connections.",
    () => streams.counters().connections,
  );
  metrics.totals(
    "selvedge_dns_connections_total",
    "TCP and TLS connections by fate.",
    ["fate"],
    () => {
      const { accepted, turnedAway, pushedOut, timedOut, failedHandshakes } = streams.counters();
      const fates = { accepted, turnedAway, pushedOut, timedOut, failedHandshakes };
      return Object.entries(fates).map(([fate, count]) => [[snake(fate)], count] as const);
    },
  );
  metrics.gauge(
    "selvedge_dns_outside_names",
    "Outside names that are known.",
    () => outside.counters().entries,
  );
  metrics.totals("selvedge_dns_outside_total", "Resolutions of outside names.", ["outcome"], () => {
    const { addresses, nodata, unreachable, networkError, busy, late, stale } = outside.counters();
    const outcomes = { addresses, nodata, unreachable, networkError, busy, late, stale };
    return Object.entries(outcomes).map(([outcome, count]) => [[snake(outcome)], count] as const);
  });
  metrics.gauge("selvedge_dns_zones", "Zones that are served.", () => publisher.zoneCount);
  metrics.gauge(
    "selvedge_dns_snapshot_bytes",
    "Memory of the compiled zones.",
    () => publisher.memory.used,
  );
}

function typeName(code: number): string {
  return recordTypeByCode(code)?.type ?? typeNames.get(code) ?? `TYPE${code}`;
}

/** Those that have been counted, by name. */
function counted(
  counts: Float64Array,
  nameOf: (code: number) => string,
): (readonly [readonly string[], number])[] {
  return [...counts.entries()]
    .filter(([, count]) => count > 0)
    .map(([code, count]) => [[nameOf(code)], count] as const);
}

/** What is known of one zone's queries. */
interface ZoneTotal {
  readonly name: string;
  /** As they were when last looked at. */
  readonly counters: readonly number[];
  readonly total: number;
}

/** Threads count a zone's queries in 32 bits; what they add up to is kept here. */
class ZoneTotals {
  readonly #publisher: Publisher;
  /** By id: a zone that is made anew under its old name starts from nothing. */
  #seen = new Map<string, ZoneTotal>();

  constructor(publisher: Publisher) {
    this.#publisher = publisher;
  }

  busiest(): (readonly [readonly string[], number])[] {
    const next = new Map<string, ZoneTotal>();
    for (const [{ id, name }, counters] of this.#publisher.queries()) {
      const before = this.#seen.get(id);
      // Differences, because the counters wrap around.
      const grown = counters.reduce(
        (sum, now, i) => sum + ((now - (before?.counters[i] ?? 0)) >>> 0),
        0,
      );
      if (grown > 0 || before !== undefined) {
        next.set(id, { name, counters, total: (before?.total ?? 0) + grown });
      }
    }
    this.#seen = next;
    return [...next.values()]
      .toSorted((a, b) => b.total - a.total)
      .slice(0, ZONES_SHOWN)
      .map(({ name, total }) => [[name], total] as const);
  }
}

function snake(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
