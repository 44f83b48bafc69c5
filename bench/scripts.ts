/** Edge scripts: through our edge beside bare workerd, with buckets beside Miniflare, and what they take. */
import assert from "node:assert/strict";
import type { Aim, Bench, BenchContext, Figures, Round, Row, ShownFigure } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import type { Contender, Running } from "./kit/contender.ts";
import { askHttp, requestText } from "./kit/http-exchange.ts";
import { httpFigures, httpParameters, measureHttp } from "./kit/measure-http.ts";
import { miniflareServer } from "./kit/miniflare.ts";
import { treeMemory } from "./kit/process-tree.ts";
import { alternate } from "./kit/rounds.ts";
import { BUCKET_SCRIPT, HELLO } from "./kit/script-sources.ts";
import { edgeOn, onApi, ScriptApi, ZONE } from "./kit/scripts-selvedge.ts";
import { bareWorkerd } from "./kit/workerd.ts";
import { installMiniflare } from "./peers/miniflare/install.ts";

const KIBIBYTE = 1024;
const SCRIPT_COUNTS = [1, 50, 200] as const;
/** Deployments measured in a round; the median of all counts. */
const DEPLOYMENTS = 5;

const ADDED_MICROS = 300;
const DEPLOY_MS = 1_000;
const BUCKET_RATIO = 5;

export const scripts: Bench = {
  name: "scripts",
  summary: "edge scripts, beside bare workerd and Miniflare",
  defaults: { rounds: 3, seconds: 3 },
  // Both sides are several processes; held to one core, they would not be what users run.
  pinned: false,
  parameters: { ...httpParameters, durable: "ours syncs every put, Miniflare does not" },
  async run(context) {
    const miniflare = installMiniflare(context.note);
    return [
      ...(await helloRows(context)),
      ...(miniflare === null ? [] : await bucketRows(context)),
      ...(miniflare === null ? [] : await memoryRows(context)),
      await deployRow(context),
    ];
  },
};

async function helloRows(context: BenchContext): Promise<Row[]> {
  const { leftovers } = context;
  const data = await leftovers.folder();
  await onApi(leftovers, data, async (api) => {
    const zone = await api.prepare([]);
    await api.upload("hello", HELLO);
    await api.route(zone, `${ZONE}/*`, "hello");
  });
  const pair = { ours: edgeOn(leftovers, data), peer: bareWorkerd(leftovers, HELLO) };
  const request = requestText("/", {});
  const rows: Row[] = [];
  for (const connections of [1, 32]) {
    const name = `hello, ${connections} at a time`;
    const rounds = await alternate(context, name, pair, (running) =>
      measureHttp(context, running, request, connections),
    );
    const isAlone = connections === 1;
    rows.push({
      name,
      names: { ours: "through the edge", peer: pair.peer.name },
      shown: isAlone ? [...httpFigures, addedFigure] : httpFigures,
      aims: isAlone
        ? [{ text: "the edge adds under 0.3 ms at p50", key: "added", below: ADDED_MICROS }]
        : [],
      conditions: [],
      rounds: rounds.map(withAdded),
    });
  }
  return rows;
}

const addedFigure: ShownFigure = { key: "added", label: "p50 µs beyond the peer's", digits: 0 };

function withAdded(round: Round): Round {
  const added = round.ours["p50Micros"]! - round.peer["p50Micros"]!;
  return { ...round, ours: { ...round.ours, added }, peer: { ...round.peer, added: 0 } };
}

const bucketKinds = [
  { name: "a script answers an object of 1 KiB", method: "GET", octets: KIBIBYTE, key: "small" },
  { name: "a script answers an object of 1 MiB", method: "GET", octets: KIBIBYTE ** 2, key: "big" },
  { name: "a script stores an object of 1 KiB", method: "PUT", octets: KIBIBYTE, key: "stored" },
] as const;

async function bucketRows(context: BenchContext): Promise<Row[]> {
  const { leftovers } = context;
  const [data, other, cache] = await folders(context);
  await onApi(leftovers, data, async (api) => {
    const zone = await api.prepare([]);
    await api.upload("objects", BUCKET_SCRIPT, true);
    await api.route(zone, `${ZONE}/*`, "objects");
  });
  const script = { hostname: ZONE, source: BUCKET_SCRIPT };
  const pair = {
    ours: edgeOn(leftovers, data),
    peer: miniflareServer(leftovers, { data: other, cache, scripts: [script] }),
  };
  const aims: Aim[] = [
    { text: "at least 5 times Miniflare's rate", key: "rate", ratioAtLeast: BUCKET_RATIO },
  ];
  const rows: Row[] = [];
  for (const { name: kind, method, octets, key } of bucketKinds) {
    const put = withBody(key, octets);
    for (const contender of Object.values(pair)) await askOnce(contender, put);
    const request = method === "PUT" ? put : requestText(`/${key}`, {});
    for (const connections of [1, 32]) {
      const name = `${kind}, ${connections} at a time`;
      rows.push({
        name,
        names: { ours: pair.ours.name, peer: pair.peer.name },
        shown: httpFigures,
        aims,
        conditions: [],
        rounds: await alternate(context, name, pair, (running) =>
          measureHttp(context, running, request, connections),
        ),
      });
    }
  }
  return rows;
}

function withBody(key: string, octets: number): string {
  const head = requestText(`/${key}`, { "Content-Length": String(octets) });
  return head.replace(/^GET/, "PUT") + "x".repeat(octets);
}

async function askOnce(contender: Contender, request: string): Promise<void> {
  await using running = await contender.start();
  await askHttp(running.address, request);
}

/** So many scripts, all of which have answered. */
async function memoryRows(context: BenchContext): Promise<Row[]> {
  const rows: Row[] = [];
  for (const count of SCRIPT_COUNTS) {
    const hosts = Array.from({ length: count }, (_, i) => `s${i}.${ZONE}`);
    const [data, other, cache] = await folders(context);
    context.note(`deploying ${count} scripts`);
    await onApi(context.leftovers, data, async (api) => {
      const zone = await api.prepare([`*.${ZONE}`]);
      for (const [i, host] of hosts.entries()) {
        await api.upload(`s${i}`, HELLO);
        await api.route(zone, `${host}/*`, `s${i}`);
      }
    });
    const sources = hosts.map((hostname) => ({ hostname, source: HELLO }));
    const pair = {
      ours: edgeOn(context.leftovers, data),
      peer: miniflareServer(context.leftovers, { data: other, cache, scripts: sources }),
    };
    const name = `memory with ${count} scripts that have answered`;
    rows.push({
      name,
      names: { ours: pair.ours.name, peer: pair.peer.name },
      shown: [
        { key: "pssMiB", label: "PSS of all processes, MiB", digits: 0 },
        { key: "eachMiB", label: "of these, a script", digits: 1 },
      ],
      aims: [],
      conditions: [],
      rounds: await alternate({ ...context, rounds: 1 }, name, pair, (running) =>
        memoryAfter(running, hosts),
      ),
    });
  }
  return rows;
}

async function memoryAfter(running: Running, hosts: readonly string[]): Promise<Figures> {
  const before = treeMemory(running.pid).pssMiB;
  for (const Host of hosts) await askHttp(running.address, requestText("/", { Host }));
  const { pssMiB } = treeMemory(running.pid);
  return { pssMiB, eachMiB: (pssMiB - before) / hosts.length };
}

/** From the moment that the upload is sent until the edge answers with the new version. */
async function deployRow(context: BenchContext): Promise<Row> {
  const { leftovers, rounds } = context;
  const data = await leftovers.folder();
  const version = (n: number) => HELLO.replace("Hello", `Hello ${n}`);
  await onApi(leftovers, data, async (api) => {
    const zone = await api.prepare([]);
    await api.upload("hello", version(0));
    await api.route(zone, `${ZONE}/*`, "hello");
  });
  await using running = await edgeOn(leftovers, data).start();
  const api = await ScriptApi.of(running);
  const took: number[] = [];
  for (let n = 1; n <= rounds * DEPLOYMENTS; n++) {
    const began = performance.now();
    await api.upload("hello", version(n));
    const { body } = await askHttp(running.address, requestText("/", {}));
    took.push(performance.now() - began);
    assert.equal(body, `Hello ${n}`, "the first answer after a deployment is the new version's");
  }
  return {
    name: "from deploy to the new version's first answer",
    names: { ours: "selvedge", peer: "(none)" },
    shown: [{ key: "ms", label: "ms", digits: 0 }],
    aims: [{ text: "under 1 s", key: "ms", below: DEPLOY_MS }],
    conditions: [],
    rounds: took.map((ms) => ({ first: "ours", ours: { ms }, peer: { ms: Number.NaN } })),
  };
}

async function folders({ leftovers }: BenchContext): Promise<[string, string, string]> {
  return [await leftovers.folder(), await leftovers.folder(), await leftovers.folder()];
}

if (import.meta.main) await runBenches([scripts]);
