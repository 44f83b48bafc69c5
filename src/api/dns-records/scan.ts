/** Scans find records on another provider; here there is none to ask, and clients are told so. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";

export const scanRecords = [
  endpoint({
    method: "POST",
    path: "/zones/:zone_id/dns_records/scan",
    summary: "Scan for DNS records: finds none",
    permission: "dns.edit",
    handle: () => ({ recs_added: 0, total_records_parsed: 0 }),
  }),
  endpoint({
    method: "POST",
    path: "/zones/:zone_id/dns_records/scan/trigger",
    summary: "Start a scan: finds none",
    permission: "dns.edit",
    handle: () => null,
  }),
  endpoint({
    method: "GET",
    path: "/zones/:zone_id/dns_records/scan/review",
    summary: "List what a scan found: nothing",
    permission: "dns.read",
    handle: () => [],
  }),
  endpoint({
    method: "POST",
    path: "/zones/:zone_id/dns_records/scan/review",
    summary: "Accept or reject what a scan found: nothing",
    permission: "dns.edit",
    body: z.object({
      accepts: z.array(z.unknown()).nullish(),
      rejects: z.array(z.unknown()).nullish(),
    }),
    handle: () => ({ accepts: [], rejects: [] }),
  }),
];
