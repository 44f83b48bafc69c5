/** Measures what a server does with DNS records: makes them, lists, imports and exports them. */
import { DatabaseSync } from "node:sqlite";
import type { BenchContext, Figures } from "./bench.ts";
import { cpuSeconds } from "./cpu.ts";
import { type Load, startLoad } from "./load.ts";
import type { AddressRecord, RecordServer, RecordZone } from "./record-server.ts";
import type { RecordsJob, RecordsResult } from "./records-load.ts";

export const PAGE = 1_000;
export const BULK = 100_000;

/** Rates of a database that is synced at each change settle at once; only code has to get warm. */
export const WARM_UP_SECONDS = 1;

/** A bulk request that takes this long is given up and counts as an error. */
const BULK_TIMEOUT_MS = 60_000;

/** Everything of one server in one round; the figures of a row begin with its key and a dot. */
export async function measureRecords(
  context: BenchContext,
  server: RecordServer,
): Promise<Figures> {
  const program = new URL("./records-load.ts", import.meta.url);
  await using load = startLoad<RecordsJob, RecordsResult>(
    context.leftovers,
    program,
    context.cores,
  );
  const one = await measureCreates(context, server, load, 1);
  const sixteen = await measureCreates(context, server, load, 16);
  const list = await measureList(context, server, load);
  return {
    ...withPrefix(one, "one"),
    ...withPrefix(sixteen, "sixteen"),
    ...withPrefix(list, "list"),
    ...(await measureBulk(context, server)),
  };
}

function withPrefix(figures: Figures, key: string): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [`${key}.${name}`, value]),
  );
}

async function measureCreates(
  context: BenchContext,
  server: RecordServer,
  load: Load<RecordsJob, RecordsResult>,
  concurrency: number,
): Promise<Figures> {
  const zone = await server.makeZone(`creates-${concurrency}.test`);
  const job = { ...zone.create, concurrency };
  const { warm, result, figures } = await measureLoad(context, server, load, job);
  const found = addressesIn(await (await ask(server, { path: zone.exported })).text());
  return { ...figures, lost: Math.max(0, warm.done + result.done - found) };
}

async function measureList(
  context: BenchContext,
  server: RecordServer,
  load: Load<RecordsJob, RecordsResult>,
): Promise<Figures> {
  const zone = await server.makeZone("list.test");
  const filled = await ask(server, zone.fillWith(addresses("list.test", PAGE)));
  if (!filled.ok) throw new Error(`Cannot fill a zone: ${await filled.text()}`);
  await filled.bytes();
  const job = { method: "GET", path: zone.list, body: null, concurrency: 1 };
  const { figures } = await measureLoad(context, server, load, job);
  return figures;
}

async function measureLoad(
  { seconds, note }: BenchContext,
  server: RecordServer,
  load: Load<RecordsJob, RecordsResult>,
  given: Pick<RecordsJob, "method" | "path" | "body" | "concurrency">,
): Promise<{ warm: RecordsResult; result: RecordsResult; figures: Figures }> {
  const { hostname: host, port } = new URL(server.address);
  const job = { ...given, host, port: Number(port), headers: server.headers };
  const warm = await load.run({ ...job, first: 0, seconds: WARM_UP_SECONDS });
  const before = cpuSeconds(server.pid);
  const result = await load.run({ ...job, first: warm.next, seconds });
  const used = cpuSeconds(server.pid) - before;
  const { firstError, next: _, ...figures } = result;
  if (firstError !== "") {
    const shown = firstError.trim().slice(0, 200);
    note(`${server.name}: ${result.errors} errors at ${given.concurrency}, first: ${shown}`);
  }
  const { done, errors } = result;
  return {
    warm,
    result,
    figures: {
      ...figures,
      rate: done / result.seconds,
      cpuMicros: (used * 1e6) / Math.max(1, done + errors),
    },
  };
}

/** Import, export, one page and the database's growth, on one zone. */
async function measureBulk(context: BenchContext, server: RecordServer): Promise<Figures> {
  const zone = await server.makeZone("bulk.test");
  const all = addresses("bulk.test", BULK);
  const textBytes = all.reduce((sum, { name, content }) => sum + name.length + content.length, 0);
  const bytesBefore = databaseBytes(server.database);
  const imported = await measureAsk(context, server, zone.fillWith(all));
  const grown = databaseBytes(server.database) - bytesBefore;
  const exported = await measureAsk(context, server, { path: zone.exported });
  const page = await measureAsk(context, server, { path: zone.list });
  const found = addressesIn(exported.text);
  return {
    ...withPrefix({ ...imported.figures, found }, "import"),
    ...withPrefix({ ...exported.figures, found }, "export"),
    ...withPrefix(page.figures, "page"),
    "database.bytes": grown / BULK,
    "database.beyondText": (grown - textBytes) / BULK,
  };
}

type Asked = { readonly path: string } & Partial<ReturnType<RecordZone["fillWith"]>>;

async function measureAsk(
  { note }: BenchContext,
  server: RecordServer,
  asked: Asked,
): Promise<{ text: string; figures: Figures }> {
  const before = cpuSeconds(server.pid);
  const began = performance.now();
  const { ok, text } = await ask(server, asked).then(
    async (response) => ({ ok: response.ok, text: await response.text() }),
    (error: unknown) => ({ ok: false, text: String(error) }),
  );
  const seconds = (performance.now() - began) / 1000;
  if (!ok) note(`${server.name}: ${asked.path} failed: ${text.trim().slice(0, 200)}`);
  return {
    text,
    figures: { seconds, cpu: cpuSeconds(server.pid) - before, errors: ok ? 0 : 1 },
  };
}

function ask(server: RecordServer, { path, ...rest }: Asked): Promise<Response> {
  return fetch(server.address + path, {
    ...rest,
    headers: {
      ...server.headers,
      ...(typeof rest.body === "string" && { "Content-Type": "application/json" }),
    },
    signal: AbortSignal.timeout(BULK_TIMEOUT_MS),
  });
}

/** Names and addresses that differ in every record. */
function addresses(zone: string, count: number): AddressRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `r${index}.${zone}`,
    content: `10.${index >> 16}.${(index >> 8) & 0xff}.${index & 0xff}`,
  }));
}

/** The A records of a zone file. */
function addressesIn(zoneFile: string): number {
  return zoneFile.match(/^\S+\s+\d+\s+IN\s+A\s/gm)?.length ?? 0;
}

/** Its size with what the write-ahead log still holds: the size of the file after a checkpoint. */
function databaseBytes(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  const sql = "SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size";
  const { bytes } = database.prepare(sql).get() as { bytes: number };
  database.close();
  return bytes;
}
