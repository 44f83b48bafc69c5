/** Objects in buckets: our embedded store beside Miniflare's bucket simulator and the disk itself. */
import type { Bench, Flag } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import { listRows, uploadRow } from "./kit/objects-alone.ts";
import {
  type HolderKind,
  measureHolders,
  operations,
  plainOperations,
} from "./kit/objects-measure.ts";
import { limitRows, limits, peerRows } from "./kit/objects-rows.ts";
import { installMiniflare } from "./peers/miniflare/install.ts";

const MANY_KEYS = 1_000_000;
const UPLOAD_GIBIBYTES = 5;

const ours: HolderKind = {
  key: "ours",
  name: "selvedge",
  program: new URL("./kit/objects-selvedge.ts", import.meta.url),
  // Plain files right after the objects, while the machine is as it was.
  asks: operations.flatMap((operation) => [
    operation,
    ...plainOperations.filter(({ key }) => key === `plain-${operation.key}`),
  ]),
};
const disk: HolderKind = {
  key: "disk",
  name: "the disk",
  program: new URL("./kit/objects-limits.ts", import.meta.url),
  asks: limits.map(({ operation }) => operation),
};

export const objects: Bench = {
  name: "objects",
  summary: "objects in buckets, beside Miniflare and the disk",
  defaults: { rounds: 3, seconds: 1 },
  // All have several threads or processes; held to one core, they would not be what users run.
  pinned: false,
  parameters: {
    durable: "ours and the disk sync every put, Miniflare does not",
    listKeys: MANY_KEYS,
    uploadGiB: UPLOAD_GIBIBYTES,
  },
  flags: {
    keys: countFlag("N", "keys of the large bucket", 1_000, 10_000_000),
    gib: countFlag("N", "size of the large upload", 1, 5_000),
    part: {
      value: "NAME",
      help: "one of operations, lists, upload",
      check(value) {
        if (parts.includes(value)) return;
        throw new Error(`--part takes one of ${parts.join(", ")}, not "${value}".`);
      },
    },
  },
  async run(context) {
    const { flags } = context;
    const wants = (part: string) => (flags["part"] ?? part) === part;
    const keys = Number(flags["keys"] ?? MANY_KEYS);
    const octets = Number(flags["gib"] ?? UPLOAD_GIBIBYTES) * 1024 ** 3;
    const rows = [];
    if (wants("operations")) {
      const peers = miniflareKinds(installMiniflare(context.note));
      const measured = await measureHolders(context, [ours, ...peers, disk]);
      rows.push(...peerRows(ours, peers, measured), ...limitRows(ours, disk, measured));
    }
    if (wants("lists")) rows.push(...(await listRows(context, ours.program, keys)));
    if (wants("upload")) rows.push(await uploadRow(context, ours.program, octets));
    return rows;
  },
};

const parts = ["operations", "lists", "upload"];

/** None when it could not be installed: ours is then beside the disk alone. */
function miniflareKinds(version: string | null): HolderKind[] {
  if (version === null) return [];
  return [
    {
      key: "proxy",
      name: `miniflare ${version}`,
      program: new URL("./peers/miniflare/bucket.ts", import.meta.url),
      asks: operations,
    },
    {
      key: "script",
      name: "from a script",
      program: new URL("./peers/miniflare/worker.ts", import.meta.url),
      asks: operations,
    },
  ];
}

function countFlag(value: string, help: string, least: number, most: number): Flag {
  return {
    value,
    help,
    check(text) {
      const number = Number(text);
      if (Number.isInteger(number) && number >= least && number <= most) return;
      throw new Error(`It takes a whole number from ${least} to ${most}, not "${text}".`);
    },
  };
}

if (import.meta.main) await runBenches([objects]);
