import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "#kit/metrics.ts";
import { addCertificateMetrics } from "./certificate-metrics.ts";
import { blankCertificate, type Certificate } from "./model.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

test("certificates are counted by state, and the first to expire is told", () => {
  const known: Certificate[] = [];
  const add = (change: Partial<Certificate>) => {
    const identity = {
      id: `${known.length}`,
      zoneId: "z",
      type: "universal",
      createdAt: 0,
    } as const;
    known.push({ ...blankCertificate(identity), ...change });
  };
  const metrics = new Metrics();
  addCertificateMetrics(
    metrics,
    () => known,
    () => NOW,
  );
  assert.match(metrics.print(), /^selvedge_certificates_earliest_expiry_seconds \+Inf$/m);
  add({ chain: "pem", notAfter: NOW + 2 * HOUR });
  add({ chain: "pem", notAfter: NOW + HOUR, failures: 2 });
  add({ chain: "pem", notAfter: NOW - HOUR, failures: 9 });
  add({ failures: 1 });
  add({});
  const lines = metrics.print().split("\n");
  assert.deepEqual(
    lines.filter((line) => line.startsWith("selvedge_")),
    [
      'selvedge_certificates{state="active"} 2',
      'selvedge_certificates{state="expired"} 1',
      'selvedge_certificates{state="failed"} 1',
      'selvedge_certificates{state="pending_issuance"} 1',
      "selvedge_certificates_renewal_failing 1",
      `selvedge_certificates_earliest_expiry_seconds ${(NOW + HOUR) / 1000}`,
    ],
  );
});
