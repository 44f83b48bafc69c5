/** Tails over real WebSockets, with a script whose events the test makes. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { createConnection } from "node:net";
import { after, test } from "node:test";
import { WebSocket } from "ws";
import { Log } from "#kit/log.ts";
import { ScriptFault, type TailEvent } from "#scripts";
import { tailInput } from "./filters.ts";
import { TAIL_PATH, tailDoor } from "./listen.ts";
import { TailSessions } from "./sessions.ts";

const SCRIPT = "0".repeat(32);
let now = 1_000;
const sessions = new TailSessions(() => now);

/** Hears what is said to the tails of the script; how many there are. */
const hearers = new Set<(event: TailEvent) => void>();
let onChange = () => {};
const runtime = {
  async tail(_scriptId: string, hear: (event: TailEvent) => void): Promise<AsyncDisposable> {
    if (failing) throw new ScriptFault("does-not-start", "broken");
    hearers.add(hear);
    onChange();
    return {
      async [Symbol.asyncDispose]() {
        hearers.delete(hear);
        onChange();
      },
    };
  },
};
let failing = false;

const log = new Log({ format: "json", level: "info", now: () => now, write: () => {} });
const server = createServer().on(
  "upgrade",
  tailDoor({ sessions, runtime, now: () => now, random: () => 0, log }),
);
await once(server.listen(0, "127.0.0.1"), "listening");
const sockets: WebSocket[] = [];
after(() => {
  for (const socket of sockets) socket.on("error", () => {}).terminate();
  server.close();
});
const { port } = server.address() as { port: number };

function connect(token: string): WebSocket {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${TAIL_PATH}${token}`, "trace-v1");
  sockets.push(socket);
  return socket;
}

/** Connected, and heard of by the script. */
async function listener(token: string): Promise<WebSocket> {
  const socket = connect(token);
  await once(socket, "open");
  await until(() => hearers.size === 1);
  return socket;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise<void>((resolve) => (onChange = resolve));
}

function event(text: string, outcome = "ok"): TailEvent {
  const logs = [{ level: "log", timestamp: 1, message: [text] }];
  const times = { truncated: false, cpuTime: 0, wallTime: 0, eventTimestamp: 1 };
  return { scriptName: "s", entrypoint: null, outcome, event: {}, logs, exceptions: [], ...times };
}

const say = (what: TailEvent) => hearers.forEach((hear) => hear(what));

async function next(socket: WebSocket): Promise<TailEvent> {
  const [data] = (await once(socket, "message")) as [Buffer];
  return JSON.parse(data.toString()) as TailEvent;
}

function open(filters: object[] = []) {
  return sessions.create(SCRIPT, tailInput.parse({ filters }).filters, "::1");
}

test("a listener hears the events that pass its filters, until it leaves", async () => {
  const session = open([{ outcome: ["exception"] }]);
  const socket = await listener(session.token);
  assert.equal(socket.protocol, "trace-v1");
  const heard = next(socket);
  say(event("not this"));
  say(event("this", "exception"));
  assert.deepEqual(await heard, event("this", "exception"));
  socket.close();
  await until(() => hearers.size === 0);
  assert.deepEqual(sessions.list(SCRIPT), [], "its session ends with it");
});

test("a listener may speak without a mask, as wrangler does", async () => {
  const socket = await listener(open().token);
  socket.send('{"debug":false}', { mask: false });
  socket.send("masked");
  socket.ping("still there?");
  const [answer] = (await once(socket, "pong")) as [Buffer];
  assert.equal(answer.toString(), "still there?");
  socket.terminate();
  await until(() => hearers.size === 0);
});

test("only who knows the address may listen, and only one", async () => {
  const refused = async (socket: WebSocket) => {
    const [, response] = (await once(socket, "unexpected-response")) as [
      unknown,
      { statusCode: number },
    ];
    assert.equal(response.statusCode, 404);
  };
  await refused(connect("x".repeat(32)));
  await refused(new WebSocket(`ws://127.0.0.1:${port}/elsewhere`));
  const session = open();
  const socket = await listener(session.token);
  await refused(connect(session.token));
  const late = open();
  now += 61_000;
  await refused(connect(late.token));
  const closed = once(socket, "close") as Promise<[number]>;
  sessions.remove(SCRIPT, session.id);
  assert.equal((await closed)[0], 1000, "a tail that is deleted ends well");
  await until(() => hearers.size === 0);
});

test("a handshake that fails leaves the session to another, and none outlives its time", async () => {
  const session = open();
  const broken = createConnection(port, "127.0.0.1");
  broken.write(
    `GET ${TAIL_PATH}${session.token} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  );
  const [answer] = (await once(broken, "data")) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 400 /);
  const socket = await listener(session.token);
  open();
  assert.equal(sessions.list(SCRIPT).length, 2);
  now += 61_000;
  assert.deepEqual(sessions.list(SCRIPT), [session], "one that nobody came for is forgotten");
  const closed = once(socket, "close");
  now += 6 * 3_600_000;
  assert.deepEqual(sessions.list(SCRIPT), []);
  await closed;
  await until(() => hearers.size === 0);
});

test("a slow listener loses events, and is told so", async () => {
  const socket = await listener(open().token);
  socket.pause();
  const large = event("x".repeat(100_000));
  const MANY = 500; // 50 MB: beyond what the kernel keeps for it.
  for (let i = 0; i < MANY; i++) say(large);
  let messages = 0;
  const told = new Promise<TailEvent>((resolve) => {
    socket.on("message", (data: Buffer) => {
      const one = JSON.parse(data.toString()) as TailEvent;
      messages++;
      if (one.event?.["type"] === "overload-stop") resolve(one);
    });
  });
  socket.resume();
  await once(socket, "message"); // It takes again.
  const sayOn = setInterval(() => say(event("again")), 5);
  const { event: overload } = await told;
  clearInterval(sayOn);
  assert.match(String(overload?.["message"]), /has left out \d+ events/);
  assert.ok(messages < MANY, `${messages} messages came`);
  socket.terminate();
  await until(() => hearers.size === 0);
});

test("a script that cannot be listened to ends the tail with an error", async () => {
  failing = true;
  const socket = connect(open().token);
  const [code] = (await once(socket, "close")) as [number];
  assert.equal(code, 1011);
  failing = false;
});

test("a script has few tails at a time", () => {
  for (let i = 0; i < 10; i++) sessions.create("1".repeat(32), [], "");
  assert.throws(() => sessions.create("1".repeat(32), [], ""), /at most 10 tails/);
  now += 61_000;
  sessions.create("1".repeat(32), [], ""); // Those that nobody listened to are forgotten.
});
