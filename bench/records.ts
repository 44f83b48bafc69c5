/** Records made, listed, imported and exported over the API, beside PowerDNS on SQLite. */
import type {
  Aim,
  Bench,
  BenchContext,
  Figures,
  Round,
  Row,
  ShownFigure,
  Side,
} from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import { BULK, measureRecords, PAGE, WARM_UP_SECONDS } from "./kit/measure-records.ts";
import { PDNS_PACKAGES, pdnsVersion, powerDns } from "./kit/pdns.ts";
import {
  BODY_BYTES,
  type RecordContender,
  type RecordServer,
  selvedgeRecords,
} from "./kit/record-server.ts";
import { alternate } from "./kit/rounds.ts";

const loadFigures: readonly ShownFigure[] = [
  { key: "rate", label: "a second", digits: 0 },
  { key: "p50Micros", label: "p50 µs", digits: 0 },
  { key: "p99Micros", label: "p99 µs", digits: 0 },
  { key: "cpuMicros", label: "server CPU µs each", digits: 0 },
  { key: "errorsInAll", label: "errors in all rounds", digits: 0 },
  { key: "loadShare", label: "generator's use of a core", digits: 2 },
];
const lost: ShownFigure = { key: "lostInAll", label: "answered well, yet not there", digits: 0 };
const bulkFigures: readonly ShownFigure[] = [
  { key: "seconds", label: "seconds", digits: 2 },
  { key: "cpu", label: "server CPU s", digits: 2 },
  { key: "errorsInAll", label: "errors in all rounds", digits: 0 },
  { key: "found", label: "records there", digits: 0 },
];

const noErrors: Aim = { text: "no errors of ours", key: "errorsInAll", below: 1 };
const noneLost: Aim = { text: "none of ours lost", key: "lostInAll", below: 1 };
const faster = (times: number): Aim => ({
  text: `at least ${times} times the peer's rate`,
  key: "rate",
  ratioAtLeast: times,
});

/** Their figures are keys of a round that begin with `key` and a dot. */
const rows: readonly {
  key: string;
  name: string;
  shown: readonly ShownFigure[];
  aims: readonly Aim[];
}[] = [
  {
    key: "one",
    name: "creates, 1 at a time",
    shown: [...loadFigures, lost],
    aims: [faster(5), noErrors, noneLost],
  },
  {
    key: "sixteen",
    name: "creates, 16 at a time",
    shown: [...loadFigures, lost],
    aims: [faster(10), noErrors, noneLost],
  },
  { key: "list", name: `lists of a zone of ${PAGE}`, shown: loadFigures, aims: [noErrors] },
  {
    key: "import",
    name: `import of ${BULK}`,
    shown: bulkFigures,
    aims: [{ text: "under 5 s", key: "seconds", below: 5 }, noErrors],
  },
  { key: "export", name: `export of ${BULK}`, shown: bulkFigures, aims: [noErrors] },
  {
    key: "page",
    name: `first ${PAGE} of ${BULK} (peer: all)`,
    shown: bulkFigures.slice(0, 3),
    aims: [noErrors],
  },
  {
    key: "database",
    name: "database",
    shown: [
      { key: "bytes", label: "bytes a record", digits: 0 },
      { key: "beyondText", label: "beyond name and content", digits: 0 },
    ],
    aims: [{ text: "under 200 bytes beyond the text", key: "beyondText", below: 200 }],
  },
];

export const records: Bench = {
  name: "records",
  summary: "DNS records over the management API",
  defaults: { rounds: 3, seconds: 3 },
  // Both servers have several threads; held to one core, they would not be what users run.
  pinned: false,
  parameters: {
    warmUpSeconds: WARM_UP_SECONDS,
    databases: "SQLite with the defaults of each, which are durable",
    bodyLimitBytes: BODY_BYTES,
  },
  async run(context) {
    const version = pdnsVersion();
    const ours = selvedgeRecords(context.leftovers);
    if (version === null) {
      context.note(`PowerDNS is not installed (apt-get install ${PDNS_PACKAGES}): ours alone`);
      const alone = await measureAlone(context, ours);
      return rows.map((row) => rowOf(row, alone, "(PowerDNS not installed)"));
    }
    const peer = powerDns(context.leftovers, version);
    const rounds = await alternate(context, "all rows", { ours, peer }, (running) =>
      // Both contenders start such a server.
      measureRecords(context, running as RecordServer),
    );
    return rows.map((row) => rowOf(row, rounds, peer.name));
  },
};

/** The peer's figures are then not numbers, and aims that need them are left out. */
async function measureAlone(context: BenchContext, ours: RecordContender): Promise<Round[]> {
  const done: Round[] = [];
  for (let index = 0; index < context.rounds; index++) {
    context.note(`ours alone: round ${index + 1} of ${context.rounds}`);
    await using server = await ours.start();
    const figures = await measureRecords(context, server);
    const none = Object.fromEntries(Object.keys(figures).map((key) => [key, Number.NaN]));
    done.push({ first: "ours", ours: figures, peer: none });
  }
  return done;
}

function rowOf(row: (typeof rows)[number], rounds: readonly Round[], peer: string): Row {
  const { key, name, shown } = row;
  const hasPeer = rounds.every((round) => Object.values(round.peer).every(Number.isFinite));
  return {
    name,
    names: { ours: "selvedge", peer },
    shown,
    aims: row.aims.filter((aim) => hasPeer || !("ratioAtLeast" in aim)),
    conditions: [],
    rounds: withSums(
      rounds.map(({ first, ours, peer }) => ({
        first,
        ours: withoutPrefix(ours, key),
        peer: withoutPrefix(peer, key),
      })),
    ),
  };
}

/** A median would hide a fault that shows in one round of three: these are added up instead. */
function withSums(rounds: readonly Round[]): Round[] {
  const sums = (side: Side) =>
    Object.fromEntries(
      ["errors", "lost"].map((key) => [
        `${key}InAll`,
        rounds.reduce((sum, round) => sum + (round[side][key] ?? 0), 0),
      ]),
    );
  const [ours, peer] = [sums("ours"), sums("peer")];
  return rounds.map((round) => ({
    first: round.first,
    ours: { ...round.ours, ...ours },
    peer: { ...round.peer, ...peer },
  }));
}

function withoutPrefix(figures: Figures, key: string): Figures {
  const own = Object.entries(figures).filter(([name]) => name.startsWith(`${key}.`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(key.length + 1), value]));
}

if (import.meta.main) await runBenches([records]);
