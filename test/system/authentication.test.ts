/** Who gets in, in what words the others are turned away, and the form of every answer. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { EMAIL, KEY, keyHeaders, startServer, type TestServer } from "../support/server.ts";
import { type ApiAnswer, bearer, call, type Entry } from "./api.ts";
import { accountKey, firstIds, policy, userKey } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { user, account } = await firstIds(server);

const readsUser = policy("allow", userKey(user), "userDetailsRead");
const UNKNOWN_TOKEN = "a".repeat(40);
const UNKNOWN_KEY = "f".repeat(37);

interface Made {
  readonly id: string;
  readonly value: string;
}

async function makeToken(path: string, body: object, on: TestServer = server): Promise<Made> {
  const { status, result, text } = await call(on, "POST", path, { body });
  assert.equal(status, 200, text);
  return result as Made;
}

async function makeAccount(name: string): Promise<string> {
  const { result } = await call(server, "POST", "/accounts", { body: { name } });
  return (result as { id: string }).id;
}

function assertRefused(answer: ApiAnswer, status: number, ...errors: readonly Entry[]): void {
  assert.deepEqual({ status: answer.status, errors: answer.errors }, { status, errors });
}

/** Reference §1.3: the format of a header is wrong. */
const badHeader = (code: number, name: string): Entry => ({
  code: 6003,
  message: "Invalid request headers",
  error_chain: [{ code, message: `Invalid format for ${name} header` }],
});
const NO_HEADERS = {
  code: 9106,
  message: "Missing X-Auth-Key, X-Auth-Email or Authorization headers",
};
const BAD_TOKEN = badHeader(6111, "Authorization");
const BAD_KEY = badHeader(6103, "X-Auth-Key");
const BAD_EMAIL = badHeader(6102, "X-Auth-Email");
const NO_SUCH_KEY = { code: 9103, message: "Unknown X-Auth-Key or X-Auth-Email" };
const NO_SUCH_TOKEN = { code: 9109, message: "Invalid access token" };
const FORBIDDEN = { code: 9109, message: "Unauthorized to access requested resource" };

suite("credentials that do not let in (reference §1.3)", () => {
  const basic = `Basic ${Buffer.from(`${EMAIL}:${KEY}`).toString("base64")}`;
  const cases: [name: string, headers: Record<string, string>, status: number, entry: Entry][] = [
    ["no headers", {}, 400, NO_HEADERS],
    ["an e-mail alone", { "X-Auth-Email": EMAIL }, 400, NO_HEADERS],
    ["a key alone", { "X-Auth-Key": KEY }, 400, NO_HEADERS],
    ["a bearer without a token", { Authorization: "Bearer" }, 400, NO_HEADERS],
    ["a bearer with blanks for a token", { Authorization: "Bearer   " }, 400, NO_HEADERS],
    ["a token that is too short", bearer("abc"), 400, BAD_TOKEN],
    ["a token that is too long", bearer("a".repeat(300)), 400, BAD_TOKEN],
    ["a token with a wrong character", bearer(`${"a".repeat(39)}!`), 400, BAD_TOKEN],
    ["two tokens in one header", bearer(`${UNKNOWN_TOKEN} ${UNKNOWN_TOKEN}`), 400, BAD_TOKEN],
    ["the account key as a token", bearer(KEY), 400, BAD_TOKEN],
    ["HTTP basic", { Authorization: basic }, 400, BAD_TOKEN],
    ["a malformed key", { "X-Auth-Email": EMAIL, "X-Auth-Key": "short" }, 400, BAD_KEY],
    ["a malformed e-mail", { "X-Auth-Email": "nobody", "X-Auth-Key": KEY }, 400, BAD_EMAIL],
    ["an unknown key", { "X-Auth-Email": EMAIL, "X-Auth-Key": UNKNOWN_KEY }, 400, NO_SUCH_KEY],
    ["an unknown e-mail", { "X-Auth-Email": "x@y.z", "X-Auth-Key": KEY }, 400, NO_SUCH_KEY],
    ["an unknown token", bearer(UNKNOWN_TOKEN), 403, NO_SUCH_TOKEN],
  ];
  for (const [name, headers, status, entry] of cases) {
    test(name, async () => {
      for (const path of ["/accounts", "/user", `/accounts/${account}/tokens`]) {
        assertRefused(await call(server, "GET", path, { headers }), status, entry);
      }
    });
  }

  test("an unknown token has a code of its own at verify", async () => {
    for (const path of ["/user/tokens/verify", `/accounts/${account}/tokens/verify`]) {
      const answer = await call(server, "GET", path, { headers: bearer(UNKNOWN_TOKEN) });
      assertRefused(answer, 401, { code: 1000, message: "Invalid API Token" });
    }
  });

  test("a malformed token is named as such at verify too", async () => {
    const answer = await call(server, "GET", "/user/tokens/verify", { headers: bearer("abc") });
    assertRefused(answer, 400, BAD_TOKEN);
  });

  test("verify takes no key", async () => {
    const answer = await call(server, "GET", "/user/tokens/verify");
    assertRefused(answer, 400, { code: 1001, message: 'Missing "Authorization" header' });
  });

  test("a token outside its address rules", async () => {
    const condition = { "request.ip": { in: ["192.0.2.0/24"] } };
    const body = { name: "elsewhere", policies: [readsUser], condition };
    const { value } = await makeToken("/user/tokens", body);
    const answer = await call(server, "GET", "/user", { headers: bearer(value) });
    const message = "Cannot use the access token from location: 127.0.0.1";
    assertRefused(answer, 403, { code: 9109, message });
  });

  test("a token without the permission", async () => {
    const { value } = await makeToken("/user/tokens", { name: "narrow", policies: [readsUser] });
    for (const path of ["/user/tokens", `/accounts/${account}`]) {
      const answer = await call(server, "GET", path, { headers: bearer(value) });
      assertRefused(answer, 403, FORBIDDEN);
    }
    const answer = await call(server, "GET", "/memberships", { headers: bearer(value) });
    assertRefused(answer, 403, { code: 10_000, message: "Authentication error" });
  });
});

suite("credentials that let in", () => {
  test("the word Bearer is read in any case", async () => {
    const { value } = await makeToken("/user/tokens", { name: "case", policies: [readsUser] });
    for (const word of ["Bearer", "bearer", "BEARER"]) {
      const headers = { Authorization: `${word} ${value}` };
      assert.equal((await call(server, "GET", "/user", { headers })).status, 200);
    }
  });

  test("an e-mail is the same in any case", async () => {
    const headers = { ...keyHeaders, "X-Auth-Email": EMAIL.toUpperCase() };
    assert.equal((await call(server, "GET", "/user", { headers })).status, 200);
  });

  test("a token counts before a key when both are sent", async () => {
    const { value } = await makeToken("/user/tokens", { name: "both", policies: [readsUser] });
    const right = await call(server, "GET", "/user/tokens", {
      headers: { ...keyHeaders, ...bearer(value) },
    });
    assertRefused(right, 403, FORBIDDEN);
    const wrong = await call(server, "GET", "/user", {
      headers: { ...keyHeaders, ...bearer(UNKNOWN_TOKEN) },
    });
    assertRefused(wrong, 403, NO_SUCH_TOKEN);
  });

  test("verify tells that a token is good", async () => {
    const body = { name: "good", policies: [readsUser], expires_on: "2099-01-01T00:00:00Z" };
    const { id, value } = await makeToken("/user/tokens", body);
    const path = "/user/tokens/verify";
    const { result, messages } = await call(server, "GET", path, { headers: bearer(value) });
    assert.deepEqual(result, { id, status: "active", expires_on: "2099-01-01T00:00:00Z" });
    const message = "This API Token is valid and active";
    assert.deepEqual(messages, [{ code: 10_000, message, type: null }]);
  });
});

suite("the form of answers (reference §1.4)", () => {
  test("id is the first key of everything that has one", async () => {
    const { text } = await call(server, "POST", "/user/tokens", {
      body: { name: "first key", policies: [readsUser] },
    });
    const { id, value } = (JSON.parse(text) as { result: Made }).result;
    const single = ["/user", `/accounts/${account}`, `/user/tokens/${id}`];
    const lists = ["/accounts", "/memberships", "/user/tokens", "/user/tokens/permission_groups"];
    const answers = [
      text,
      ...(await textsOf(...single, ...lists)),
      (await call(server, "GET", "/user/tokens/verify", { headers: bearer(value) })).text,
      (await call(server, "DELETE", `/user/tokens/${id}`)).text,
    ];
    for (const answer of answers) assert.match(answer, /^\{"result":\[?\{"id":"[0-9a-f]{32}"/);
  });

  test("times are RFC 3339 in UTC without zeros at the end", async () => {
    const form = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{0,5}[1-9])?Z$/;
    const given: [expiresOn: string, shown: string][] = [
      ["2031-01-01T00:00:00Z", "2031-01-01T00:00:00Z"],
      ["2031-01-01T00:00:00.000Z", "2031-01-01T00:00:00Z"],
      ["2031-01-01T00:00:10.120Z", "2031-01-01T00:00:10.12Z"],
      ["2031-01-01T00:00:00.5+02:00", "2030-12-31T22:00:00.5Z"],
      ["2031-01-01T00:00:00-00:30", "2031-01-01T00:30:00Z"],
    ];
    for (const [expires_on, shown] of given) {
      const body = { name: "times", policies: [readsUser], expires_on };
      const { id } = await makeToken("/user/tokens", body);
      const { result } = await call(server, "GET", `/user/tokens/${id}`);
      const token = result as Record<string, string>;
      assert.equal(token["expires_on"], shown);
      assert.match(token["issued_on"]!, form);
      assert.match(token["modified_on"]!, form);
    }
    const { result } = await call(server, "GET", `/accounts/${account}`);
    assert.match((result as { created_on: string }).created_on, form);
  });

  test("a time that RFC 3339 cannot show is refused", async () => {
    for (const times of [
      { expires_on: "9999-12-31T23:59:59-12:00" }, // The year 10000 in UTC.
      { not_before: "0000-01-01T00:00:00+12:00" }, // The year before 0.
    ]) {
      const body = { name: "times", policies: [readsUser], ...times };
      const { status, text } = await call(server, "POST", "/user/tokens", { body });
      assert.equal(status, 400, text);
    }
  });

  test("address rules stand under the key with a dot, and are read under it", async () => {
    const condition = { "request.ip": { in: ["127.0.0.0/8"], not_in: ["127.0.0.2"] } };
    const body = { name: "dotted", policies: [readsUser], condition };
    const { id } = await makeToken("/user/tokens", body);
    const { result } = await call(server, "GET", `/user/tokens/${id}`);
    const shown = (result as { condition: Record<string, unknown> }).condition;
    assert.deepEqual(shown["request.ip"], condition["request.ip"]);
  });
});

suite("lists", () => {
  const made: string[] = [];
  const paged = async (query: string) => {
    const { status, text } = await call(server, "GET", `/accounts?${query}`);
    assert.equal(status, 200, text);
    return JSON.parse(text) as {
      result: { id: string }[];
      result_info: Record<string, number>;
    };
  };

  test("tell how they are paged, count not last", async () => {
    for (let i = 0; i < 3; i++) made.push(await makeAccount(`Paged ${i}`));
    for (const path of ["/accounts", "/memberships", "/user/tokens"]) {
      const { result, result_info: info } = await call(server, "GET", path);
      assert.deepEqual(Object.keys(info!), [
        "page",
        "per_page",
        "count",
        "total_count",
        "total_pages",
      ]);
      assert.equal(info!["count"], (result as unknown[]).length);
    }
  });

  test("one to a page hold everything once", async () => {
    const whole = await paged("per_page=50");
    const total = whole.result.length;
    assert.ok(total > made.length);
    const seen: string[] = [];
    for (let page = 1; page <= total; page++) {
      const { result, result_info: info } = await paged(`page=${page}&per_page=1`);
      assert.deepEqual(info, {
        page,
        per_page: 1,
        count: 1,
        total_count: total,
        total_pages: total,
      });
      seen.push(result[0]!.id);
    }
    assert.deepEqual(
      seen,
      whole.result.map(({ id }) => id),
    );
  });

  test("a last page that is not full says so", async () => {
    const { total_count: total } = (await paged("per_page=50")).result_info;
    const { result, result_info: info } = await paged(`page=2&per_page=${total! - 1}`);
    assert.equal(result.length, 1);
    assert.equal(info["count"], 1);
    assert.equal(info["total_pages"], 2);
  });

  test("past the end are empty, not an error", async () => {
    const { total_count: total } = (await paged("per_page=50")).result_info;
    for (const page of [2, 3, 1_000]) {
      const { result, result_info: info } = await paged(`page=${page}&per_page=50`);
      assert.deepEqual(result, []);
      const expected = { page, per_page: 50, count: 0, total_count: total, total_pages: 1 };
      assert.deepEqual(info, expected);
    }
  });

  test("without a match have no pages", async () => {
    const { result, result_info: info } = await paged("name=nobody");
    assert.deepEqual(result, []);
    const expected = { page: 1, per_page: 20, count: 0, total_count: 0, total_pages: 0 };
    assert.deepEqual(info, expected);
  });

  test("of millions to a page are granted (reference §9.2)", async () => {
    const { result, result_info: info } = await paged("per_page=5000000");
    assert.equal(result.length, info["total_count"]);
    assert.equal(info["total_pages"], 1);
  });

  test("refuse what is no page", async () => {
    for (const query of ["page=0", "page=-1", "page=x", "page=1.5", "per_page=0", "per_page="]) {
      const { status, errors } = await call(server, "GET", `/accounts?${query}`);
      assert.equal(status, 400, query);
      assert.equal(errors[0]?.source?.pointer, `/${query.split("=")[0]}`);
    }
  });
});

suite("accounts beside each other", () => {
  test("a new account is in the lists of the one who made it", async () => {
    const id = await makeAccount("Visible");
    const accounts = (await call(server, "GET", "/accounts?name=Visible")).result;
    assert.deepEqual(
      (accounts as { id: string }[]).map((found) => found.id),
      [id],
    );
    const { organizations } = (await call(server, "GET", "/user")).result as {
      organizations: { id: string }[];
    };
    assert.ok(organizations.some((organization) => organization.id === id));
  });

  test("an account's token cannot touch another account, whatever its policies name", async () => {
    const other = await makeAccount("Other");
    const everywhere = ["accountSettingsWrite", "accountTokensWrite"] as const;
    const { value } = await makeToken(`/accounts/${account}/tokens`, {
      name: "greedy",
      policies: [
        policy("allow", accountKey("*"), ...everywhere),
        policy("allow", accountKey(other), ...everywhere),
      ],
    });
    const theirs = await makeToken(`/accounts/${other}/tokens`, {
      name: "theirs",
      policies: [policy("allow", accountKey(other), "accountSettingsRead")],
    });
    const headers = bearer(value);
    const token = `/accounts/${other}/tokens/${theirs.id}`;
    const change = { name: "Taken", policies: [readsUser] };
    const tries: [method: string, path: string, body?: object][] = [
      ["GET", `/accounts/${other}`],
      ["PUT", `/accounts/${other}`, change],
      ["GET", `/accounts/${other}/tokens`],
      ["POST", `/accounts/${other}/tokens`, change],
      ["GET", `/accounts/${other}/tokens/permission_groups`],
      ["GET", token],
      ["PUT", token, change],
      ["PUT", `${token}/value`],
      ["DELETE", token],
      ["GET", `/accounts/${other}/tokens/verify`],
    ];
    for (const [method, path, body] of tries) {
      const answer = await call(server, method, path, { headers, ...(body && { body }) });
      assertRefused(answer, 403, FORBIDDEN);
    }
    const own = await call(server, "GET", "/accounts", { headers });
    assert.deepEqual(
      (own.result as { id: string }[]).map(({ id }) => id),
      [account],
    );
    // Nor does a way through its own account lead there.
    const around = `/accounts/${account}/tokens/${theirs.id}`;
    assert.equal((await call(server, "DELETE", around, { headers })).status, 404);
    const still = await call(server, "GET", token);
    assert.equal((still.result as { name: string }).name, "theirs");
  });

  test("an account that is not there cannot be told from one that is another's", async () => {
    const answer = await call(server, "GET", `/accounts/${"0".repeat(32)}`);
    assertRefused(answer, 403, FORBIDDEN);
  });
});

suite("failed log-ins are limited per source address", () => {
  /** Several times what a slow and busy machine takes for what a test asks meanwhile. */
  const WINDOW_SECONDS = 20;
  const limits = {
    SELVEDGE_LIMITS_AUTH_FAILURES: "5",
    SELVEDGE_LIMITS_AUTH_FAILURE_WINDOW_SECONDS: String(WINDOW_SECONDS),
  };
  const from = (address: string, headers: Record<string, string>) => ({
    headers: { ...headers, "X-Forwarded-For": address },
  });
  const wrong = [
    bearer(UNKNOWN_TOKEN),
    { "X-Auth-Email": EMAIL, "X-Auth-Key": UNKNOWN_KEY },
    { "X-Auth-Email": "x@y.z", "X-Auth-Key": KEY },
    bearer("abc"),
    bearer("b".repeat(40)),
  ];

  function assertThrottled(answer: ApiAnswer): number {
    assert.equal(answer.status, 429, answer.text);
    assert.equal(answer.errors[0]?.code, 971);
    assert.match(answer.errors[0].message, /Please wait and consider throttling/);
    const seconds = Number(answer.headers.get("retry-after"));
    assert.ok(seconds >= 1 && seconds <= WINDOW_SECONDS, `Retry-After: ${seconds}`);
    return seconds;
  }

  test("the sixth is turned away with right credentials too, until the window is over", async () => {
    await using strict = await startServer({ env: limits });
    const { value } = await makeToken(
      "/user/tokens",
      {
        name: "right",
        policies: [policy("allow", userKey((await firstIds(strict)).user), "userDetailsRead")],
      },
      strict,
    );
    // What a header says of the address is not believed, so these are all from here.
    for (const [i, headers] of wrong.entries()) {
      const { status } = await call(strict, "GET", "/user", from(`192.0.2.${i}`, headers));
      assert.ok(status === 400 || status === 403, `attempt ${i + 1}: ${status}`);
    }
    assertThrottled(await call(strict, "GET", "/user", { headers: bearer("c".repeat(40)) }));
    assertThrottled(await call(strict, "GET", "/user", { headers: bearer(value) }));
    assertThrottled(await call(strict, "GET", "/user/tokens/verify", { headers: bearer(value) }));
    assertThrottled(await call(strict, "GET", "/user", from("192.0.2.200", keyHeaders)));
    const seconds = assertThrottled(await call(strict, "GET", "/user"));
    await wait(seconds * 1000);
    assert.equal((await call(strict, "GET", "/user")).status, 200);
    assert.equal((await call(strict, "GET", "/user", { headers: bearer(value) })).status, 200);
  });

  test("right credentials do not use the limit up", async () => {
    await using strict = await startServer({ env: limits });
    for (let i = 0; i < 4; i++) {
      await call(strict, "GET", "/user", { headers: bearer(UNKNOWN_TOKEN) });
    }
    for (let i = 0; i < 20; i++) assert.equal((await call(strict, "GET", "/user")).status, 200);
  });

  test("a trusted proxy's word on the address is believed, nobody else's", async () => {
    await using proxied = await startServer({
      env: { ...limits, SELVEDGE_TRUSTED_PROXIES: "127.0.0.1" },
    });
    const { user } = await firstIds(proxied);
    const { value } = await makeToken(
      "/user/tokens",
      {
        name: "placed",
        policies: [policy("allow", userKey(user), "userDetailsRead")],
        condition: { "request.ip": { in: ["192.0.2.7/32", "2001:db8::/32"] } },
      },
      proxied,
    );
    const use = (forwarded: string) =>
      call(proxied, "GET", "/user", from(forwarded, bearer(value)));
    assert.equal((await use("192.0.2.7")).status, 200);
    assert.equal((await use("2001:db8::1")).status, 200);
    // Each proxy appends what it saw: what stands further left can be invented.
    assert.equal((await use("198.51.100.9, 192.0.2.7")).status, 200);
    assert.equal((await use("192.0.2.7, 127.0.0.1")).status, 200);
    const location = (address: string): Entry => ({
      code: 9109,
      message: `Cannot use the access token from location: ${address}`,
    });
    assertRefused(await use("192.0.2.7, 198.51.100.9"), 403, location("198.51.100.9"));
    assertRefused(await use("192.0.2.7, nonsense"), 403, location("127.0.0.1"));

    const wrongFrom = (address: string) =>
      call(proxied, "GET", "/user", from(address, bearer(UNKNOWN_TOKEN)));
    for (let i = 0; i < 5; i++) {
      assert.equal((await wrongFrom("203.0.113.1")).status, 403);
      assert.equal((await wrongFrom(`2001:db8:0:1::${i}`)).status, 403);
    }
    assertThrottled(await call(proxied, "GET", "/user", from("203.0.113.1", keyHeaders)));
    // One IPv6 host commands a whole /64.
    assertThrottled(await call(proxied, "GET", "/user", from("2001:db8:0:1:9::9", keyHeaders)));
    for (const address of ["203.0.113.2", "2001:db8:0:2::1"]) {
      assert.equal((await call(proxied, "GET", "/user", from(address, keyHeaders))).status, 200);
    }
    assert.equal((await call(proxied, "GET", "/user")).status, 200);
  });
});

suite("requests are limited per identity (reference §1.5)", () => {
  test("every answer to one who got in tells what is left, a refusal too", async () => {
    await using limited = await startServer({
      env: { SELVEDGE_LIMITS_REQUESTS: "3", SELVEDGE_LIMITS_REQUEST_WINDOW_SECONDS: "60" },
    });
    const told = async (path: string) => {
      const { status, headers } = await call(limited, "GET", path);
      assert.equal(headers.get("ratelimit-policy"), '"default";q=3;w=60', path);
      const left = /^"default";r=(\d+);t=\d+$/.exec(headers.get("ratelimit") ?? "")?.[1];
      return { status, left, retryAfter: headers.has("retry-after") };
    };
    assert.deepEqual(await told("/user"), { status: 200, left: "2", retryAfter: false });
    assert.deepEqual(await told("/user"), { status: 200, left: "1", retryAfter: false });
    const missing = await told(`/user/tokens/${"0".repeat(32)}`);
    assert.deepEqual(missing, { status: 404, left: "0", retryAfter: false });
    assert.deepEqual(await told("/user"), { status: 429, left: "0", retryAfter: true });
  });
});

async function textsOf(...paths: readonly string[]): Promise<string[]> {
  return Promise.all(paths.map(async (path) => (await call(server, "GET", path)).text));
}
