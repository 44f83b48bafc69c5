/** The nameserver and messages that nobody meant: it answers what it must, drops the rest, and goes on. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { chanceFrom } from "../support/chance.ts";
import { questionOf } from "../support/dns-ask.ts";
import { parseCases } from "../support/dns-cases.ts";
import { askTcp, UdpClient } from "../support/dns-client.ts";
import { decodeMessage, encodeQuery, FLAG } from "../support/dns-message.ts";
import { checkWire } from "../support/dns-wire-rules.ts";
import { startServer } from "../support/server.ts";
import { TestZone } from "./dns-api.ts";

/** Another number makes another run; a failure tells the message itself. */
const SEED = 20_261_115;
const COUNT = 12_000;
/** Sent before their answers are waited for. Few enough for the socket's buffer. */
const TOGETHER = 40;
const LARGEST = 1232;

const server = await startServer({ args: ["--dns", "127.0.0.1:0"] });
after(() => server[Symbol.asyncDispose]());
const nameserver = server.ready["dns"]!;
const zone = await TestZone.make(server, "intake.test");
await zone.create({ type: "A", name: "www", content: "192.0.2.1" });

/** Every message of the conformance cases: each is close to something that matters. */
const folder = fileURLToPath(new URL("../conformance/dns", import.meta.url));
const samples = globSync(`${folder}/*.txt`)
  .filter((path) => !path.endsWith("records.txt"))
  .flatMap((path) => parseCases(readFileSync(path, "utf8")).cases)
  .map((one) => questionOf(one, Buffer.alloc(24)).message);

const random = chanceFrom(SEED);

/** A sample with some of it changed, cut off, or put in twice. */
function noise(): Buffer {
  let message = Buffer.from(samples[random(samples.length)]!);
  for (let left = 1 + random(4); left > 0 && message.length > 0; left--) {
    const at = random(message.length);
    const kind = random(6);
    if (kind < 3) message[at] = random(256);
    else if (kind === 3) message = message.subarray(0, at);
    else if (kind === 4) message = Buffer.concat([message, message.subarray(at)]);
    else message = Buffer.concat([message.subarray(0, at), message.subarray(at + 1)]);
  }
  return message.subarray(0, 4096);
}

/** Whether the octets are a response to the message, and well formed. */
function checkReply(reply: Buffer, message: Buffer): void {
  const flags = reply.readUInt16BE(2);
  assert.ok(flags & FLAG.QR, "QR");
  assert.equal(reply.readUInt16BE(0), message.readUInt16BE(0), "ID");
  assert.equal((flags >> 11) & 15, (message[2]! >> 3) & 15, "opcode");
  assert.ok(reply.length <= LARGEST, `${reply.length} octets`);
  checkWire(reply);
}

test("whatever comes over UDP, at most one good answer goes back, and none to a response", async () => {
  using client = await UdpClient.open(nameserver);
  let answers = 0;
  for (let round = 0; round < COUNT / TOGETHER; round++) {
    const messages = Array.from({ length: TOGETHER }, noise);
    messages.forEach((message, i) => message.length > 1 && message.writeUInt16BE(i));
    const last = encodeQuery({ name: `www.${zone.name}`, type: "A", id: TOGETHER });
    const replies = await client.askThen(messages, last);
    for (const reply of replies) {
      const message = messages[reply.readUInt16BE(0)]!;
      try {
        assert.ok(!(message[2]! & 0x80), "a response was answered");
        checkReply(reply, message);
      } catch (cause) {
        const told = `${message.toString("hex")} was answered by ${reply.toString("hex")}`;
        throw new Error(told, { cause });
      }
    }
    const ids = replies.map((reply) => reply.readUInt16BE(0));
    assert.equal(new Set(ids).size, ids.length, "two answers to one message");
    answers += replies.length;
  }
  assert.ok(answers > COUNT / 2, `${answers} answers`);
});

test("over TCP all that has a header and is no response gets an answer", async () => {
  for (let left = 300; left > 0; left--) {
    const message = noise();
    if (message.length < 12 || message[2]! & 0x80) continue;
    const reply = await askTcp(nameserver, message);
    assert.ok(reply !== null, `${message.toString("hex")} got no answer`);
    checkReply(reply, message);
  }
});

test("afterwards it answers as before, and has logged nothing of it", async () => {
  using client = await UdpClient.open(nameserver);
  const { answer } = decodeMessage(
    await client.ask(encodeQuery({ name: `www.${zone.name}`, type: "A" })),
  );
  assert.equal(answer[0]?.data, "192.0.2.1");
  assert.doesNotMatch(server.output.stderr, /"level":"(?:warn|error)"/);
});
