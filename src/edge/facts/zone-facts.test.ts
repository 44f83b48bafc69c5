import assert from "node:assert/strict";
import { test } from "node:test";
import type { Zone } from "#zones";
import { cacheLevelAt } from "../cache/zone-level.ts";
import { zoneFacts } from "./zone-facts.ts";

const NOW = Date.UTC(2026, 0, 1);
const NO_ROUTES = { routes: [], domains: [] };

test("a zone is cached when its level says so, but for the three hours of its development mode", () => {
  const level = (settings: object, now = NOW) =>
    cacheLevelAt(zoneFacts({ id: "z", settings } as Zone, NO_ROUTES), now);
  const cached = { cache_level: { value: "aggressive", modifiedOn: 0 } };
  const developing = { ...cached, development_mode: { value: "on", modifiedOn: NOW } };
  assert.equal(level({}), "off");
  assert.equal(level(cached), "aggressive");
  assert.equal(level(developing, NOW + 3 * 3_600_000 - 1), "bypass");
  assert.equal(level(developing, NOW + 3 * 3_600_000), "aggressive");
  assert.equal(level({ development_mode: developing.development_mode }), "off");
});
