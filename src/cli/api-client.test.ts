import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { findAccount } from "./accounts.ts";
import { ApiClient } from "./api-client.ts";
import type { ApiFault } from "./api-fault.ts";
import type { CliFault } from "./fault.ts";

type Answer = (url: URL, init: RequestInit) => Response | Error;

/** A client whose requests are answered by these, one after the other; the last answers all further ones. */
function clientOf(...answers: Answer[]) {
  const asked: string[] = [];
  const pauses: number[] = [];
  const api = new ApiClient({
    url: "http://server.test",
    headers: { "x-auth-key": "k" },
    userAgent: "selvedge/1",
    signal: new AbortController().signal,
    pause: async (milliseconds) => pauses.push(milliseconds),
    fetch: async (url, init = {}) => {
      const at = new URL(url as string);
      asked.push(`${init.method} ${at.pathname}${at.search}`);
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      const given = answer(at, init);
      if (given instanceof Error) throw given;
      return given;
    },
  });
  return { api, asked, pauses };
}

const ok =
  (result: unknown, more: object = {}): Answer =>
  () =>
    Response.json({ result, success: true, errors: [], messages: [], ...more });
const refused =
  (status: number, code: number, message: string, headers = {}): Answer =>
  () => {
    const errors = [{ code, message }];
    return Response.json(
      { result: null, success: false, errors, messages: [] },
      { status, headers },
    );
  };
const broken =
  (code: string): Answer =>
  () =>
    new TypeError("fetch failed", { cause: Object.assign(new Error("inner"), { code }) });

suite("the client of the API", () => {
  test("sends JSON and credentials, and unwraps the result", async () => {
    let sent: RequestInit = {};
    const { api, asked } = clientOf((_, init) => {
      sent = init;
      return Response.json({ result: { id: 1 }, success: true, errors: [], messages: [] });
    });
    const query = { a: "ü", no: undefined, many: ["x", "y"], yes: true };
    assert.deepEqual(await api.post("/things", { b: 2 }, query), { id: 1 });
    assert.deepEqual(asked, ["POST /client/v4/things?a=%C3%BC&many=x&many=y&yes=true"]);
    const headers = sent.headers as Record<string, string>;
    assert.deepEqual(
      [sent.body, headers["content-type"], headers["x-auth-key"], headers["user-agent"]],
      ['{"b":2}', "application/json", "k", "selvedge/1"],
    );
  });

  test("reads all pages of a list", async () => {
    const { api, asked } = clientOf(
      ok([1, 2], { result_info: { total_pages: 2 } }),
      ok([3], { result_info: { total_pages: 2 } }),
    );
    assert.deepEqual(await api.all("/things", { per_page: 2 }), [1, 2, 3]);
    assert.deepEqual(
      asked.map((line) => line.slice(-6)),
      ["page=1", "page=2"],
    );
  });

  test("tries a read again that fails on its way, and takes the server's wish for a pause", async () => {
    const wait = refused(429, 971, "slow down", { "Retry-After": "3" });
    const { api, asked, pauses } = clientOf(broken("ECONNRESET"), wait, ok("done"));
    assert.equal(await api.get("/things"), "done");
    assert.deepEqual([asked.length, pauses], [3, [200, 3_000]]);
  });

  test("gives up on a read after a while", async () => {
    const { api, asked } = clientOf(refused(503, 10_503, "not now"));
    await assert.rejects(api.get("/things"), /^ApiFault: not now \(10503\)\.$/);
    assert.equal(asked.length, 4);
  });

  test("never tries a write again", async () => {
    for (const method of ["post", "put", "patch", "delete"] as const) {
      const { api, asked } = clientOf(refused(503, 10_503, "not now"));
      await assert.rejects(api[method]("/things"), /not now/);
      assert.equal(asked.length, 1);
    }
  });

  test("tells at once that nobody listens, and what to do", async () => {
    const { api, asked } = clientOf(broken("ECONNREFUSED"));
    await assert.rejects(api.get("/things"), {
      message:
        'Cannot reach http://server.test: connection refused. Is it running? Start it with "selvedge serve", or set SELVEDGE_API.',
      kind: "failed",
    });
    assert.equal(asked.length, 1);
  });

  test("tells that something else listens", async () => {
    const html = () => new Response("<html>", { headers: { "content-type": "text/html" } });
    await assert.rejects(clientOf(html).api.get("/things"), {
      message:
        "http://server.test answered 200 with text/html: this is no Selvedge API. Check SELVEDGE_API.",
    });
  });

  test("turns refusals into kinds by status and code", async () => {
    const kindOf = async (status: number, code: number) => {
      const fault: unknown = await clientOf(refused(status, code, "No"))
        .api.post("/things")
        .catch((error: unknown) => error);
      return (fault as ApiFault).kind;
    };
    assert.equal(await kindOf(404, 7003), "not-found");
    assert.equal(await kindOf(403, 9109), "not-allowed");
    assert.equal(await kindOf(400, 9103), "not-allowed");
    assert.equal(await kindOf(400, 6003), "not-allowed");
    assert.equal(await kindOf(400, 1001), "failed");
    assert.equal(await kindOf(500, 1), "failed");
  });

  test("says all that is wrong, with the codes, and where the server tells more", async () => {
    const errors = [
      { code: 9101, message: "content is a required field." },
      { code: 6003, message: "Bad", error_chain: [{ code: 1, message: "worse" }] },
    ];
    const answer = () => Response.json({ success: false, errors }, { status: 400 });
    await assert.rejects(clientOf(answer).api.post("/things"), (fault: ApiFault) => {
      assert.match(
        fault.message,
        /^content is a required field \(9101\)\. Bad: worse \(6003\)\. Check/,
      );
      assert.deepEqual([fault.status, fault.errors], [400, errors]);
      return true;
    });
    const bug = refused(500, 1, "Oops", { "X-Request-Id": "r-1" });
    await assert.rejects(clientOf(bug).api.post("/x"), /log has more under the request r-1\.$/);
  });
});

suite("the account", () => {
  const accounts = [
    { id: "a".repeat(32), name: "Home" },
    { id: "b".repeat(32), name: "Work" },
  ];
  const find = (known: unknown[], wanted?: string) =>
    findAccount(clientOf(ok(known, { result_info: { total_pages: 1 } })).api, wanted);

  test("is the only one there is", async () => {
    assert.deepEqual(await find(accounts.slice(0, 1)), accounts[0]);
  });

  test("is the one that is named, by id or name", async () => {
    assert.deepEqual(await find(accounts, "Work"), accounts[1]);
    assert.equal((await find([], "c".repeat(32))).id, "c".repeat(32));
  });

  test("must be chosen where there are several, which are listed", async () => {
    await assert.rejects(find(accounts), (fault: CliFault) => {
      assert.equal(fault.kind, "usage");
      assert.match(
        fault.message,
        /several accounts.*--account.*\n {2}a{32} {2}Home\n {2}b{32} {2}Work$/,
      );
      return true;
    });
    await assert.rejects(find(accounts, "Wrok"), /no account "Wrok"\. Did you mean Work\?/);
    await assert.rejects(find([]), { kind: "not-allowed" });
  });
});
