/** What `/metrics` shows of certificates. */
import type { Metrics } from "#kit/metrics.ts";
import { type Certificate, type CertificateState, stateOf } from "./model.ts";

const STATES = [
  "active",
  "expired",
  "failed",
  "pending_issuance",
] as const satisfies CertificateState[];

/** A line for each certificate would be too many: they are counted, and the one that ends first is told. */
export function addCertificateMetrics(
  metrics: Metrics,
  known: () => Iterable<Certificate>,
  now: () => number,
): void {
  metrics.gauges("selvedge_certificates", "Certificates of zones by state.", ["state"], () => {
    const states = Map.groupBy(known(), (one) => stateOf(one, now()));
    return STATES.map((state) => [[state], states.get(state)?.length ?? 0] as const);
  });
  const active = () => [...known()].filter((one) => stateOf(one, now()) === "active");
  metrics.gauge(
    "selvedge_certificates_renewal_failing",
    "Active certificates whose last renewal failed.",
    () => active().filter(({ failures }) => failures > 0).length,
  );
  metrics.gauge(
    "selvedge_certificates_earliest_expiry_seconds",
    "When the first of the active certificates expires, Unix time; +Inf without any.",
    () => active().reduce((first, { notAfter }) => Math.min(first, notAfter), Infinity) / 1000,
  );
}
