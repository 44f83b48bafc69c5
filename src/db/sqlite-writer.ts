/**
 * The thread that writes to SQLite. Writes that arrive while the last commit reaches the disk, from whichever
 * thread, wait together and share the next one, so the cost of a sync is split between them.
 */
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  type MessagePort,
  parentPort,
  receiveMessageOnPort,
  workerData,
} from "node:worker_threads";
import { giveBack } from "#kit/buffer-pool.ts";
import type { SqlValue } from "./statement.ts";
import { configureSqlite } from "./sqlite-settings.ts";
import type {
  NewStatement,
  Refusal,
  ToWriter,
  WriteMessage,
  WriteOutcome,
  WriteReply,
} from "./write-messages.ts";
import { placeBytes } from "./write-requests.ts";

/** Room for the pages of a large write: what does not fit is written, read again and written again. */
const CACHE_KIBIBYTES = 16 * 1024;
/** Bounds how long the first write of a group waits for the last. */
const MAX_GROUP = 256;

/** A thread that writes. */
interface Client {
  readonly port: MessagePort;
  /** By number. Prepared at the first use, for a migration's need the tables of those before. */
  readonly known: (NewStatement & { prepared?: StatementSync })[];
}

/** A write, by where its steps are. */
interface Write {
  readonly client: Client;
  readonly id: number;
  readonly steps: readonly SqlValue[];
  readonly start: number;
  readonly end: number;
}

class GuardFailed extends Error {
  readonly guard: readonly [number, number];
  constructor(mustChange: number, changes: number) {
    super("guard");
    this.guard = [mustChange, changes];
  }
}

const db = new DatabaseSync((workerData as { path: string }).path);
configureSqlite(db);
db.exec(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`);
const [begin, commit, savepoint, release] = [
  "BEGIN IMMEDIATE",
  "COMMIT",
  "SAVEPOINT one_write",
  "RELEASE one_write",
].map((sql) => db.prepare(sql)) as [StatementSync, StatementSync, StatementSync, StatementSync];

const clients = new Set<Client>();
const main = addClient(parentPort!);
/** What goes into the next commit. */
let group: Write[] = [];
/** Memory of messages whose last writes are in the group, or done. */
let spent: Uint8Array[] = [];
main.port.postMessage("open");

function addClient(port: MessagePort): Client {
  const client: Client = { port, known: [] };
  clients.add(client);
  port.on("message", (message: ToWriter) => {
    take(client, message);
    takeAllThatWait();
    finish();
  });
  port.on("close", () => {
    clients.delete(client);
    if (large?.client === client) endLarge();
    finish();
  });
  return client;
}

function takeAllThatWait(): void {
  for (let isMore = true; isMore;) {
    isMore = false;
    for (const client of clients) {
      const next = receiveMessageOnPort(client.port);
      if (next === undefined) continue;
      take(client, next.message as ToWriter);
      isMore = true;
    }
  }
}

function take(client: Client, message: ToWriter): void {
  if (large !== null && large.client !== client) {
    behindLarge.push([client, message]);
    return;
  }
  if (message === "close") close(client);
  else if ("port" in message) addClient(message.port);
  else {
    for (const statement of message.news) client.known.push({ ...statement });
    placeBytes(message.steps, message);
    if (message.part === "all") {
      for (const one of writesOf(client, message)) if (group.push(one) === MAX_GROUP) finish();
      spent.push(message.bytes);
    } else {
      finish();
      performPart(client, message);
      giveBack(message.bytes);
    }
  }
}

function finish(): void {
  const all = group;
  group = [];
  if (all.length === 0) return;
  const replies = attempt(all, run) ?? attempt(all, runApart)!;
  for (const [{ port }, reply] of replies) port.postMessage(reply);
  spent.forEach(giveBack); // Left to the collector, the memory of large writes costs more than their copying.
  spent = [];
}

/** When the first closes, all do: it ends last of those that write. */
function close(client: Client): void {
  finish();
  for (const one of client === main ? clients : [client]) {
    clients.delete(one);
    one.port.close();
  }
  if (client === main) db.close();
}

function writesOf(client: Client, { ids, ends, steps }: WriteMessage): Write[] {
  return ids.map((id, i) => {
    const start = i === 0 ? 0 : ends[i - 1]!;
    return { client, id, steps, start, end: ends[i]! };
  });
}

type Replies = Map<Client, WriteReply>;

/**
 * Does a group in one commit. Null when one of several failed, and all were undone: most often none does, and
 * savepoints would cost each as much as a statement.
 */
function attempt(
  group: readonly Write[],
  perform: (write: Write, outcomes: WriteOutcome[]) => Refusal | void,
): Replies | null {
  const replies: Replies = new Map();
  try {
    begin.run();
    for (const one of group) {
      const reply = replies.getOrInsertComputed(one.client, noReply);
      const refused = perform(one, reply.outcomes);
      if (refused !== undefined) {
        reply.refused.push(refused);
        continue;
      }
      reply.ids.push(one.id);
      reply.ends.push(reply.outcomes.length);
    }
    commit.run();
    return replies;
  } catch (error) {
    // Otherwise SQLite gave up on the whole commit, as on a full disk.
    const isOneToBlame = db.isTransaction && perform === run && group.length > 1;
    if (db.isTransaction) db.exec("ROLLBACK");
    if (isOneToBlame) return null;
    const refusals: Replies = new Map();
    for (const { client, id } of group) {
      refusals.getOrInsertComputed(client, noReply).refused.push(refusal(id, error));
    }
    return refusals;
  }
}

function noReply(): WriteReply {
  return { ids: [], ends: [], outcomes: [], refused: [] };
}

/** One write inside the group's commit. What fails is undone alone; the others go on. */
function runApart(one: Write, outcomes: WriteOutcome[]): Refusal | void {
  const before = outcomes.length;
  savepoint.run();
  try {
    run(one, outcomes);
    release.run();
  } catch (error) {
    if (!db.isTransaction) throw error;
    db.exec("ROLLBACK TO one_write; RELEASE one_write");
    outcomes.length = before;
    return refusal(one.id, error);
  }
}

function run({ client, steps, start, end }: Write, outcomes: WriteOutcome[]): void {
  for (let at = start; at < end;) {
    const number = steps[at++] as number;
    const mustChange = steps[at++] as number | null;
    const statement = client.known[number]!;
    const prepared = (statement.prepared ??= prepare(statement));
    const values = steps.slice(at, (at += statement.takes)) as SQLInputValue[];
    const outcome = statement.returnsRows
      ? (prepared.all(...values) as unknown as SqlValue[][])
      : Number(prepared.run(...values).changes);
    const changes = typeof outcome === "number" ? outcome : outcome.length;
    if (mustChange !== null && changes !== mustChange) throw new GuardFailed(mustChange, changes);
    outcomes.push(outcome);
  }
}

function prepare({ sql }: NewStatement): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** The large write whose parts are arriving, and why it failed, if it did. */
let large: { readonly client: Client; refused: Refusal | null } | null = null;
/** What others have asked for meanwhile. */
let behindLarge: [Client, ToWriter][] = [];

/** A part of a large write is done when it comes; the thread that makes them goes on meanwhile. */
function performPart(client: Client, { part, ids: [id], steps }: WriteMessage): void {
  const attempt = (work: () => unknown): Refusal | null => {
    try {
      work();
      return null;
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      return refusal(id!, error);
    }
  };
  large ??= { client, refused: attempt(() => begin.run()) };
  large.refused ??= attempt(() => run({ client, id: id!, steps, start: 0, end: steps.length }, []));
  if (part === "more follow") return;
  if (part === "last") {
    large.refused ??= attempt(() => commit.run());
    const [ids, ends, refused] =
      large.refused === null ? [[id!], [0], []] : [[], [], [large.refused]];
    client.port.postMessage({ ids, ends, outcomes: [], refused } satisfies WriteReply);
  }
  endLarge();
}

/** What was not committed is undone. */
function endLarge(): void {
  if (db.isTransaction) db.exec("ROLLBACK");
  large = null;
  const next = behindLarge;
  behindLarge = [];
  for (const [client, message] of next) take(client, message);
}

function refusal(id: number, error: unknown): Refusal {
  if (error instanceof GuardFailed) return { id, guard: error.guard };
  const { message, errcode = 0 } = error as Error & { errcode?: number };
  return { id, failure: { message, errcode } };
}
