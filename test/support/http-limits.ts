/** What an HTTP door of a test grants: enough for whoever does not test just that. */
import type { HttpLimits } from "../../src/http/limits.ts";

export const httpLimits: HttpLimits = {
  headerBytes: 16_384,
  headerSeconds: 60,
  requestSeconds: 60,
  idleSeconds: 60,
  drainSeconds: 0,
  connections: 100,
  connectionsPerSource: 100,
};
