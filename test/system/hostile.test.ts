/**
 * Bad input on the wire: what it is answered with, and that it leaves nothing behind. One process
 * takes all of it; after each attack it must still serve, with all its data as it was.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { after, before, suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import fc from "fast-check";
import { until } from "../support/patience.ts";
import { keyHeaders, startServer, type TestServer } from "../support/server.ts";
import { type ApiAnswer, call, type Entry, readEnvelope } from "./api.ts";
import { accountKey, firstIds, policy, userKey } from "./policies.ts";
import { exchange, head, Wire, type WireAnswer } from "./wire.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { user, account } = await firstIds(server);

const MIB = 1024 ** 2;
/** The server's default limit for bodies. */
const BODY_LIMIT = MIB;
/** No answer to a bad request has more to say; one that repeats the request does not stop there. */
const LONGEST_REFUSAL = 16 * 1024;

const goodToken = { name: "good", policies: [policy("allow", userKey(user), "userDetailsRead")] };
const kept = await call(server, "POST", "/user/tokens", { body: goodToken });
const keptPath = `/user/tokens/${(kept.result as { id: string }).id}`;
await call(server, "POST", `/accounts/${account}/tokens`, {
  body: { name: "kept", policies: [policy("allow", accountKey("*"), "accountSettingsRead")] },
});
await call(server, "POST", "/accounts", { body: { name: "Kept" } });
const initial = await state();

/** A request that shows when it was performed: it makes an account. */
const smuggled = `${head("POST", "/accounts", "Content-Length: 19")}{"name":"Smuggled"}`;

/** All there is to lose, once every write that is under way is done: they wait in one line. */
async function state(): Promise<unknown[]> {
  await call(server, "PATCH", "/user", { body: {} });
  const lists = ["/accounts", "/user/tokens", `/accounts/${account}/tokens`, "/memberships"];
  const paths = ["/user", ...lists.map((path) => `${path}?per_page=1000`)];
  const answers = await Promise.all(paths.map((path) => call(server, "GET", path)));
  return answers.map(({ status, result }) => ({ status, result }));
}

/** A test that the server must come out of unharmed. */
function attack(name: string, run: () => Promise<void>): void {
  test(name, async () => {
    const was = await state();
    await run();
    assert.deepEqual(await state(), was);
  });
}

const targets = [
  ["POST", "/user/tokens"],
  ["PUT", `/accounts/${account}`],
] as const;

function assertRefused(answer: ApiAnswer, status: number, code: number): readonly Entry[] {
  assert.deepEqual([answer.status, answer.errors[0]?.code], [status, code], answer.text);
  assert.ok(answer.text.length < LONGEST_REFUSAL, `${answer.text.length} bytes of refusal`);
  return answer.errors;
}

/** Holds what came over a raw connection to a status and the envelope. */
function assertAnswer(answer: WireAnswer | undefined, status: number, code?: number): void {
  assert.ok(answer !== undefined, "there was no answer");
  assert.equal(answer.status, status, answer.body);
  assert.equal(answer.headers["content-type"], "application/json");
  const { errors } = readEnvelope(status, answer.body);
  if (code !== undefined) assert.equal(errors[0]?.code, code);
}

suite("a body", () => {
  const bad: [name: string, body: string | Uint8Array, code: number][] = [
    ["that ends too early", '{"name":"x"', 6007],
    ["with something behind it", '{"name":"x"} {"name":"y"}', 6007],
    ["with a comma too many", '{"name":"x",}', 6007],
    ["in single quotes", "{'name':'x'}", 6007],
    ["of NaN", '{"name":NaN}', 6007],
    ["of a form", "name=x&policies=y", 6007],
    ["with a NUL byte in a string", '{"name":"a\0b"}', 6007],
    ["of NUL bytes", new Uint8Array(1_000), 6007],
    ["in invalid UTF-8", Buffer.from('{"name":"\xff\xfe"}', "latin1"), 6007],
    ["in overlong UTF-8", Buffer.from('{"name":"\xc0\x80"}', "latin1"), 6007],
    ["with a surrogate in UTF-8", Buffer.from('{"name":"\xed\xa0\x80"}', "latin1"), 6007],
    ["in UTF-16", Buffer.from('{"name":"x"}', "utf16le"), 6007],
    ["a thousand arrays deep", nested("[", "]", 1_000), 6008],
    ["a hundred thousand arrays deep", nested("[", "]", 100_000), 6008],
    ["a hundred thousand objects deep", nested('{"a":', "}", 100_000, "1"), 6008],
    ["a hundred thousand arrays deep without an end", "[".repeat(100_000), 6007],
    ["with an escaped NUL in a value", String.raw`{"name":"a\u0000b"}`, 6009],
    ["with an escaped NUL in a key", String.raw`{"name":"x","a\u0000b":1}`, 6009],
    ["with the first half of a surrogate pair", String.raw`{"name":"\ud83d"}`, 6009],
    ["with the second half of a surrogate pair", String.raw`{"name":"\ude00"}`, 6009],
    ["with half a surrogate pair in a key", String.raw`{"name":"x","\ud83d":1}`, 6009],
    ["of another type", "[]", 1001],
    ["of null", "null", 1001],
    ["of a number past all bounds", "1e999", 1001],
    ["with its fields in the prototype", '{"__proto__":{"name":"x","policies":[]}}', 1001],
  ];
  for (const [name, body, code] of bad) {
    attack(`${name} is refused with ${code}`, async () => {
      for (const [method, path] of targets) {
        assertRefused(await call(server, method, path, { body }), 400, code);
      }
    });
  }

  attack("that is missing is called missing", async () => {
    const errors = assertRefused(await call(server, "POST", "/user/tokens"), 400, 1001);
    assert.equal(errors[0]?.message, "body is a required field.");
  });

  attack("of the wrong type is refused, whatever it holds", async () => {
    const message =
      "Invalid Content-Type header, valid values are application/json,multipart/form-data";
    const types = ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json"];
    for (const type of types) {
      const headers = { ...keyHeaders, "Content-Type": type };
      const answer = await call(server, "POST", "/user/tokens", { headers, body: goodToken });
      const [entry] = assertRefused(answer, 400, 6003);
      assert.equal(entry?.message, "Invalid request headers");
      assert.deepEqual(entry?.error_chain, [{ code: 6105, message }]);
    }
    // These are JSON by another name, so it is the empty object that is refused.
    for (const type of ["application/json; charset=utf-8", "APPLICATION/JSON"]) {
      const headers = { ...keyHeaders, "Content-Type": type };
      assertRefused(await call(server, "POST", "/user/tokens", { headers, body: {} }), 400, 1001);
    }
  });
});

suite("a field", () => {
  const pointersOf = async (method: string, path: string, body: unknown) => {
    const errors = assertRefused(await call(server, method, path, { body }), 400, 1001);
    return errors.map(({ source }) => source?.pointer);
  };
  const tokenWith = (fields: object) => pointersOf("POST", "/user/tokens", fields);
  const policyWith = (fields: object) => ({
    ...goodToken,
    policies: [{ ...goodToken.policies[0], ...fields }],
  });

  attack("that is missing has an entry of its own", async () => {
    const { errors } = await call(server, "POST", "/user/tokens", { body: { comment: "none" } });
    assert.deepEqual(errors, [
      { code: 1001, message: "name is a required field.", source: { pointer: "/name" } },
      { code: 1001, message: "policies is a required field.", source: { pointer: "/policies" } },
    ]);
    assert.deepEqual(await tokenWith({ ...goodToken, policies: [{}] }), [
      "/policies/0/effect",
      "/policies/0/permission_groups",
      "/policies/0/resources",
    ]);
    assert.deepEqual(await pointersOf("PUT", `/accounts/${account}`, { settings: {} }), ["/name"]);
  });

  attack("of the wrong type has an entry of its own", async () => {
    const found = await tokenWith({
      name: 5,
      status: "sleeping",
      policies: "all",
      condition: 4,
    });
    assert.deepEqual(new Set(found), new Set(["/condition", "/name", "/policies", "/status"]));
    assert.equal(found.length, 4);
    const wrong = { effect: "maybe", permission_groups: [7], resources: { a: true } };
    assert.deepEqual(await tokenWith({ ...goodToken, policies: [wrong] }), [
      "/policies/0/effect",
      "/policies/0/permission_groups/0",
      "/policies/0/resources/a",
    ]);
    assert.deepEqual(await pointersOf("PATCH", "/user", { first_name: ["x"] }), ["/first_name"]);
  });

  attack("with several faults has one entry", async () => {
    for (const expires_on of ["yesterday", 5, "2031-02-30T00:00:00Z"]) {
      assert.deepEqual(await tokenWith({ ...goodToken, expires_on }), ["/expires_on"]);
    }
    const settings = { abuse_contact_email: "a".repeat(300) };
    const found = await pointersOf("PUT", `/accounts/${account}`, { name: "x", settings });
    assert.deepEqual(found, ["/settings/abuse_contact_email"]);
  });

  attack("in a policy must mean something", async () => {
    const { permission_groups: _, ...rest } = goodToken.policies[0]!;
    const group = { ...rest, permission_groups: [{ id: "0".repeat(32) }] };
    assert.deepEqual(await tokenWith({ ...goodToken, policies: [group] }), [
      "/policies/0/permission_groups/0/id",
    ]);
    for (const key of ["com.cloudflare.api.account.1", "com.cloudflare.api.user.*", "*"]) {
      const found = await tokenWith(policyWith({ resources: { [key]: "*" } }));
      assert.deepEqual(found, [`/policies/0/resources/${key}`]);
    }
  });

  attack("is pointed to in the notation of RFC 6901", async () => {
    const expected = ["/policies/0/resources/a~1b~0c"];
    assert.deepEqual(await tokenWith(policyWith({ resources: { "a/b~c": 1 } })), expected);
    assert.deepEqual(await tokenWith(policyWith({ resources: { "a/b~c": "*" } })), expected);
  });

  const long = "x".repeat(900_000);
  const overLong: [name: string, method: string, path: string, body: unknown][] = [
    ["a token's name", "POST", "/user/tokens", { ...goodToken, name: "x".repeat(121) }],
    ["an account's name", "PUT", `/accounts/${account}`, { name: "x".repeat(101) }],
    ["a first name", "PATCH", "/user", { first_name: "x".repeat(61) }],
    ["a name of a megabyte", "PUT", `/accounts/${account}`, { name: long }],
    [
      "an e-mail address of a megabyte",
      "PUT",
      `/accounts/${account}`,
      { name: "x", settings: { abuse_contact_email: `${long}@example.com` } },
    ],
    [
      "an address range of a megabyte",
      "POST",
      "/user/tokens",
      { ...goodToken, condition: { "request.ip": { in: [long] } } },
    ],
    [
      "a resource of a megabyte",
      "POST",
      "/user/tokens",
      policyWith({ resources: { [long]: "*" } }),
    ],
    ["a group of a megabyte", "POST", "/user/tokens", policyWith({ permission_groups: [long] })],
    [
      "more policies than fit",
      "POST",
      "/user/tokens",
      { ...goodToken, policies: Array(101).fill(goodToken.policies[0]) },
    ],
    [
      "a hundred thousand faults",
      "POST",
      "/user/tokens",
      policyWith({ permission_groups: Array(100_000).fill(0) }),
    ],
  ];
  for (const [name, method, path, body] of overLong) {
    attack(`that is too long is refused shortly: ${name}`, async () => {
      assertRefused(await call(server, method, path, { body }), 400, 1001);
    });
  }

  attack("in bad text is named without being repeated at length", async () => {
    const body = JSON.stringify({ [long]: "\0" });
    assertRefused(await call(server, "POST", "/user/tokens", { body }), 400, 6009);
  });
});

suite("a body over the limit", () => {
  /** Good JSON but for its size. */
  const padded = (size: number, body: object) => JSON.stringify(body).padEnd(size);
  const put = (...headers: readonly string[]) =>
    head("PUT", `/accounts/${account}`, "Content-Type: application/json", ...headers);
  const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

  function assertTooLarge(answers: readonly WireAnswer[]): void {
    assert.equal(answers.length, 1);
    assertAnswer(answers[0], 413, 6010);
    assert.equal(answers[0]?.headers["connection"], "close");
  }

  attack("by a byte is refused, one that just fits is not", async () => {
    const rename = { name: "Renamed by too large a body" };
    const over = padded(BODY_LIMIT + 1, rename);
    assertTooLarge(await exchange(server.origin, put(`Content-Length: ${over.length}`) + over));
    assertTooLarge(
      await exchange(server.origin, put("Transfer-Encoding: chunked") + chunked(over)),
    );
    const fits = padded(BODY_LIMIT, { name: "" });
    using wire = await Wire.open(server.origin);
    wire.write(put(`Content-Length: ${fits.length}`) + fits);
    assertAnswer(await wire.answer(), 400, 1001);
    wire.write(put("Transfer-Encoding: chunked") + chunked(fits));
    assertAnswer(await wire.answer(), 400, 1001);
    wire.write(head("GET", "/user"));
    assertAnswer(await wire.answer(), 200);
  });

  attack("is refused by what it declares, before any of it is sent", async () => {
    assertTooLarge(await exchange(server.origin, put("Content-Length: 9000000000")));
  });

  attack("that never ends is cut off", async () => {
    using wire = await Wire.open(server.origin);
    wire.write(put("Transfer-Encoding: chunked"));
    const piece = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    while (!wire.isClosed) {
      wire.write(piece);
      await wait(0); // Lets the answer and the end of the connection in.
    }
  });

  attack("is not taken for further requests", async () => {
    const body = padded(BODY_LIMIT, {}) + smuggled;
    const answers = await exchange(server.origin, put(`Content-Length: ${body.length}`) + body);
    assertTooLarge(answers);
  });

  attack("is told so even to a client that sends all of it first", async () => {
    // RFC 9112 §9.6: closed at once, the rest of the body makes the kernel reset the connection,
    // the answer is lost, and SDKs take that for a broken network and send it all again.
    const body = new Uint8Array(4 * MIB).fill(0x20);
    for (let i = 0; i < 20; i++) {
      assertRefused(await call(server, "POST", "/user/tokens", { body }), 413, 6010);
    }
  });
});

suite("a route", () => {
  attack("that does not exist is a 404", async () => {
    const paths = ["/nope", "/", "/user/", "//user", "/USER", "/user/tokens/a/b/c", "/user;x=1"];
    for (const path of paths) {
      const [entry] = assertRefused(await call(server, "GET", path), 404, 7000);
      assert.equal(entry?.message, "No route for that URI");
    }
    const targets = ["/", "*", "/client/v4", "/client/v3/user", "/client/v4/../v4/user"];
    using wire = await Wire.open(server.origin);
    for (const target of targets) {
      wire.write(head("GET", "").replace("/client/v4", target));
      assertAnswer(await wire.answer(), 404, 7000);
    }
  });

  test("may be asked for by its whole address (RFC 9112 §3.2.2)", async () => {
    using wire = await Wire.open(server.origin);
    wire.write(head("GET", "/user").replace("/client", `${server.origin}/client`));
    assertAnswer(await wire.answer(), 200);
  });

  attack("does not take every method, and says which it takes", async () => {
    const cases = [
      ["DELETE", "/accounts", "GET, POST"],
      ["PATCH", "/user/tokens", "GET, POST"],
      ["POST", keptPath, "GET, PUT, DELETE"],
      ["DELETE", "/user", "GET, PATCH"],
      ["OPTIONS", "/user", "GET, PATCH"],
      ["PROPFIND", "/user", "GET, PATCH"],
      ["TRACE", "/user", "GET, PATCH"],
    ] as const;
    using wire = await Wire.open(server.origin);
    for (const [method, path, allow] of cases) {
      wire.write(head(method, path));
      const answer = await wire.answer();
      assertAnswer(answer, 405, 7001);
      assert.deepEqual(answer.headers["allow"]?.split(", ").sort(), allow.split(", ").sort());
    }
  });

  attack("with a malformed id is a 404", async () => {
    const id = account;
    const ids = [id.toUpperCase().replace(/\d/, "A"), id.slice(1), `${id}0`, "g".repeat(32)];
    const odd = ["%00", `${id}%00`, `${id}%20`, "..%2f..", "'--", "%", "x".repeat(10_000)];
    for (const bad of [...ids, ...odd]) {
      for (const path of [`/accounts/${bad}`, `/user/tokens/${bad}`]) {
        assertRefused(await call(server, "GET", path), 404, 7003);
      }
      assertRefused(await call(server, "GET", `/accounts/${bad}/tokens`), 404, 7003);
    }
  });

  attack("with a strange query does not fail", async () => {
    assertRefused(await call(server, "GET", "/accounts?name=a%00b"), 400, 1001);
    assertRefused(await call(server, "GET", "/user/tokens?include_expired=maybe"), 400, 1001);
    for (const query of ["name=%", "name=%ff%fe", "name=%ED%A0%80", "__proto__=1", "&&==&", "?"]) {
      assert.equal((await call(server, "GET", `/accounts?${query}`)).status, 200, query);
    }
  });
});

suite("what is not HTTP", () => {
  const good = head("GET", "/user");
  const bad: [name: string, bytes: string | Uint8Array][] = [
    ["words", "hello\r\n\r\n"],
    ["a TLS handshake", Buffer.from("16030100c8010000c40303", "hex")],
    ["an SSH greeting", "SSH-2.0-OpenSSH_10.0\r\n"],
    ["an HTTP/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an invented method", good.replace("GET", "BREW")],
    ["a version that does not exist", good.replace("HTTP/1.1", "HTTP/9.9")],
    ["a NUL in the path", good.replace("/user", "/us\0er")],
    ["a raw byte above ASCII in the path", good.replace("/user", "/us\u00e9r")],
    ["a NUL in a header", good.replace("\r\n\r\n", "\r\nX: a\0b\r\n\r\n")],
    ["a header without a colon", good.replace("\r\n\r\n", "\r\nnonsense\r\n\r\n")],
    ["a blank in a header's name", good.replace("\r\n\r\n", "\r\nX Y: z\r\n\r\n")],
    ["a folded header", good.replace("\r\n\r\n", "\r\nX: a\r\n b\r\n\r\n")],
    ["lines without carriage returns", good.replaceAll("\r", "")],
  ];
  for (const [name, bytes] of bad) {
    attack(`is refused in the API's own form: ${name}`, async () => {
      const answers = await exchange(server.origin, bytes);
      assert.equal(answers.length, 1);
      assertAnswer(answers[0], 400, 6003);
    });
  }

  const byNode: [name: string, statuses: readonly number[], bytes: string][] = [
    ["a request without Host", [400], good.replace("Host: selvedge.test\r\n", "")],
    ["an unknown expectation", [200, 417], good.replace("\r\n\r\n", "\r\nExpect: much\r\n\r\n")],
    [
      "CONNECT",
      [400, 404, 405, 501],
      good.replace("GET /client/v4/user", "CONNECT example.com:443"),
    ],
  ];
  for (const [name, statuses, bytes] of byNode) {
    attack(`and what Node would answer by itself have the envelope: ${name}`, async () => {
      using wire = await Wire.open(server.origin);
      wire.write(bytes);
      const answer = await wire.answer();
      assert.ok(statuses.includes(answer.status), `${answer.status} ${answer.body}`);
      assertAnswer(answer, answer.status);
    });
  }

  attack("in any bytes at all gets the envelope or nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        using wire = await Wire.open(server.origin);
        wire.write(bytes);
        wire.finish();
        for (const answer of await wire.untilClosed()) assertAnswer(answer, 400, 6003);
      }),
      { numRuns: 200 },
    );
  });
});

suite("a request within a request", () => {
  const post = (...headers: readonly string[]) => head("POST", "/user/tokens", ...headers);
  const CHUNKED = "Transfer-Encoding: chunked";
  const bad: [name: string, bytes: string][] = [
    ["length and chunks", post("Content-Length: 5", CHUNKED) + `0\r\n\r\n${smuggled}`],
    ["chunks and length", post(CHUNKED, "Content-Length: 5") + `0\r\n\r\n${smuggled}`],
    ["two lengths", post("Content-Length: 2", "Content-Length: 6") + `{}${smuggled}`],
    ["two equal lengths", post("Content-Length: 2", "Content-Length: 2") + `{}${smuggled}`],
    ["a list of lengths", post("Content-Length: 2, 6") + `{}${smuggled}`],
    ["a length with a sign", post("Content-Length: +2") + `{}${smuggled}`],
    ["a length in hexadecimal", post("Content-Length: 0x2") + `{}${smuggled}`],
    ["a length past all bounds", post(`Content-Length: ${"9".repeat(30)}`) + `{}${smuggled}`],
    ["a blank before the colon", post("Content-Length : 2") + `{}${smuggled}`],
    ["an unknown encoding", post("Transfer-Encoding: xchunked") + `0\r\n\r\n${smuggled}`],
    ["identity", post("Transfer-Encoding: identity") + smuggled],
    ["chunks that are not last", post("Transfer-Encoding: chunked, identity") + smuggled],
    ["two encodings", post(CHUNKED, "Transfer-Encoding: identity") + `0\r\n\r\n${smuggled}`],
    ["a chunk size that is no number", post(CHUNKED) + `2x\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk size past all bounds", post(CHUNKED) + `${"f".repeat(17)}\r\n{}${smuggled}`],
    ["a negative chunk size", post(CHUNKED) + `-2\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk longer than it says", post(CHUNKED) + `1\r\n{}\r\n0\r\n\r\n${smuggled}`],
    ["a chunk ended by a bare line feed", post(CHUNKED) + `2\n{}\n0\n\n${smuggled}`],
  ];
  for (const [name, bytes] of bad) {
    attack(`is not performed: ${name}`, async () => {
      const answers = await exchange(server.origin, bytes);
      assert.equal(answers.length, 1);
      assertAnswer(answers[0], 400);
    });
  }

  attack(
    "is not performed when it is the body of a request that was refused or had none",
    async () => {
      const length = `Content-Length: ${smuggled.length}`;
      const refused = `POST /client/v4/user/tokens HTTP/1.1\r\nHost: x\r\n${length}\r\n\r\n`;
      using wire = await Wire.open(server.origin);
      wire.write(refused + smuggled);
      wire.write(head("GET", "/user", length) + smuggled);
      wire.write(head("DELETE", "/nope", length) + smuggled);
      wire.write(head("GET", "/accounts"));
      wire.finish();
      const answers = await wire.untilClosed();
      assert.deepEqual(
        answers.map(({ status }) => status),
        [400, 200, 404, 200],
      );
    },
  );
});

suite("headers", () => {
  const withHeaders = (text: string) => head("GET", "/user").replace("\r\n\r\n", `\r\n${text}\r\n`);
  const floods: [name: string, bytes: string][] = [
    ["one long header", withHeaders(`X: ${"x".repeat(17 * 1024)}\r\n`)],
    ["a long name", withHeaders(`${"x".repeat(17 * 1024)}: x\r\n`)],
    ["thousands of tiny ones", withHeaders("a:b\r\n".repeat(10_000))],
    ["a long path", head("GET", `/accounts?name=${"x".repeat(17 * 1024)}`)],
    [
      "trailers",
      head("POST", "/user/tokens", "Transfer-Encoding: chunked") +
        `2\r\n{}\r\n0\r\n${"a: b\r\n".repeat(10_000)}\r\n`,
    ],
  ];
  for (const [name, bytes] of floods) {
    attack(`over 16 KiB are refused with 431: ${name}`, async () => {
      const answers = await exchange(server.origin, bytes);
      assert.equal(answers.length, 1);
      assertAnswer(answers[0], 431, 6011);
    });
  }

  attack("may be thousands when they are tiny, and the last still counts", async () => {
    const [line = "", ...lines] = head("GET", "/user").split("\r\n");
    using wire = await Wire.open(server.origin);
    wire.write([line, ...Array<string>(2_500).fill("a:b"), ...lines].join("\r\n"));
    assertAnswer(await wire.answer(), 200);
  });

  attack("without end are cut off", async () => {
    using wire = await Wire.open(server.origin);
    wire.write("GET /client/v4/user HTTP/1.1\r\nX: ");
    while (!wire.isClosed) {
      wire.write("x".repeat(0x10000));
      await wait(0);
    }
  });
});

suite("a connection", () => {
  attack("may carry many requests at once, answered in their order", async () => {
    const paths = Array.from({ length: 200 }, (_, i) => (i % 3 === 0 ? "/nope" : "/user"));
    using wire = await Wire.open(server.origin);
    wire.write(paths.map((path) => head("GET", path)).join(""));
    for (const path of paths) assertAnswer(await wire.answer(), path === "/nope" ? 404 : 200);
  });

  attack("whose client leaves in the middle is given up", async () => {
    const open = await openConnections();
    const post = (...headers: readonly string[]) => head("POST", "/user/tokens", ...headers);
    const parts = [
      "GET /client/v4/us",
      head("GET", "/user").slice(0, -2),
      head("GET", "/user"),
      `${post("Content-Length: 1000")}{"name":`,
      `${post("Transfer-Encoding: chunked")}5\r\n{"na`,
    ];
    for (let i = 0; i < 40; i++) {
      for (const part of parts) {
        using wire = await Wire.open(server.origin);
        wire.write(part);
      }
    }
    // The server hears of each end in its own time.
    await until(async () => (await openConnections()) <= open);
  });
});

suite("a request that ends its connection", () => {
  const good = head("GET", "/user");
  const long = "x".repeat(BODY_LIMIT + 1);
  const cases: [name: string, status: number, bytes: string][] = [
    ["what is not HTTP", 400, "nonsense\r\n\r\n"],
    ["no Host", 400, good.replace("Host: selvedge.test\r\n", "")],
    ["CONNECT", 400, good.replace("GET", "CONNECT")],
    ["an unknown expectation", 417, head("GET", "/user", "Expect: much")],
    ["headers over the limit", 431, head("GET", "/user", `X: ${"x".repeat(17 * 1024)}`)],
    [
      "a body over the limit",
      413,
      head("PUT", `/accounts/${account}`, `Content-Length: ${long.length}`) + long,
    ],
  ];

  for (const [name, status, bytes] of cases) {
    // RFC 9112 §9.6: no more requests are processed after the answer that says "close".
    attack(`is the last one on it: ${name}`, async () => {
      const answers = await exchange(server.origin, bytes + smuggled);
      assert.equal(answers.length, 1);
      assertAnswer(answers[0], status);
      assert.equal(answers[0]?.headers["connection"], "close");
    });

    // RFC 9112 §9.3.2: else a client takes the refusal for the answer to what it asked before.
    attack(`is answered after those before it: ${name}`, async () => {
      const { result } = await call(server, "GET", `/accounts/${account}`);
      const same = JSON.stringify({ name: (result as { name: string }).name });
      const put = head("PUT", `/accounts/${account}`, `Content-Length: ${same.length}`);
      const answers = await exchange(server.origin, put + same + bytes);
      assert.deepEqual(
        answers.map((answer) => answer.status),
        [200, status],
      );
    });
  }
});

suite("a slow client", { concurrency: true }, () => {
  /** Node looks at its clocks once a second, and a busy machine late; what is sent would take 50 s. */
  const LATEST_MS = 25_000;
  let forHeads: TestServer;
  let forBodies: TestServer;
  before(async () => {
    [forHeads, forBodies] = await Promise.all([
      startServer({ env: { SELVEDGE_LIMITS_HEADER_SECONDS: "1" } }),
      startServer({
        env: { SELVEDGE_LIMITS_HEADER_SECONDS: "1", SELVEDGE_LIMITS_REQUEST_SECONDS: "2" },
      }),
    ]);
  });
  after(() => Promise.all([forHeads, forBodies].map((slow) => slow[Symbol.asyncDispose]())));

  /** Sends a byte now and then for as long as the server listens. */
  async function dribble(to: string, first: string, bytes: string) {
    const began = performance.now();
    using wire = await Wire.open(to);
    wire.write(first);
    for (let i = 0; !wire.isClosed && i < bytes.length; i++) {
      wire.write(bytes[i]!);
      await wait(50);
    }
    const answers = await wire.untilClosed();
    assert.ok(performance.now() - began < LATEST_MS, "the server waited for too long");
    return answers;
  }

  test("that dribbles its headers is cut off", async () => {
    const start = head("GET", "/user").slice(0, -2);
    const answers = await dribble(forHeads.origin, start, "x".repeat(1_000));
    assert.equal(answers.length, 1);
    assertAnswer(answers[0], 408, 6012);
  });

  test("that says nothing is cut off", async () => {
    for (const answer of await dribble(forHeads.origin, "", "")) assertAnswer(answer, 408, 6012);
  });

  test("that dribbles its body is cut off", async () => {
    const start = head("POST", "/user/tokens", "Content-Length: 1000");
    const answers = await dribble(forBodies.origin, start, " ".repeat(1_000));
    assert.equal(answers.length, 1);
    assertAnswer(answers[0], 408, 6012);
  });

  test("that dribbles chunks is cut off", async () => {
    const start = head("POST", "/user/tokens", "Transfer-Encoding: chunked");
    const answers = await dribble(forBodies.origin, start, "1\r\n \r\n".repeat(200));
    assert.equal(answers.length, 1);
    assertAnswer(answers[0], 408, 6012);
  });

  test("does not keep others waiting", async () => {
    for (const slow of [forHeads, forBodies]) {
      assert.equal((await call(slow, "GET", "/user")).status, 200);
    }
  });

  test("may be given less time for a request than for its headers", async () => {
    await using hasty = await startServer({ env: { SELVEDGE_LIMITS_REQUEST_SECONDS: "2" } });
    assert.equal((await call(hasty, "GET", "/user")).status, 200);
  });
});

suite("a source", () => {
  test("with too many connections is turned away until it closes one", async () => {
    await using narrow = await startServer({
      env: { SELVEDGE_LIMITS_CONNECTIONS_PER_SOURCE: "4" },
    });
    const ask = async (wire: Wire) => {
      wire.write(head("GET", "/user"));
      assertAnswer(await wire.answer(), 200);
    };
    const wires = await Promise.all(Array.from({ length: 4 }, () => Wire.open(narrow.origin)));
    for (const wire of wires) await ask(wire);
    for (let i = 0; i < 10; i++) assert.deepEqual(await exchange(narrow.origin, ""), []);
    for (const wire of wires) await ask(wire);

    wires.pop()![Symbol.dispose]();
    // The server hears of the end in its own time; an answer on another connection marks a turn.
    for (let tries = 0; ; tries++) {
      await ask(wires[0]!);
      using again = await Wire.open(narrow.origin);
      again.write(head("GET", "/user"));
      again.finish();
      const answers = await again.untilClosed();
      if (answers.length === 1) return assertAnswer(answers[0], 200);
      assert.ok(tries < 1_000, "a closed connection still counts");
    }
  });
});

suite("random input", () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.string(),
    fc.constantFrom(null, true, 0, -1, 1e308, "", "*", [], {}),
  );
  /** JSON that comes near to a token, but for its policies, which cannot be right by chance. */
  const nearlyToken = fc.record(
    {
      name: fc.oneof(fc.string(), anything),
      status: fc.oneof(fc.constantFrom("active", "disabled"), anything),
      policies: fc.oneof(
        anything,
        fc.array(
          fc.record({
            effect: fc.constantFrom("allow", "deny", "perhaps"),
            permission_groups: fc.array(fc.record({ id: fc.string() }), { minLength: 1 }),
            resources: fc.dictionary(fc.string(), fc.oneof(fc.constant("*"), anything)),
          }),
        ),
      ),
      condition: anything,
      not_before: fc.oneof(fc.date({ noInvalidDate: true }), anything),
      expires_on: fc.oneof(fc.date({ noInvalidDate: true }), anything),
    },
    { requiredKeys: [] },
  );
  /** JSON that comes near to a change of an account, but for its name. */
  const nearlyAccount = fc.record(
    {
      name: anything.filter((name) => typeof name !== "string" || name.trim() === ""),
      settings: anything,
    },
    { requiredKeys: [] },
  );
  const texts = fc
    .tuple(fc.json(), fc.nat(), fc.string())
    .map(([text, at, piece]) => text.slice(0, at % text.length) + piece);
  const bytes = fc.uint8Array({ maxLength: 500 });
  const objects = {
    token: fc.oneof(nearlyToken, anything),
    account: fc.oneof(nearlyAccount, anything),
  };
  const kinds = (json: fc.Arbitrary<unknown>): [kind: string, body: fc.Arbitrary<unknown>][] => [
    ["JSON", json.map((value) => JSON.stringify(value))],
    ["text that was JSON", texts],
    ["bytes", bytes],
  ];
  const rounds = [
    ["POST", "/user/tokens", kinds(objects.token)],
    ["PUT", `/accounts/${account}`, kinds(objects.account)],
  ] as const;

  for (const [method, path, bodies] of rounds) {
    for (const [kind, body] of bodies) {
      attack(
        `of ${kind} at ${method} ${path.replace(account, "…")} is refused in form`,
        async () => {
          await fc.assert(
            fc.asyncProperty(body, async (body) => {
              const { status, text } = await call(server, method, path, { body });
              assert.ok(status >= 400 && status < 500, `${status}: ${text}`);
            }),
            { numRuns: 150 },
          );
        },
      );
    }
  }
});

suite("after all of it", () => {
  /** A server at rest holds a quarter of this. */
  const MEMORY_LIMIT_MIB = 400;
  const residentMib = ({ process: { pid } }: TestServer) => {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024;
  };

  const onLinux = { skip: process.platform === "linux" ? false : "reads /proc" };
  test("600 bodies of 1 MiB and floods of the rest leave memory bounded", onLinux, async () => {
    const was = await state();
    const body = JSON.stringify({ name: "x".repeat(BODY_LIMIT - 11) });
    assert.equal(body.length, BODY_LIMIT);
    using agent = keepAliveAgent(16);
    let left = 600;
    const uploads = Array.from({ length: 16 }, async () => {
      while (left-- > 0) assert.equal(await upload(agent, body), 400);
    });
    await Promise.all(uploads);
    assertBounded("bodies");

    const flood = head("GET", "/user").replace("\r\n\r\n", `\r\n${"a:b\r\n".repeat(10_000)}`);
    for (let i = 0; i < 200; i++) await exchange(server.origin, flood);
    assertBounded("header floods");

    await Promise.all(Array.from({ length: 20 }, () => askWithoutReading(50_000)));
    assertBounded("answers that nobody reads");
    assert.deepEqual(await state(), was);
  });

  /** Asks and asks, and takes no answer, until the server takes no more questions. */
  async function askWithoutReading(most: number): Promise<void> {
    using wire = await Wire.open(server.origin);
    wire.pause();
    const questions = head("GET", "/user").repeat(1_000);
    for (let asked = 0; asked < most && (await wire.isTaken()); asked += 1_000) {
      wire.write(questions);
    }
  }

  test("what follows a refused request is passed over, at no cost to others", onLinux, async () => {
    await using fresh = await startServer();
    const before = residentMib(fresh);
    // The first is without Host, and so the last on its connection.
    const more = "GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(160_000);
    const answers = await exchange(fresh.origin, `GET / HTTP/1.1\r\n\r\n${more}`);
    assert.ok(answers.length <= 1);
    using other = await Wire.open(fresh.origin);
    const open = async () => {
      other.write(head("GET", "").replace("/client/v4", "/metrics"));
      return connectionsIn((await other.answer()).body); // Which fails when it takes too long.
    };
    while ((await open()) > 1) assert.equal(fresh.process.exitCode, null);
    assert.equal(await open(), 1);
    const grown = Math.round(residentMib(fresh) - before);
    assert.ok(grown < 100, `the server holds ${grown} MiB more`); // Kept, they would be several hundred.
  });

  function assertBounded(what: string): void {
    const mib = residentMib(server);
    assert.ok(mib < MEMORY_LIMIT_MIB, `after ${what} the server holds ${Math.round(mib)} MiB`);
  }

  test("nothing went wrong inside", () => {
    const faults = (server.output.stdout + server.output.stderr)
      .split("\n")
      .filter((line) => /"level":"(?:error|warn)"/.test(line));
    assert.deepEqual(faults, []);
  });

  test("the server stops as it should and has everything when it is started again", async () => {
    assert.deepEqual(await state(), initial);
    assert.equal(await server.end(), 0);
    await using again = await startServer({ data: server.data });
    const { result } = await call(again, "GET", keptPath);
    assert.equal((result as { name: string }).name, goodToken.name);
  });
});

function nested(open: string, close: string, depth: number, inside = ""): string {
  return open.repeat(depth) + inside + close.repeat(depth);
}

async function openConnections(): Promise<number> {
  return connectionsIn(await (await fetch(`${server.origin}/metrics`)).text());
}

function connectionsIn(metrics: string): number {
  return Number(/^selvedge_api_connections (\d+)$/m.exec(metrics)![1]);
}

function keepAliveAgent(maxSockets: number): Agent & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets });
  return Object.assign(agent, { [Symbol.dispose]: () => agent.destroy() });
}

/** Sends a body with little ado, and returns the status of the answer. */
function upload(agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${server.base}/accounts/${account}`,
      { method: "PUT", agent, headers: keyHeaders },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode!));
      },
    );
    sent.on("error", reject).end(body);
  });
}
