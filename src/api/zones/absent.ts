/** What common clients ask of a zone and this platform does not have: answered so that they go on. */
import { endpoint } from "../endpoint.ts";
import { plans } from "./shape.ts";

export const absentFeatures = [
  // octoDNS reads them by default.
  endpoint({
    method: "GET",
    path: "/zones/:zone_id/pagerules",
    summary: "Page rules: there are none",
    permission: "zone.read",
    handle: () => [],
  }),
  endpoint({
    method: "GET",
    path: "/zones/:zone_id/available_plans",
    summary: "Plans: there is one",
    permission: "zone.read",
    handle: () => plans,
  }),
  endpoint({
    method: "GET",
    path: "/zones/:zone_id/hold",
    summary: "Zone hold: there is none",
    permission: "zone.read",
    handle: () => ({ hold: false, hold_after: null, include_subdomains: false }),
  }),
];
