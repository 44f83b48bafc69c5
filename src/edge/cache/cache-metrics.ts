/** What `/metrics` shows of the cache: the counts of all threads together, and what is on disk. */
import type { Metrics } from "#kit/metrics.ts";
import { CACHE_STATUSES, type CacheCounts } from "./cache-counts.ts";
import type { DiskLedger } from "./disk-ledger.ts";

export function addCacheMetrics(
  metrics: Metrics,
  counts: readonly CacheCounts[],
  disk: Pick<DiskLedger, "octets" | "evicted">,
): void {
  const sum = (read: (one: CacheCounts) => number) =>
    counts.reduce((total, one) => total + read(one), 0);
  metrics.totals(
    "selvedge_cache_requests_total",
    "Requests for zones whose cache is on, by what it did.",
    ["status"],
    () =>
      CACHE_STATUSES.map((status) => [[status.toLowerCase()], sum((one) => one.requests(status))]),
  );
  metrics.gauges("selvedge_cache_bytes", "What the cache holds.", ["place"], () => [
    [["memory"], sum(({ heldOctets }) => heldOctets)],
    [["disk"], disk.octets],
  ]);
  metrics.totals(
    "selvedge_cache_evictions_total",
    "Responses that made room for others.",
    ["place"],
    () => [
      [["memory"], sum(({ evicted }) => evicted)],
      [["disk"], disk.evicted],
    ],
  );
}
