/** Gives each request its line in the log and its place in the metrics. */
import type { IncomingMessage } from "node:http";
import type { Log } from "#kit/log.ts";
import type { Passage } from "./onward.ts";
import { type Refusal, refusals } from "./refusals.ts";
import type { EdgeCounters } from "./threads/counters.ts";

/** What comes of a request: a refusal of ours, or a passage to whoever answers. */
export type Outcome = Refusal | Passage;

export type Observe = (
  request: IncomingMessage,
  outcome: Outcome,
  requestId: string,
  ms: number,
) => void;

export function observer({
  log,
  counters,
}: {
  readonly log: Log;
  readonly counters: EdgeCounters;
}): Observe {
  return (request, outcome, requestId, ms) => {
    const status = statusOf(outcome);
    counters.answered(status, ms / 1000);
    const { method, url = "", headers } = request;
    const line = {
      request_id: requestId,
      method,
      host: headers.host,
      path: pathOf(url),
      status,
      ms: Math.round(ms * 100) / 100,
    };
    if ("code" in outcome) log.info("request", { ...line, refused: outcome.code });
    else if ("cause" in outcome) log.info("request", { ...line, cause: outcome.cause });
    else log.info("request", line);
  };
}

/** Without its query, which may hold what nobody should read. */
function pathOf(url: string): string {
  const query = url.indexOf("?");
  return query === -1 ? url : url.slice(0, query);
}

/** As others log it when the client was the one who left. */
const CLIENT_LEFT = 499;

function statusOf(outcome: Outcome): number {
  if (!("kind" in outcome)) return outcome.status;
  if (outcome.kind === "answered") return outcome.status;
  return outcome.kind === "left" ? CLIENT_LEFT : refusals.brokenScript().status;
}
