/** Our nameserver as a contender, on a folder that was filled through the management API. */
import { keyHeaders, KEY, runSelvedge } from "../../test/support/server.ts";
import type { BenchContext } from "./bench.ts";
import { launch, type Running } from "./contender.ts";
import { START_TIMEOUT_MS, untilAnswering } from "./dns-ask.ts";
import type { DnsFiles } from "./dns-files.ts";
import { type DnsContender, freeDnsPort, runningOf } from "./dns-launch.ts";
import { line, ORIGIN, recordsOf, type Rr, WILD_ORIGIN, wildRecords } from "./dns-zone.ts";
import type { Leftovers } from "./leftovers.ts";

export const OURS = "selvedge";

const BASE = "/client/v4";

/** Names whose records are imported with one request, which holds them in memory. */
const PIECE = 50_000;

/** Room for a piece, some 4 MB; the default is 1 MiB. */
const BODY_BYTES = 64 * 1024 ** 2;

/** The default of a million is less than a million names have. */
const RECORDS_PER_ZONE = 100_000_000;

/** A piece that takes this long will not end. */
const IMPORT_TIMEOUT_MS = 300_000;

/** One thread answers; the API has its own, and rests. `files` tells when it is there. */
export function selvedgeDns(
  leftovers: Leftovers,
  { data, files }: { data: string; files: DnsFiles | null },
): DnsContender {
  return {
    key: OURS,
    name: OURS,
    async start() {
      await using undo = new AsyncDisposableStack();
      const port = await freeDnsPort();
      const began = performance.now();
      const { pid } = undo.use(await startSelvedge(leftovers, { data, port, door: "dns" }));
      await untilAnswering(port, files?.first ?? [], () => null);
      const startMs = performance.now() - began;
      return runningOf(undo.move(), { pid, port, startMs });
    },
  };
}

/** Makes the zones in a fresh folder and returns it. */
export async function fillSelvedge(
  { leftovers, note }: BenchContext,
  files: DnsFiles,
): Promise<string> {
  const data = await leftovers.folder();
  const port = await freeDnsPort();
  await using server = await startSelvedge(leftovers, { data, port, door: "api" });
  const small = await makeZone(server.address, WILD_ORIGIN);
  await importInto(small, wildRecords);
  const big = await makeZone(server.address, ORIGIN);
  for (let from = 0; from < files.names; from += PIECE) {
    const length = Math.min(PIECE, files.names - from);
    note(`filling ours: ${from} of ${files.names} names`);
    await importInto(big, Array.from({ length }, (_, index) => recordsOf(from + index)).flat());
  }
  return data;
}

function startSelvedge(
  leftovers: Leftovers,
  { data, port, door }: { data: string; port: number; door: "api" | "dns" },
): Promise<Running> {
  const env = {
    SELVEDGE_BOOTSTRAP_KEY: KEY,
    SELVEDGE_LIMITS_API_BODY_BYTES: String(BODY_BYTES),
    SELVEDGE_LIMITS_RECORDS_PER_ZONE: String(RECORDS_PER_ZONE),
  };
  const doors = ["--api", "127.0.0.1:0", "--dns", `127.0.0.1:${port}`, "--dns-threads", "1"];
  return launch(leftovers, {
    spawn: () => runSelvedge(["serve", "--data", data, ...doors], env),
    door,
    timeoutMs: START_TIMEOUT_MS,
  });
}

/** Returns the address of its records. */
async function makeZone(address: string, origin: string): Promise<string> {
  const response = await fetch(`${address}${BASE}/zones`, {
    method: "POST",
    headers: { ...keyHeaders, "Content-Type": "application/json" },
    body: JSON.stringify({ name: origin.slice(0, -1) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot make the zone ${origin}: ${text}`);
  const { result } = JSON.parse(text) as { result: { id: string } };
  return `${address}${BASE}/zones/${result.id}/dns_records`;
}

async function importInto(records: string, added: readonly Rr[]): Promise<void> {
  const body = new FormData();
  // Joined: a blob of many parts would be sent in as many pieces.
  body.append("file", new Blob([added.map(line).join("")]), "zone.txt");
  const response = await fetch(`${records}/import`, {
    method: "POST",
    headers: keyHeaders,
    body,
    signal: AbortSignal.timeout(IMPORT_TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`Cannot import: ${text}`);
  const { result } = JSON.parse(text) as { result: { recs_added: number } };
  if (result.recs_added !== added.length) {
    throw new Error(`Of ${added.length} records, ${result.recs_added} were imported`);
  }
}
