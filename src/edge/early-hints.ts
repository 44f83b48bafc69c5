/** What an origin says before its answer, passed on to clients that can use it. RFC 8297. */
import type { ServerResponse } from "node:http";
import { isGone, type ResponseHead } from "#http";

export type OnInterim = (head: ResponseHead) => void;

const EARLY_HINTS = 103;
/** For one answer. A page has hints once or twice; more would only pile up before a client that does not read. */
const MAX_HINTS = 8;

/**
 * 103 goes on, with its links: nothing else in it is of use so early. Other news is for the edge: its client was
 * told to send the body when it asked, and nobody waits for 102.
 */
export function hintsTo(response: ServerResponse): OnInterim {
  let left = response.req.httpVersion === "1.0" ? 0 : MAX_HINTS;
  return ({ status, headers }) => {
    if (status !== EARLY_HINTS || left === 0 || response.headersSent || isGone(response)) return;
    const links = headers.filter((_, i) => i % 2 === 1 && isLink(headers[i - 1]!));
    if (links.length === 0) return;
    left--;
    response.writeInformation(EARLY_HINTS, { Link: links.join(", ") });
  };
}

function isLink(name: string): boolean {
  return name.toLowerCase() === "link";
}
