/** The parts of the DNS bench that a wrong figure could hide in. Run by `node --test bench/`. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { suite, test } from "node:test";
import { type Answer, decode, encode } from "dns-packet";
import { checkAnswers, untilAnswering } from "./kit/dns-ask.ts";
import { readOutput } from "./kit/dns-perf.ts";
import { processTree, treeCpuSeconds, treeMemory } from "./kit/process-tree.ts";
import { memoryOf } from "./kit/memory.ts";
import { line, missing, questionOf, recordsOf, sampleOf, wild } from "./kit/dns-zone.ts";

const NAMES = 1_000;

suite("the zone", () => {
  const all = Array.from({ length: NAMES }, (_, n) => recordsOf(n));

  test("has a name of its own for each number, and the same each time", () => {
    assert.equal(new Set(all.map((records) => records[0]!.name)).size, NAMES);
    const lines = all.flat().map(line);
    assert.equal(new Set(lines).size, lines.length);
    assert.deepEqual(recordsOf(7), recordsOf(7));
  });

  test("holds what its answers say, and what others point to", () => {
    const lines = new Set(all.flat().map(line));
    const addresses = new Set(all.flat().flatMap(({ type, name }) => (type === "A" ? [name] : [])));
    for (let n = 0; n < NAMES; n++) {
      const { type, answer } = sampleOf(n, n);
      assert.ok(answer.every((record) => lines.has(line(record))));
      const isReferral = all[n]!.some((record) => record.type === "NS");
      assert.equal(answer.at(-1)?.type, isReferral ? undefined : type);
    }
    for (const { type, data } of all.flat()) {
      if (["CNAME", "MX", "SRV", "NS"].includes(type)) {
        assert.ok(addresses.has(data.split(" ").at(-1)!), `${type} ${data}`);
      }
    }
  });

  test("lacks the names that are to be missing", () => {
    const names = new Set(all.flat().map(({ name }) => name));
    for (let n = 0; n < NAMES; n++) assert.ok(!names.has(missing(n).name));
  });

  test("is asked for each type that it has", () => {
    const types = new Set(Array.from({ length: NAMES }, (_, n) => questionOf(n, n).type));
    assert.deepEqual([...types].sort(), ["A", "AAAA", "MX", "SRV", "TXT"]);
  });
});

suite("answers", () => {
  const sample = wild(1);
  const right: Answer = {
    name: sample.name.slice(0, -1),
    type: "A",
    ttl: 3_600,
    data: sample.answer[0]!.data,
  };

  test("are right when code and records are", async () => {
    await using server = await answerWith([right]);
    await checkAnswers(server.port, [sample]);
    await untilAnswering(server.port, [sample], () => null);
  });

  test("are wrong with another code, address or TTL, or a record more or less", async () => {
    const wrong: Answer[][] = [
      [],
      [right, right],
      [{ ...right, data: "192.0.2.99" }],
      [{ ...right, ttl: 60 }],
    ];
    for (const answers of wrong) {
      await using server = await answerWith(answers);
      await assert.rejects(checkAnswers(server.port, [sample]), /Wrong answer to w/);
    }
    await using server = await answerWith([]);
    await assert.rejects(checkAnswers(server.port, [missing(1)]), /NOERROR\ninstead of\nNXDOMAIN/);
  });

  test("are not waited for from a server that has ended", async () => {
    await assert.rejects(
      untilAnswering(1, [sample], () => "it ended"),
      /it ended/,
    );
  });
});

test("dnsperf's statistics are read", () => {
  const output = `Statistics:

  Queries sent:         368540
  Queries completed:    368536 (100.00%)
  Queries lost:         4 (0.00%)

  Response codes:       NOERROR 368536 (100.00%)
  Average packet size:  request 39, response 62
  Run time (s):         3.004012
  Queries per second:   122681.267585

  Average Latency (s):  0.000682 (min 0.000010, max 0.005961)
  Latency StdDev (s):   0.000225
`;
  assert.deepEqual(readOutput(output), {
    completed: 368_536,
    lost: 4,
    seconds: 3.004012,
    octets: 62,
    latencyMicros: 682,
  });
  assert.throws(() => readOutput("no"), /did not tell "Queries completed:"/);
});

test("processes that a process started count with it", async () => {
  // The lower one tells its number, and ends when its input does, with the upper one.
  const lower = "console.log(process.pid); process.stdin.resume();";
  const upper = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(lower)}], { stdio: ["pipe", "inherit", "ignore"] })`;
  const child = spawn(process.execPath, ["-e", upper], { stdio: ["ignore", "pipe", "ignore"] });
  try {
    const [told] = (await once(child.stdout, "data")) as [Buffer];
    const below = Number(told.toString());
    assert.deepEqual(processTree(child.pid!), [child.pid, below]);
    assert.ok(treeCpuSeconds(child.pid!) > 0);
    const { rssMiB, heldMiB } = treeMemory(child.pid!);
    assert.ok(heldMiB < rssMiB); // They share the program.
    assert.ok(heldMiB > memoryOf(below).rssMiB);
  } finally {
    child.kill("SIGKILL");
  }
});

/** A server that gives these answers to every question. */
async function answerWith(answers: Answer[]): Promise<AsyncDisposable & { port: number }> {
  const socket = createSocket("udp4");
  socket.on("message", (bytes, { port, address }) => {
    const { id, questions = [] } = decode(bytes);
    const reply = encode({ type: "response", id: id!, questions, answers });
    socket.send(reply, port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  return {
    port: socket.address().port,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}
