/** Authenticated requests per second, beside a node:http server that sends the same bytes. */
import assert from "node:assert/strict";
import { keyHeaders } from "../test/support/server.ts";
import type { Aim, Bench, BenchContext, Row } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import type { Contender } from "./kit/contender.ts";
import { askHttp, type HttpAnswer, requestText } from "./kit/http-exchange.ts";
import { httpConditions, httpFigures, httpParameters, measureHttp } from "./kit/measure-http.ts";
import { assertAlike, plainHttp, replyLike } from "./kit/plain-http.ts";
import { alternate } from "./kit/rounds.ts";
import { selvedge } from "./kit/selvedge.ts";

const BASE = "/client/v4";

/** The permission group "User Details Read". */
const READ_USER = "8acbe5bb0d54464ab867149d7f7cf8ac";

const AIM_RATIO = 0.6;

const rows: readonly { name: string; path: string; aims: readonly Aim[] }[] = [
  {
    name: "GET user/tokens/verify",
    path: `${BASE}/user/tokens/verify`,
    aims: [
      {
        text: `at least ${AIM_RATIO * 100} % of the peer's rate`,
        key: "rate",
        ratioAtLeast: AIM_RATIO,
      },
    ],
  },
  { name: "GET user (reads the database)", path: `${BASE}/user`, aims: [] },
];

export const api: Bench = {
  name: "api",
  summary: "authenticated requests to the management API",
  defaults: { rounds: 6, seconds: 3 },
  pinned: true,
  parameters: { ...httpParameters, log: "as by default, a line a request, read by the bench" },
  async run(context) {
    // All rounds share a folder, so that the same token and the same bytes serve in each.
    const data = await context.leftovers.folder();
    const token = await makeToken(context, data);
    const done: Row[] = [];
    for (const row of rows) done.push(await measureRow(context, row, { data, token }));
    return done;
  },
};

async function makeToken({ leftovers }: BenchContext, data: string): Promise<string> {
  await using server = await selvedge(leftovers, { door: "api", data }).start();
  const user = await resultOf<{ id: string }>(`${server.address}${BASE}/user`);
  const policy = {
    effect: "allow",
    permission_groups: [{ id: READ_USER }],
    resources: { [`com.cloudflare.api.user.${user.id}`]: "*" },
  };
  const token = await resultOf<{ value: string }>(`${server.address}${BASE}/user/tokens`, {
    name: "bench",
    policies: [policy],
  });
  return token.value;
}

async function resultOf<T>(url: string, body?: object): Promise<T> {
  const response = await fetch(url, {
    headers: { ...keyHeaders, "Content-Type": "application/json" },
    ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return (JSON.parse(text) as { result: T }).result;
}

async function measureRow(
  context: BenchContext,
  { name, path, aims }: (typeof rows)[number],
  { data, token }: { data: string; token: string },
): Promise<Row> {
  const { leftovers } = context;
  const request = requestText(path, { Authorization: `Bearer ${token}` });
  const ours = selvedge(leftovers, { door: "api", data });
  const answer = await askOnce(ours, request);
  const cache = await leftovers.folder();
  const peer = plainHttp(leftovers, { cache, task: replyLike(answer) });
  assertAlike(await askOnce(peer, request), answer);
  const rounds = await alternate(context, name, { ours, peer }, (running) =>
    measureHttp(context, running, request),
  );
  return {
    name,
    names: { ours: ours.name, peer: peer.name },
    shown: httpFigures,
    aims,
    conditions: httpConditions,
    rounds,
  };
}

async function askOnce(contender: Contender, request: string): Promise<HttpAnswer> {
  await using running = await contender.start();
  return await askHttp(running.address, request);
}

if (import.meta.main) await runBenches([api]);
