/** The command line of the benches. */
import { parseArgs } from "node:util";
import type { Bench, Flag } from "./bench.ts";
import { type Cores, chooseCores } from "./cores.ts";
import { Leftovers } from "./leftovers.ts";
import { describeMachine } from "./machine.ts";
import { keepReport, printReport, type Report, reportOf } from "./report.ts";

/** Exit codes. An aim that is not met is a result, not a failure. */
const FAILED = 1;
const BAD_USAGE = 2;

/** Over an hour for an interval, or hundreds of rounds, is a slip of the hand. */
const MAX_SECONDS = 3_600;
const MAX_ROUNDS = 500;

interface Options {
  readonly benches: readonly Bench[];
  readonly seconds: number | null;
  readonly rounds: number | null;
  readonly json: boolean;
  readonly flags: Readonly<Record<string, string | true>>;
}

/** Reads the arguments and runs the benches they name. */
export async function runBenches(all: readonly Bench[]): Promise<void> {
  const options = optionsOrExit(all);
  const leftovers = new Leftovers();
  leftovers.clearAtExit();
  const reports: Report[] = [];
  try {
    for (const bench of options.benches) {
      const report = await runBench(bench, options, leftovers);
      await keepReport(report);
      reports.push(report);
      if (!options.json) console.log(printReport(report));
    }
  } catch (error) {
    console.error(error);
    process.exit(FAILED);
  }
  if (options.json) console.log(JSON.stringify(reports, null, 2));
}

async function runBench(bench: Bench, options: Options, leftovers: Leftovers): Promise<Report> {
  const { defaults } = bench;
  const rounds = options.rounds ?? defaults.rounds;
  const seconds = defaults.seconds === null ? null : (options.seconds ?? defaults.seconds);
  const pinned: Cores | string = bench.pinned ? chooseCores() : "as a user would run it";
  const [date, machine] = [new Date().toISOString(), describeMachine()];
  const rows = await bench.run({
    rounds,
    seconds: seconds ?? 0,
    cores: typeof pinned === "string" ? null : pinned,
    leftovers,
    flags: options.flags,
    note: options.json ? () => {} : (text) => console.error(`… ${bench.name}: ${text}`),
  });
  return reportOf(bench, rows, { date, machine, pinned, rounds, seconds });
}

function optionsOrExit(all: readonly Bench[]): Options {
  try {
    return readOptions(all);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${help(all)}`);
    return process.exit(BAD_USAGE);
  }
}

function readOptions(all: readonly Bench[]): Options {
  const flags = flagsOf(all);
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...flagTypes(flags),
      seconds: { type: "string" },
      rounds: { type: "string" },
      json: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) exitWith(help(all));
  if (values.list) exitWith(list(all));
  if (process.platform !== "linux") throw new Error("The benches read /proc, so they need Linux.");
  return {
    benches: positionals.length === 0 ? all : positionals.map((name) => named(name, all)),
    seconds: numberOf("--seconds", values.seconds, MAX_SECONDS),
    rounds: numberOf("--rounds", values.rounds, MAX_ROUNDS),
    json: values.json,
    flags: givenFlags(flags, values),
  };
}

function flagsOf(all: readonly Bench[]): [string, Flag][] {
  return all.flatMap((bench) => Object.entries(bench.flags ?? {}));
}

function flagTypes(flags: readonly [string, Flag][]): Record<string, { type: FlagType }> {
  const type = ({ value }: Flag): FlagType => (value === undefined ? "boolean" : "string");
  return Object.fromEntries(flags.map(([name, flag]) => [name, { type: type(flag) }]));
}

type FlagType = "boolean" | "string";

function givenFlags(flags: readonly [string, Flag][], values: object): Options["flags"] {
  const given: Record<string, string | true> = {};
  for (const [name, flag] of flags) {
    // One that takes no value is true or not there: nothing gives it a default.
    const value = (values as Record<string, string | true | undefined>)[name];
    if (value === undefined) continue;
    if (value !== true) flag.check?.(value);
    given[name] = value;
  }
  return given;
}

function exitWith(text: string): never {
  console.log(text);
  process.exit();
}

function named(name: string, all: readonly Bench[]): Bench {
  const bench = all.find((bench) => bench.name === name);
  if (bench === undefined) throw new Error(`There is no bench "${name}".`);
  return bench;
}

function numberOf(flag: string, text: string | undefined, most: number): number | null {
  if (text === undefined) return null;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new Error(`${flag} takes a whole number from 1 to ${most}, not "${text}".`);
}

function list(all: readonly Bench[]): string {
  return all.map(({ name, summary }) => `${name.padEnd(8)} ${summary}`).join("\n");
}

function help(all: readonly Bench[]): string {
  return `Usage: node bench/run.ts [options] [name…]

Measures our server and a peer in turns; without a name, everything there is:

${list(all).replaceAll(/^/gm, "  ")}

Options:
  --rounds N      how often each is measured
  --seconds N     length of a measured interval, where there is one
${helpOfFlags(all)}  --json          print the results as JSON and nothing else
  --list          list the benches
  -h, --help      show this text

Results are also written to bench/results/<name>.json.`;
}

function helpOfFlags(all: readonly Bench[]): string {
  return all
    .flatMap((bench) =>
      Object.entries(bench.flags ?? {}).map(([name, { value, help }]) => {
        const flag = `--${name}${value === undefined ? "" : ` ${value}`}`;
        return `  ${flag.padEnd(15)} ${bench.name}: ${help}\n`;
      }),
    )
    .join("");
}
