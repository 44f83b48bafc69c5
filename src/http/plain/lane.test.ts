/** Plain requests on the wire, in clear and over TLS, and connections that stop being plain. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { IncomingMessage, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { afterEach, suite, test } from "node:test";
import { connectTo, listenForTest } from "../../../test/support/http-listener.ts";
import { msOf, PATIENCE_MS, until } from "../../../test/support/patience.ts";
import { readBody } from "../body.ts";
import { breakOff } from "../break-off.ts";
import type { HttpLimits } from "../limits.ts";
import type { HttpListener } from "../server.ts";

const MIB = 1024 ** 2;
/** More than the system takes for a client that reads nothing. */
const MUCH = Buffer.alloc(32 * MIB, "m");

type Handle = (request: IncomingMessage, response: ServerResponse) => unknown;

let listener: HttpListener;
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy();
  await listener[Symbol.asyncDispose]();
});

/** What came back, as text of a character an octet. */
class Client {
  readonly socket: Socket;
  text = "";
  isEnded = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => (this.text += text));
    socket.on("end", () => (this.isEnded = true)).on("error", () => {});
    clients.push(this);
  }

  send(text: string): void {
    this.socket.write(text, "latin1");
  }

  /** Waits until so many answers of status 200 have begun. */
  async answers(count: number): Promise<string> {
    await until(() => this.text.split("HTTP/1.1 200 ").length > count);
    return this.text;
  }

  async closed(): Promise<string> {
    if (!this.socket.closed) {
      await once(this.socket, "close", { signal: AbortSignal.timeout(PATIENCE_MS) });
    }
    return this.text;
  }
}

for (const isSecure of [false, true]) {
  suite(`a plain request ${isSecure ? "over TLS" : "in clear"}`, () => {
    async function listen(handle: Handle, limits: Partial<HttpLimits> = {}): Promise<void> {
      listener = await listenForTest({ isSecure, handle, limits });
    }

    async function open(): Promise<Client> {
      const socket = await connectTo(listener, isSecure);
      return new Client(socket);
    }

    const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x.test\r\n${more}\r\n`;
    const echo: Handle = (request, response) => {
      const send = (body: Buffer) => {
        response.writeHead(200, ["Content-Length", String(body.length)]);
        response.end(body);
      };
      readBody(request, MIB).then(send, () => {}); // Who breaks off is told by the listener.
    };
    const path: Handle = (request, response) => void response.end(`<${request.url}>`);

    test("is answered with date, length and how long the connection waits", async () => {
      await listen((_request, response) => response.writeHead(200, ["X-A", "1"]).end("octets"));
      const client = await open();
      client.send(get("/"));
      const date = String.raw`Date: \w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT\r\n`;
      const kept = String.raw`Connection: keep-alive\r\nKeep-Alive: timeout=60\r\n`;
      await until(() => client.text.endsWith("octets"));
      const whole = `^HTTP/1.1 200 OK\r\nX-A: 1\r\n${date}${kept}Content-Length: 6\r\n\r\noctets$`;
      assert.match(client.text, new RegExp(whole));
    });

    test("comes after another, in the order of sending, whoever answers first", async () => {
      const held: (() => void)[] = [];
      await listen((request, response) => {
        const answer = () => path(request, response);
        if (request.url === "/slow") held.push(answer);
        else answer();
      });
      const client = await open();
      client.send(get("/1") + get("/slow") + get("/2") + get("/3"));
      await until(() => held.length === 1 && client.text.includes("</1>"));
      assert.equal(client.text.split("HTTP/1.1").length, 2);
      held[0]!();
      assert.deepEqual((await client.answers(4)).match(/<[^>]*>/g), [
        "</1>",
        "</slow>",
        "</2>",
        "</3>",
      ]);
    });

    test("may come octet by octet, and is not looked through with each", async () => {
      let isNodes = false;
      await listen((request, response) => {
        isNodes = request instanceof IncomingMessage;
        echo(request, response);
      });
      const client = await open();
      client.socket.setNoDelay(true);
      const whole = "PUT /a HTTP/1.1\r\nHost: x.test\r\nContent-Length: 3\r\n\r\nabc";
      for (const octet of whole) {
        client.send(octet);
        await new Promise(setImmediate);
      }
      assert.match(await client.answers(1), /\r\n\r\nabc$/);
      assert.equal(isNodes, true); // Its parser goes on where it was.
    });

    test("has its body, behind which the next request begins", async () => {
      await listen(echo);
      const client = await open();
      const put = (body: string) =>
        `PUT /a HTTP/1.1\r\nHost: x.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      client.send(put("one") + put("") + put("GET / HTTP/1.1\r\n\r\n") + put("last"));
      await until(() => client.text.endsWith("\r\n\r\nlast"));
      assert.match(
        client.text,
        /\r\n\r\noneHTTP.*\r\n\r\nHTTP.*\r\n\r\nGET \/ HTTP\/1\.1\r\n\r\nHTTP/s,
      );
    });

    test("with HEAD, 204 or 304 is answered without a body, and the next one with", async () => {
      await listen((request, response) => {
        const status = Number(request.url!.slice(1));
        response.writeHead(status, ["Content-Length", "4"]).end("body");
      });
      const client = await open();
      client.send(get("/200").replace("GET", "HEAD") + get("/304") + get("/200"));
      await until(() => client.text.endsWith("body"));
      assert.equal(client.text.match(/body/g)!.length, 1);
    });

    test("is answered in chunks where nobody says how long the answer is", async () => {
      await listen((_request, response) => {
        response.writeHead(200, ["Trailer", "X-T"]);
        response.write("one");
        response.write("");
        response.write(Buffer.from("twó"));
        response.addTrailers({ "X-T": "v" });
        response.end("three");
      });
      const client = await open();
      client.send(get("/", "TE: trailers\r\n"));
      await until(() => client.text.endsWith("\r\n\r\n") && client.text.includes("X-T: v"));
      assert.match(client.text, /Transfer-Encoding: chunked\r\n/);
      assert.ok(
        client.text.endsWith(
          "\r\n\r\n3\r\none\r\n4\r\ntw\xc3\xb3\r\n5\r\nthree\r\n0\r\nX-T: v\r\n\r\n",
        ),
      );
    });

    test("gets the pieces of its answer as they are written", async () => {
      await listen(async (_request, response) => {
        response.writeHead(200, ["Content-Length", "2"]).flushHeaders();
        await new Promise(setImmediate);
        response.write("a");
        await new Promise(setImmediate);
        response.end("b");
      });
      const client = await open();
      // Where one is held back until those before it are acknowledged, each answer but the first few takes 40 ms.
      const took: number[] = [];
      while (took.length < 30) {
        client.text = "";
        const elapsed = await msOf(async () => {
          client.send(get("/"));
          await until(() => client.text.endsWith("ab"));
        });
        took.push(elapsed);
      }
      assert.ok(Math.min(...took.slice(10)) < 30, took.join());
    });

    test("hears news before its answer", async () => {
      await listen((_request, response) => {
        response.writeInformation(103, { Link: "</a>" });
        response.end("x");
      });
      const client = await open();
      client.send(get("/"));
      assert.match(
        await client.answers(1),
        /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200/,
      );
    });

    test("gets no headers that a handler did not mean", async () => {
      await listen((_request, response) => {
        assert.throws(() => response.writeHead(200, ["X-A", "1\r\nX-B: 2"]), /forbidden/);
        assert.throws(() => response.writeHead(200, ["X-A:", "1"]), /forbidden/);
        assert.throws(() => response.writeHead(200, "a\nb", []), /forbidden/);
        response.end("none");
      });
      const client = await open();
      client.send(get("/"));
      await until(() => client.text.endsWith("none"));
      assert.doesNotMatch(client.text, /X-/);
    });

    test("loses its connection to an answer that is not as long as it says", async () => {
      let asked = 0;
      await listen((_request, response) => {
        asked++;
        response.writeHead(200, ["Content-Length", "9"]).end("ab");
      });
      const client = await open();
      client.send(get("/") + get("/"));
      assert.equal((await client.closed()).split("HTTP/1.1").length <= 2, true);
      assert.equal(asked, 1); // Nobody would hear of what is done for another.
    });

    test("that is to be the last is, and what follows is not performed", async () => {
      const asked: string[] = [];
      await listen((request, response) => {
        asked.push(request.url!);
        path(request, response);
      });
      const client = await open();
      client.send(get("/1", "Connection: close\r\n") + get("/2"));
      assert.match(await client.closed(), /Connection: close\r\n.*<\/1>$/s);
      assert.deepEqual(asked, ["/1"]);
    });

    test("goes to Node with what follows when it is not plain, and is answered in turn", async () => {
      await listen(echo);
      const client = await open();
      const chunked =
        "POST /c HTTP/1.1\r\nHost: x.test\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
      const put = "PUT /a HTTP/1.1\r\nHost: x.test\r\nContent-Length: 5\r\n\r\nplain";
      client.send(put + put + chunked + put + chunked);
      await client.answers(5);
      await until(() => client.text.endsWith("\r\n\r\nhi"));
      assert.deepEqual(
        client.text.match(/\r\n\r\n[a-z]+/g)!.map((text) => text.trim()),
        ["plain", "plain", "hi", "plain", "hi"],
      );
    });

    test("with a long body goes to Node, which reads it as it comes", async () => {
      await listen(echo);
      const client = await open();
      const body = "0123456789abcdef".repeat(MIB / 16);
      client.send(get("/")); // The connection was plain before.
      await client.answers(1);
      const before = client.text.length;
      client.send(
        `PUT /a HTTP/1.1\r\nHost: x.test\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await until(() => client.text.length > before + MIB && client.text.endsWith(body));
    });

    test("behind which many others wait does not hold them in memory", async () => {
      const held: ServerResponse[] = [];
      await listen((_request, response) => void held.push(response));
      const client = await open();
      let isStuck = false;
      const flood = get("/").repeat(200);
      for (let sent = 0; sent < 64 * MIB && !isStuck; sent += flood.length) {
        if (client.socket.write(flood)) continue;
        const drained = once(client.socket, "drain").then(() => true);
        isStuck = !(await Promise.race([drained, new Promise((go) => setTimeout(go, 500))]));
      }
      assert.equal(isStuck, true);
      assert.equal(held.length, 1);
    });

    test("of a client that takes no answers gets no more of them", async () => {
      let asked = 0;
      const large = Buffer.alloc(MIB / 4);
      await listen((_request, response) => {
        asked++;
        response.writeHead(200, ["Content-Length", String(large.length)]).end(large);
      });
      const client = await open();
      client.socket.pause();
      client.send(get("/").repeat(200));
      let before = -1;
      await until(async () => {
        const isStill = asked === before && asked > 0;
        before = asked;
        await new Promise((go) => setTimeout(go, 200));
        return isStill;
      });
      assert.ok(asked < 100, `${asked} were answered`);
      client.socket.resume();
      await until(() => asked === 200);
    });

    test("that its client leaves tells the answer so", async () => {
      const left = Promise.withResolvers<void>();
      const asked = Promise.withResolvers<void>();
      await listen((_request, response) => {
        response.once("close", left.resolve);
        asked.resolve();
      });
      const client = await open();
      client.send(get("/"));
      await asked.promise;
      client.socket.destroy();
      await left.promise;
    });

    test("tells who waits for room when there is some", async () => {
      const large = Buffer.alloc(8 * MIB);
      await listen((_request, response) => {
        response.writeHead(200, ["Content-Length", String(large.length)]);
        assert.equal(response.write(large.subarray(1)), false);
        response.once("drain", () => response.end(large.subarray(0, 1)));
      });
      const client = await open();
      client.send(get("/"));
      await until(() => client.text.length > large.length);
    });

    test("whose client resets behind one that is not plain harms nobody else", async () => {
      await listen(path);
      const chunked =
        "PUT /b HTTP/1.1\r\nHost: x.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
      for (let round = 0; round < 5; round++) {
        const leaving = await Promise.all(Array.from({ length: 8 }, open));
        for (const client of leaving) {
          client.send(get("/a") + chunked);
          if (isSecure) client.socket.destroy();
          else client.socket.resetAndDestroy();
        }
        const client = await open();
        client.send(get("/mine"));
        assert.match(await client.answers(1), /<\/mine>$/);
      }
      await until(() => listener.connections <= 5);
    });

    test("whose connection its handler ends is not followed by another, plain or not", async () => {
      await listen((request, response) => {
        response.end(`<${request.url}>`);
        if (request.url === "/end") request.socket.destroy();
      });
      for (const more of ["", "Transfer-Encoding: chunked\r\n"]) {
        const client = await open();
        client.send(get("/end") + get("/more", more));
        assert.ok(!(await client.closed()).includes("/more"));
        const other = await open();
        other.send(get("/other"));
        assert.match(await other.answers(1), /<\/other>$/);
      }
    });

    test("that Node has, and whose answer breaks off behind another, loses its connection", async () => {
      await listen((request, response) => {
        if (request.url === "/first") setTimeout(() => response.end("one"), 100);
        else {
          response.writeHead(200, { "Content-Length": "11" }).write("part");
          setTimeout(() => breakOff(response), 20);
        }
      });
      const client = await open();
      const chunked = "Transfer-Encoding: chunked\r\n";
      client.send(`${get("/first", chunked)}0\r\n\r\n${get("/second")}`);
      assert.match(await client.closed(), /one/);
    });

    test("whose client resets among many of its own leaves nothing to others", async () => {
      const padding = "p".repeat(1000);
      await listen((request, response) => void response.end(request.url + padding));
      for (let round = 0; round < 10; round++) {
        const leaving = await open();
        leaving.send(get("/leaving").repeat(1200));
        if (isSecure) leaving.socket.destroy();
        else leaving.socket.resetAndDestroy();
        const client = await open();
        client.send(get("/mine"));
        await until(() => client.text.endsWith(padding));
        assert.equal(client.text.split("HTTP/1.1").length, 2);
        assert.match(client.text, /\r\n\/mine/);
      }
    });

    test("is answered for as long as the answer moves", async () => {
      await listen(
        (_request, response) => {
          let left = 8;
          const timer = setInterval(() => {
            response.write("event\n");
            if (--left > 0) return;
            clearInterval(timer);
            response.end("the end");
          }, 300);
        },
        { requestSeconds: 1, idleSeconds: 0 },
      );
      const client = await open();
      client.send(get("/", "Connection: close\r\n"));
      assert.match(await client.closed(), /the end/);
    });

    test("that stops within its head is refused when its time is up", async () => {
      await listen(path, { headerSeconds: 1 });
      const client = await open();
      client.send(get("/"));
      await client.answers(1);
      client.send("GET /late HTTP/1.1\r\nHo");
      assert.match(await client.closed(), /HTTP\/1\.1 408 .*refused 408$/s);
    });

    test("that does not come at all is refused when its time is up", async () => {
      await listen(path, { headerSeconds: 1 });
      assert.match(await (await open()).closed(), /^HTTP\/1\.1 408 .*refused 408$/s);
    });

    test("whose body does not come is refused when its time is up", async () => {
      await listen(echo, { requestSeconds: 2 });
      const client = await open();
      client.send("PUT /a HTTP/1.1\r\nHost: x.test\r\nContent-Length: 3\r\n\r\nab");
      assert.match(await client.closed(), /HTTP\/1\.1 408 .*refused 408$/s);
    });

    test("leaves a connection that is closed without a word when nothing follows", async () => {
      await listen(path, { idleSeconds: 1 });
      const client = await open();
      client.send(get("/"));
      assert.match(await client.closed(), /<\/>$/);
    });

    test("at a stop is answered as the last, and who sends none is not waited for", async () => {
      const held = Promise.withResolvers<ServerResponse>();
      await listen((_request, response) => held.resolve(response), { drainSeconds: 60 });
      const [idle, busy] = [await open(), await open()];
      busy.send(get("/"));
      const response = await held.promise;
      const stopped = listener[Symbol.asyncDispose]();
      assert.equal(await idle.closed(), "");
      busy.send(get("/never"));
      response.end("answered");
      assert.match(await busy.closed(), /Connection: close\r\n.*answered$/s);
      await stopped;
    });

    for (const [who, more] of Object.entries({ here: "", "by Node": "A: 1\r\na: 2\r\n" })) {
      test(`at a stop is sent to its end, before the stop or within it, ${who}`, async () => {
        let asked = 0;
        await listen(
          (_request, response) => {
            asked++;
            response.writeHead(200, ["Content-Length", String(MUCH.length)]).end(MUCH);
          },
          { drainSeconds: 60 },
        );
        const [before, within, idle] = [await open(), await open(), await open()];
        for (const { socket } of [before, within]) socket.pause();
        before.send(get("/", more));
        await until(() => asked === 1);
        const stopped = listener[Symbol.asyncDispose]();
        within.send(get("/", more));
        await until(() => asked === 2);
        await idle.closed(); // So is what else looks idle.
        for (const { socket } of [before, within]) socket.resume();
        for (const client of [before, within]) {
          assert.ok((await client.closed()).endsWith(MUCH.toString("latin1")));
        }
        await stopped;
      });
    }

    test("is answered to its end, however long its client takes for that", async () => {
      await listen((_request, response) => void response.end(MUCH), {
        idleSeconds: 1,
        headerSeconds: 1,
      });
      const [one, two, idle] = [await open(), await open(), await open()];
      for (const { socket } of [one, two]) socket.pause();
      one.send(get("/"));
      two.send(get("/") + get("/"));
      idle.send(get("/"));
      await idle.closed(); // Who has taken the answer has had its time.
      for (const client of [one, two]) client.socket.resume();
      assert.ok((await one.closed()).endsWith(MUCH.toString("latin1")));
      assert.equal((await two.closed()).split("HTTP/1.1 200 ").length, 3);
    });

    test("of a client that takes no last answer, but goes on sending, is given up", async () => {
      await listen((_request, response) => void response.end(MUCH), {
        idleSeconds: 1,
        requestSeconds: 1,
      });
      const client = await open();
      client.socket.pause();
      client.send(get("/", "Connection: close\r\n"));
      const sending = setInterval(() => client.send("x".repeat(MIB)), 50);
      await until(() => client.socket.closed).finally(() => clearInterval(sending));
    });

    test("whose answer comes when its client has gone hears of that once", async () => {
      const asked = Promise.withResolvers<ServerResponse>();
      await listen((_request, response) => asked.resolve(response));
      const client = await open();
      client.send(get("/"));
      const response = await asked.promise;
      let closes = 0;
      const left = new Promise<void>((resolve) => {
        response.on("close", () => {
          closes++;
          resolve();
        });
      });
      client.socket.destroy();
      await left;
      response.end("late");
      await new Promise(setImmediate);
      assert.equal(closes, 1);
    });

    if (isSecure) return; // Of TLS Node itself closes both ways at once.

    test("whose client has no more to say is answered, with those before it", async () => {
      await listen(path);
      const client = await open();
      client.socket.end(get("/1") + get("/2"));
      assert.deepEqual((await client.closed()).match(/<[^>]*>/g), ["</1>", "</2>"]);
    });

    test("that is cut short is refused", async () => {
      await listen(path);
      const [head, body] = [await open(), await open()];
      head.socket.end("GET / HTTP/1.1\r\nHost");
      assert.match(await head.closed(), /refused 400$/);
      body.socket.end("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab");
      assert.match(await body.closed(), /refused 400 cut short$/);
    });
  });
}
