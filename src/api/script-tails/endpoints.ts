/** Live logs of a script: a tail is asked for here, and listened to over a WebSocket. */
import type { IncomingHttpHeaders } from "node:http";
import { endpoint } from "../endpoint.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { showTime } from "../shapes.ts";
import { tailInput } from "./filters.ts";
import { TAIL_PATH } from "./listen.ts";
import type { TailSession } from "./sessions.ts";

const path = `${SCRIPT}/tails` as const;

export const createTail = endpoint({
  method: "POST",
  path,
  summary: "Ask for a script's live logs; the answer has the WebSocket's address",
  permission: "scripts.tail",
  plainText: true,
  body: tailInput,
  handle: async ({ params, body, headers, address }, { scripts, tails }) => {
    const { id } = await scripts.get(params.account_id, params.script_name);
    return show(tails.create(id, body.filters, address), headers);
  },
});

export const listTails = endpoint({
  method: "GET",
  path,
  summary: "List the tails of a script",
  permission: "scripts.tail",
  handle: async ({ params, headers }, { scripts, tails }) => {
    const { id } = await scripts.get(params.account_id, params.script_name);
    return tails.list(id).map((session) => show(session, headers));
  },
});

export const removeTail = endpoint({
  method: "DELETE",
  path: `${path}/:tail_id`,
  summary: "End a tail",
  permission: "scripts.tail",
  handle: async ({ params }, { scripts, tails }) => {
    const { id } = await scripts.get(params.account_id, params.script_name);
    tails.remove(id, params.tail_id);
    return null;
  },
});

/** The address is this server's as the client knows it. */
function show({ id, token, expiresAt }: TailSession, headers: IncomingHttpHeaders): object {
  const scheme = headers["x-forwarded-proto"] === "https" ? "wss" : "ws";
  const url = `${scheme}://${headers.host}${TAIL_PATH}${token}`;
  return { id, url, expires_at: showTime(expiresAt) };
}
