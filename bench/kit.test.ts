/** The parts of the bench kit that a wrong figure could hide in. Run by `node --test bench/`. */
import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import type { Bench, Round, Row } from "./kit/bench.ts";
import { coresIn } from "./kit/cores.ts";
import { cpuSeconds, cpuSecondsIn, machineCpuSeconds, machineCpuSecondsIn } from "./kit/cpu.ts";
import { Histogram } from "./kit/histogram.ts";
import { requestText } from "./kit/http-exchange.ts";
import { loadHttp } from "./kit/http-load.ts";
import { describeMachine } from "./kit/machine.ts";
import { printReport, reportOf } from "./kit/report.ts";
import { ResponseReader } from "./kit/response-reader.ts";
import { median, summarize } from "./kit/summary.ts";

const RESPONSE = "HTTP/1.1 200 OK\r\nDate: now\r\ncontent-LENGTH:  5\r\nX: y\r\n\r\nhello";
const EMPTY = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
const CHUNKED =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
  "5\r\nhello\r\n1A;x=y\r\n0\r\n\r\n0123456789abcdefghijk\r\n0\r\nX: y\r\n\r\n";

suite("a response reader", () => {
  const take = (reader: ResponseReader, text: string) => {
    const bytes = Buffer.from(text);
    return reader.take(bytes, bytes.length);
  };

  test("counts the same responses wherever the packets are cut", () => {
    const stream = RESPONSE + EMPTY + CHUNKED + RESPONSE + CHUNKED + CHUNKED + EMPTY;
    for (let size = 1; size <= stream.length; size++) {
      const reader = new ResponseReader();
      let complete = 0;
      for (let at = 0; at < stream.length; at += size) {
        complete += take(reader, stream.slice(at, at + size));
      }
      assert.equal(complete, 7, `in packets of ${size} bytes`);
    }
  });

  test("does not read what an earlier packet left in the buffer", () => {
    const reader = new ResponseReader();
    const buffer = Buffer.from(RESPONSE);
    assert.equal(reader.take(buffer, 30), 0);
    assert.equal(take(reader, RESPONSE.slice(30)), 1);
  });

  test("throws at any other status and at a body without a length", () => {
    const failed = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
    assert.throws(() => take(new ResponseReader(), failed), /did not answer 200:\nHTTP\/1.1 503/);
    const endless = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    assert.throws(() => take(new ResponseReader(), endless), /without a length/);
    assert.throws(() => take(new ResponseReader(), "x".repeat(70_000)), /A head of over/);
  });
});

suite("a load", () => {
  const job = { host: "127.0.0.1", request: requestText("/", {}), connections: 4, seconds: 60 };

  test("ends at its count and has seen every answer", async () => {
    let asked = 0;
    await using server = await listen((_request, response) => response.end(`answer ${++asked}`));
    const result = await loadHttp({ ...job, port: server.port, maxRequests: 1_000 });
    assert.equal(result.requests, 1_000);
    assert.equal(asked, 1_000);
    assert.ok(result.seconds < job.seconds && result.p50Micros <= result.p99Micros);
  });

  test("ends at its time", async () => {
    await using server = await listen((_request, response) => response.end("ok"));
    const result = await loadHttp({ ...job, port: server.port, seconds: 0.1, maxRequests: 1e9 });
    assert.ok(result.seconds >= 0.1 && result.requests > 0);
  });

  test("fails when a server refuses, errs or hangs up", async () => {
    await using erring = await listen((_request, response) => response.writeHead(500).end());
    await using leaving = await listen((request) => request.socket.destroy());
    const run = (port: number) => loadHttp({ ...job, port, maxRequests: 10 });
    await assert.rejects(run(erring.port), /did not answer 200/);
    await assert.rejects(run(leaving.port), /closed a connection|ECONNRESET/);
    await assert.rejects(run(1), /ECONNREFUSED/);
  });
});

test("quantiles are right to the width of a bucket", () => {
  const histogram = new Histogram();
  assert.equal(histogram.quantile(0.5), 0);
  for (let micros = 1; micros <= 10_000; micros++) histogram.record(micros);
  for (const share of [0.1, 0.5, 0.99]) {
    const expected = share * 10_000;
    assert.ok(Math.abs(histogram.quantile(share) / expected - 1) < 0.022, `at ${share}`);
  }
  histogram.record(0);
  histogram.record(1e12);
  assert.equal(histogram.total, 10_002);
});

test("CPU time is read past a name with brackets and spaces", () => {
  const stat = "7 (a) b) S 1 7 7 0 -1 4194304 2000 0 0 0 150 25 9 9 20 0 11 0 100";
  assert.equal(cpuSecondsIn(stat), 1.75);
  assert.ok(cpuSeconds(process.pid) > 0);
});

test("the machine's CPU time is that of processes and what the host took", () => {
  assert.equal(machineCpuSecondsIn("cpu  100 20 300 9999 77 55 66 4 0 0\ncpu0 1 1\n"), 4.24);
  assert.ok(machineCpuSeconds() > 0);
});

test("a list of cores is read as the kernel writes it", () => {
  assert.deepEqual(coresIn("0-2,5,7-8"), [0, 1, 2, 5, 7, 8]);
  assert.deepEqual(coresIn("3"), [3]);
});

test("a row comes to its medians, ratios and aims", () => {
  assert.equal(median([3, 1, 2]), 2);
  assert.equal(median([4, 1, 2, 3]), 2.5);
  const rounds: Round[] = [
    { first: "ours", ours: { rate: 50 }, peer: { rate: 100 } },
    { first: "peer", ours: { rate: 70 }, peer: { rate: 100 } },
  ];
  const row = {
    name: "row",
    names: { ours: "us", peer: "them" },
    shown: [],
    aims: [
      { text: "ratio", key: "rate", ratioAtLeast: 0.6 },
      { text: "below", key: "rate", below: 60 },
      { text: "no more", key: "rate", ratioAtMost: 0.6 },
    ],
    conditions: [],
    rounds,
  };
  const { medians, ratios, aims } = summarize(row);
  assert.deepEqual(medians, { ours: { rate: 60 }, peer: { rate: 100 } });
  assert.deepEqual(ratios["rate"], { median: 0.6, least: 0.5, greatest: 0.7 });
  assert.deepEqual(
    aims.map(({ verdict }) => verdict),
    ["met", "not met", "met"],
  );
  const unfit = { ...row, conditions: [{ otherwise: "too slow", key: "rate", atLeast: 80 }] };
  const { aims: open, doubts } = summarize(unfit);
  assert.ok(open.every(({ verdict }) => verdict === "undecided"));
  assert.deepEqual(doubts, ["too slow"]);
});

test("peers of rows with one name stand in one table", () => {
  const row = (peer: string): Row => ({
    name: "row",
    names: { ours: "us", peer },
    shown: [{ key: "rate", label: "a second", digits: 0 }],
    aims: [{ text: "as many", key: "rate", ratioAtLeast: 1 }],
    conditions: [{ otherwise: "too few", key: "rate", atLeast: peer === "A" ? 2 : 3 }],
    rounds: [{ first: "ours", ours: { rate: 3 }, peer: { rate: 2 } }],
  });
  const [bench, machine] = [{ name: "", summary: "", parameters: {} } as Bench, describeMachine()];
  const run = { date: "", machine, pinned: "", rounds: 1, seconds: null };
  const print = (...rows: Row[]) =>
    printReport(reportOf(bench, rows, run))
      .split("\n")
      .slice(4);
  assert.deepEqual(print(row("A"), row("B")), [
    "  row       us  A  ratio  B  ratio",
    "  a second   3  2   1.50  2   1.50",
    "  aim: A: as many: MET",
    "  aim: B: as many: UNDECIDED",
    "  doubt: B: too few",
    "",
  ]);
  assert.deepEqual(print(row("A")), [
    "  row       us  A  ratio  of single rounds",
    "  a second   3  2   1.50      1.50 to 1.50",
    "  aim: as many: MET",
    "",
  ]);
});

async function listen(handle: RequestListener): Promise<AsyncDisposable & { port: number }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}
