import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { threadLoop } from "./loop/loop.ts";
import type { AnswerSink, Exchange } from "./upstream-connection.ts";
import { Upstream } from "./upstream.ts";

/** A server that hands each connection to the test. */
async function listen(onConnection: (socket: Socket) => void, path?: string) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  if (path === undefined) server.listen(0, "127.0.0.1");
  else server.listen(path);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const options = {
    target: path === undefined ? { host: "127.0.0.1", port } : { path },
    readsAtOnce: Infinity,
    idleMs: 300,
    connectMs: 2_000,
  };
  const upstream = new Upstream(options);
  return {
    options,
    upstream,
    sockets,
    async [Symbol.asyncDispose]() {
      upstream[Symbol.dispose]();
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

interface Outcome {
  status: number;
  body: string;
  failed: Error | null;
  answered: boolean;
}

function ask(upstream: Upstream, method = "GET", body: string | null = null) {
  const outcome: Outcome = { status: 0, body: "", failed: null, answered: false };
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const sink: AnswerSink = {
    head: ({ status }) => (outcome.status = status),
    data: (octets) => (outcome.body += octets.toString()),
    end: () => resolve(outcome),
    fail: (cause, answered) => resolve({ ...outcome, failed: cause, answered }),
  };
  const length = body === null ? "" : `Content-Length: ${body.length}\r\n`;
  const exchange = upstream.send(method, `${method} / HTTP/1.1\r\nHost: a\r\n${length}\r\n`, sink);
  if (body !== null) exchange.write(body);
  exchange.finish();
  return { promise, exchange };
}

const HELLO = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

suite("an upstream", () => {
  test("uses a connection again once its answer is whole", async () => {
    await using server = await listen((socket) => socket.on("data", () => socket.write(HELLO)));
    for (let i = 0; i < 5; i++) {
      const { promise, exchange } = ask(server.upstream);
      assert.equal(exchange.isReused, i > 0);
      assert.equal((await promise).body, "hello");
    }
    assert.equal(server.sockets.size, 1);
    await Promise.all([ask(server.upstream).promise, ask(server.upstream).promise]);
    assert.equal(server.sockets.size, 2, "two at a time need two");
  });

  test("does not use one again whose answer said so, or came before the request was whole", async () => {
    await using server = await listen((socket) =>
      socket.on("data", () => socket.write(HELLO.replace("OK\r\n", "OK\r\nConnection: close\r\n"))),
    );
    await ask(server.upstream).promise;
    await ask(server.upstream).promise;
    assert.equal(server.sockets.size, 2);

    await using early = await listen((socket) => socket.once("data", () => socket.write(HELLO)));
    const { promise, resolve } = Promise.withResolvers<void>();
    early.upstream.send("POST", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n", {
      head: () => {},
      data: () => {},
      end: () => resolve(),
      fail: () => resolve(),
    });
    await promise;
    assert.equal((await ask(early.upstream).promise).body, "hello");
    assert.equal(early.sockets.size, 2);
  });

  test("tells of a connection that is refused, closed or speaks no HTTP", async () => {
    await using server = await listen((socket) => socket.on("data", () => socket.end()));
    const closed = await ask(server.upstream).promise;
    assert.deepEqual([closed.failed instanceof Error, closed.answered], [true, false]);

    await using half = await listen((socket) =>
      socket.on("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")),
    );
    const cut = await ask(half.upstream).promise;
    assert.deepEqual(
      [cut.body, cut.failed?.message, cut.answered],
      ["half", "The connection broke off", true],
    );

    await using strange = await listen((socket) =>
      socket.on("data", () => socket.write("SSH-2.0\r\n\r\n")),
    );
    assert.match((await ask(strange.upstream).promise).failed!.message, /no HTTP/);

    await using other = await listen((socket) =>
      socket.on("data", () => socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n")),
    );
    assert.match((await ask(other.upstream).promise).failed!.message, /nobody asked/);

    const nobody = new Upstream({
      target: { host: "127.0.0.1", port: 1 },
      readsAtOnce: Infinity,
      idleMs: 100,
      connectMs: 1_000,
    });
    assert.match((await ask(nobody).promise).failed!.message, /ECONNREFUSED/);
    nobody[Symbol.dispose]();
  });

  test("forgets connections that wait too long, and those that the server closes", async () => {
    await using server = await listen((socket) => socket.on("data", () => socket.write(HELLO)));
    await ask(server.upstream).promise;
    const [first] = server.sockets;
    await once(first!, "close");
    await ask(server.upstream).promise;
    const second = [...server.sockets][1]!;
    second.destroy();
    await once(second, "close");
    const last = ask(server.upstream);
    const { body, failed, answered } = await last.promise;
    // It may not have noticed yet; then it says that another try is worth it.
    if (failed === null) assert.equal(body, "hello");
    else assert.deepEqual([last.exchange.isReused, answered], [true, false]);
    assert.equal((await ask(server.upstream).promise).body, "hello");
  });

  test("leaves connections whose body the server may not have read", async () => {
    await using server = await listen((socket) =>
      socket.on("data", (octets) => {
        if (/\r\n\r\n$|!$/.test(octets.toString())) socket.write(HELLO);
      }),
    );
    const careful = new Upstream({ ...server.options, readsAtOnce: 5, idleMs: 60_000 });
    const connections = async (...asked: Parameters<typeof ask>) => {
      await ask(...asked).promise;
      return server.sockets.size;
    };
    assert.equal(await connections(careful), 1);
    assert.equal(await connections(careful, "POST", "body!"), 1, "it came with its head");
    assert.equal(await connections(careful, "POST", "bodies!"), 1, "longer, on the one there is");
    assert.equal(await connections(careful), 2);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const late = careful.send("POST", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5", {
      head: () => {},
      data: () => {},
      end: () => resolve(),
      fail: reject,
    });
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    late.write("\r\n\r\nbody!");
    late.finish();
    await promise;
    assert.equal(await connections(careful), 3);
    const waiting = ask(careful, "POST", "body");
    careful[Symbol.dispose]();
    assert.ok((await waiting.promise).failed !== null, "whoever waits is told of the end");
  });

  test("sends a head at once whose body is late", async () => {
    const came = Promise.withResolvers<string>();
    await using server = await listen((socket) =>
      socket.once("data", (octets) => came.resolve(octets.toString())),
    );
    const head = "POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n";
    const sink = { head: () => {}, data: () => {}, end: () => {}, fail: () => {} };
    const exchange = server.upstream.send("POST", head, sink);
    assert.equal(await came.promise, head);
    exchange.abort();
  });

  test("hears an answer whose server closed before it had read the body", async () => {
    await using server = await listen((socket) =>
      socket.once("data", () => {
        socket.end(HELLO.replace("OK\r\n", "OK\r\nConnection: close\r\n"));
        socket.destroySoon();
      }),
    );
    for (let i = 0; i < 10; i++) {
      const heard = Promise.withResolvers<string>();
      let text = "";
      const exchange = server.upstream.send(
        "POST",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        {
          head: () => {},
          data: (octets) => (text += octets.toString()),
          end: () => heard.resolve(text),
          fail: heard.reject,
        },
      );
      for (let n = 0; n < 9; n++) {
        exchange.write("x");
        await new Promise(setImmediate);
      }
      exchange.finish();
      assert.equal(await heard.promise, "hello");
    }
  });

  test("takes nothing that came before a request for its answer", async () => {
    const forged = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged";
    let connections = 0;
    await using server = await listen((socket) => {
      const answer = connections++ === 0 ? HELLO + forged : HELLO;
      socket.on("data", () => socket.write(answer));
    });
    const first = Promise.withResolvers<string>();
    const next = Promise.withResolvers<Outcome>();
    let text = "";
    const exchange = server.upstream.send("GET", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", {
      head: () => {},
      data: (octets) => (text += octets.toString()),
      end: () => {
        first.resolve(text);
        next.resolve(ask(server.upstream).promise); // As for a client that had sent two.
      },
      fail: first.reject,
    });
    exchange.finish();
    assert.equal(await first.promise, "hello");
    assert.equal((await next.promise).body, "hello");
    assert.equal(connections, 2);
  });

  test("gives a request up with its connection", async () => {
    await using server = await listen(() => {});
    const { exchange } = ask(server.upstream);
    while (server.sockets.size === 0) await new Promise(setImmediate);
    const [socket] = server.sockets;
    const gone = once(socket!, "close");
    socket!.resume();
    exchange.abort();
    await gone;
  });

  test("holds back what its caller does not take", async () => {
    const size = 32 * 1024 ** 2;
    await using server = await listen((socket) =>
      socket.on("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
        socket.write(Buffer.alloc(size));
      }),
    );
    let got = 0;
    const done = Promise.withResolvers<void>();
    const exchange = server.upstream.send("GET", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", {
      head: () => {},
      data: (octets) => {
        got += octets.length;
        exchange.pause();
        setImmediate(() => exchange.resume());
      },
      end: () => done.resolve(),
      fail: (cause) => done.reject(cause),
    });
    exchange.finish();
    await done.promise;
    assert.equal(got, size);
  });

  test("reads over octets that were given back, and never over others", async () => {
    const length = 3 * 1024 ** 2;
    await using server = await listen((socket) => {
      socket.on("data", (request: Buffer) => {
        const value = Number(/^GET \/(\d+)/.exec(request.toString())![1]);
        const isChunked = value % 2 === 1;
        const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${length}`;
        socket.write(`HTTP/1.1 200 OK\r\n${framing}\r\n\r\n`);
        if (isChunked) socket.write(`${length.toString(16)}\r\n`);
        socket.write(Buffer.alloc(length, value));
        if (isChunked) socket.write("\r\n0\r\n\r\n");
      });
    });
    const memory = new Set<ArrayBufferLike>();
    let pieces = 0;
    const read = (value: number) =>
      new Promise<void>((resolve, reject) => {
        const held: Buffer[] = [];
        const check = (octets: Buffer) =>
          assert.ok(octets.equals(Buffer.alloc(octets.length, value)), "octets of another");
        server.upstream
          .send("GET", `GET /${value} HTTP/1.1\r\n\r\n`, {
            head: () => {},
            data: (octets, free) => {
              memory.add(octets.buffer);
              pieces++;
              // Every fourth answer is kept as a whole; of the others, pieces are given back late.
              if (value % 4 === 0) held.push(octets);
              else {
                setImmediate(() => {
                  check(octets);
                  free();
                  free(); // Does no harm.
                });
              }
            },
            end: () => {
              held.forEach(check);
              resolve();
            },
            fail: reject,
          })
          .finish();
      });
    for (let turn = 0; turn < 4; turn++) {
      await Promise.all(Array.from({ length: 12 }, (_, i) => read(turn * 12 + i + 1)));
    }
    assert.ok(memory.size < pieces);
  });

  test("hands over a connection that goes on in another protocol", async () => {
    await using server = await listen((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\nfirst");
        socket.on("data", (octets) => socket.write(octets));
      });
    });
    const { promise, resolve, reject } = Promise.withResolvers<[Socket, Buffer]>();
    server.upstream
      .send("GET", "GET / HTTP/1.1\r\nUpgrade: echo\r\n\r\n", {
        head: () => {},
        data: () => {},
        end: () => {},
        fail: reject,
        switched: (socket, first) => resolve([socket, first]),
      })
      .finish();
    const [socket, first] = await promise;
    assert.equal(first.toString(), "first");
    const sent = Buffer.alloc(1024 ** 2, "0123456789");
    socket.end(sent);
    const chunks: Buffer[] = [];
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
    assert.ok(Buffer.concat(chunks).equals(sent));
  });

  suite("on a connection that was used before", () => {
    const MUCH = 120 * 1024;
    const UNTIL_CLOSE = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";

    /** The first request is answered; what comes of the second, whose reader takes a rest at its first octets. */
    async function second(
      answer: (socket: Socket) => void,
      rest: (exchange: Exchange) => void,
      path?: string,
    ): Promise<{ octets: number; failed: Error | null }> {
      let asked = 0;
      await using server = await listen((socket) => {
        socket.on("data", () => (++asked === 1 ? socket.write(HELLO) : answer(socket)));
      }, path);
      await threadLoop();
      await ask(server.upstream).promise;
      const { promise, resolve } = Promise.withResolvers<Error | null>();
      let octets = 0;
      const exchange = server.upstream.send("POST", "POST / HTTP/1.1\r\nHost: a\r\n\r\n", {
        head: () => {},
        data: (piece, free) => {
          if (octets === 0) rest(exchange);
          octets += piece.length;
          free();
        },
        end: () => resolve(null),
        fail: (cause) => resolve(cause),
      });
      exchange.finish();
      assert.ok(exchange.isReused);
      return { failed: await promise, octets };
    }

    const pause = (exchange: Exchange) => {
      exchange.pause();
      setTimeout(() => exchange.resume(), 200);
    };

    test("an answer is whole that its server closed behind while nobody read", async () => {
      const folder = mkdtempSync(join(tmpdir(), "upstream-"));
      const answer = (socket: Socket) =>
        socket.write(UNTIL_CLOSE + "x".repeat(MUCH), () => setTimeout(() => socket.destroy(), 50));
      for (const path of [undefined, join(folder, "socket")]) {
        assert.deepEqual(await second(answer, pause, path), { failed: null, octets: MUCH });
      }
      rmSync(folder, { recursive: true });
    });

    test("an answer has failed whose connection was reset, whoever meets that first", async () => {
      const answer = (socket: Socket) =>
        socket.write(`${UNTIL_CLOSE}partial`, () => setTimeout(() => socket.resetAndDestroy(), 50));
      const write = (exchange: Exchange) => {
        setTimeout(() => {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100); // Busy while it is reset.
          exchange.write("more");
        }, 40);
      };
      for (const rest of [() => {}, pause, write]) {
        assert.equal((await second(answer, rest)).failed?.message, "read ECONNRESET");
      }
    });
  });
});
