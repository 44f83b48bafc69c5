/** The ACME client against a server that answers as each case needs it; a real one is in test/system. */
import assert from "node:assert/strict";
import { createPublicKey, hash, type KeyObject } from "node:crypto";
import { suite, test } from "node:test";
import { newKey, pemOf } from "../certificates.contract.ts";
import {
  type Answers,
  BASE,
  checkMac,
  DIRECTORY,
  fakeAuthority,
  type Flattened,
  problem,
} from "./fake-authority.contract.ts";
import { AcmeFault, type AcmeFaultKind } from "./fault.ts";
import { beginOrder, completeOrder } from "./order.ts";
import { AcmeSession } from "./session.ts";

const NOW = Date.UTC(2026, 10, 15);
const anonymous = { email: null, externalAccount: null };

async function openSession(answers: Answers, privateKey: KeyObject = newKey(), meta = {}) {
  const server = fakeAuthority(answers, meta);
  const { http } = server;
  const session = await AcmeSession.open({
    http,
    directory: DIRECTORY,
    privateKey,
    now: () => NOW,
  });
  return { server, session };
}

const refused = (kind: AcmeFaultKind, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof AcmeFault, String(error));
  assert.equal(error.kind, kind);
  assert.match(error.message, says);
  return true;
};

suite("an account", () => {
  test("is registered with the key itself; later calls name the account", async () => {
    const { server, session } = await openSession(() => ({}));
    const kid = await session.register({ email: "a@example.com", externalAccount: null });
    await session.post(`${BASE}/x`, {});
    const [first, second] = server.calls;
    assert.deepEqual(first!.payload, {
      termsOfServiceAgreed: true,
      contact: ["mailto:a@example.com"],
    });
    assert.equal(second!.head["kid"], kid);
  });

  test("is bound to one that the authority knows", async () => {
    const { server, session } = await openSession(() => ({}));
    const key = Buffer.alloc(32, 3);
    const externalAccount = { kid: "k1", hmacKey: key.toString("base64url") };
    await session.register({ email: null, externalAccount });
    const [{ head, payload }] = server.calls as [(typeof server.calls)[0]];
    const binding = payload!["externalAccountBinding"] as Flattened;
    const url = `${BASE}/new-account`;
    assert.deepEqual(checkMac(binding, key), { alg: "HS256", kid: "k1", url });
    assert.deepEqual(JSON.parse(Buffer.from(binding.payload, "base64url").toString()), head["jwk"]);
  });

  test("that must be bound and is not gets a sentence with the settings' names", async () => {
    const meta = { externalAccountRequired: true };
    const { session } = await openSession(() => ({}), newKey(), meta);
    await assert.rejects(session.register(anonymous), refused("refused", /acme\.eab_kid/));
  });
});

suite("a call", () => {
  test("is repeated with a fresh nonce when the server has forgotten those it gave", async () => {
    const { server, session } = await openSession(() => ({}));
    await session.register(anonymous);
    server.nonces.clear();
    await session.post(`${BASE}/x`, {});
    assert.equal(server.calls.length, 2);
  });

  test("ends when the server takes no nonce at all", async () => {
    const { server, session } = await openSession(() => ({}));
    await session.register(anonymous);
    server.nonces.delete = () => false;
    await assert.rejects(session.post(`${BASE}/x`, {}), refused("refused", /badNonce/));
  });

  test("that is over a limit tells how long to wait, in seconds or by a date", async () => {
    const text = JSON.stringify(problem("rateLimited", "too many\ncertificates"));
    for (const [after, ms] of [
      ["120", 120_000],
      [new Date(NOW + 5_000).toUTCString(), 5_000],
      ["soon", null],
    ] as const) {
      const { session } = await openSession(() => ({
        status: 429,
        text,
        headers: { "retry-after": after },
      }));
      await session.register(anonymous);
      const error = await session.post(`${BASE}/x`, {}).catch((cause: unknown) => cause);
      assert.ok(refused("later", /too many certificates \(rateLimited\)/)(error));
      assert.equal((error as AcmeFault).retryAfterMs, ms);
    }
  });

  const faults: [name: string, status: number, text: string, kind: AcmeFaultKind, says: RegExp][] =
    [
      ["a page instead of a problem", 502, "<html>", "later", /HTTP 502/],
      ["a problem of the wrong shape", 400, '{"type":5,"subproblems":{}}', "refused", /HTTP 400/],
      [
        "an unknown account",
        400,
        JSON.stringify(problem("accountDoesNotExist", "who?")),
        "no-account",
        /who\?/,
      ],
      [
        "what is wrong with each name",
        403,
        JSON.stringify({
          ...problem("rejectedIdentifier", "some names are refused"),
          subproblems: [{ ...problem("caa", "CAA forbids"), identifier: { value: "a.example" } }],
        }),
        "refused",
        /some names are refused \(rejectedIdentifier\); a\.example: CAA forbids \(caa\)/,
      ],
    ];
  for (const [name, status, text, kind, says] of faults) {
    test(`tells of ${name}`, async () => {
      const { session } = await openSession(() => ({ status, text }));
      await session.register(anonymous);
      await assert.rejects(session.post(`${BASE}/x`, {}), refused(kind, says));
    });
  }
});

suite("an order", () => {
  const hosts = ["example.com", "*.example.com"];

  interface OrderCase {
    /** What the order is at each look; the last stays. */
    readonly statuses: string[];
    /** What comes of its proofs. */
    readonly proofs?: "valid" | "invalid";
    /** Whether the server has been told to look for them. */
    readonly isAsked?: boolean;
  }

  function orderAnswers({ statuses, proofs = "valid", isAsked = false }: OrderCase): Answers {
    const answered = new Set<string>();
    const authorization = (id: string) => {
      const isOver = answered.has(id);
      if (isAsked) answered.add(id);
      const status = isOver ? proofs : "pending";
      const error = isOver && proofs === "invalid" && { error: problem("dns", "no TXT found") };
      const challenge = {
        type: "dns-01",
        url: `${BASE}/chall/${id}`,
        status: isAsked ? "processing" : status,
        token: `token${id}`,
        ...error,
      };
      const identifier = { type: "dns", value: "example.com" };
      return { status, identifier, challenges: [{ ...challenge, type: "http-01" }, challenge] };
    };
    const order = () => {
      const status = statuses.length > 1 ? statuses.shift()! : statuses[0]!;
      const authorizations = [`${BASE}/authz/0`, `${BASE}/authz/1`];
      const certificate = status === "valid" && { certificate: `${BASE}/cert` };
      return { status, authorizations, finalize: `${BASE}/finalize`, ...certificate };
    };
    return ({ url }) => {
      const [, kind, id = ""] = url.slice("https://".length).split("/");
      if (kind === "new-order")
        return { status: 201, text: "", headers: { location: `${BASE}/o` } };
      if (kind === "o") return order();
      if (kind === "authz") return authorization(id);
      if (kind === "chall") return { token: answered.add(id) };
      return kind === "cert" ? { status: 200, text: "the chain" } : {};
    };
  }

  async function ordering(given: OrderCase) {
    const published: [name: string, values: readonly string[]][] = [];
    const slept: number[] = [];
    const accountKey = newKey();
    const { server, session } = await openSession(orderAnswers(given), accountKey);
    await session.register(anonymous);
    let clock = NOW;
    const options = {
      session,
      now: () => clock,
      settleMs: 7,
      sleep: async (ms: number) => {
        clock += ms;
        slept.push(ms);
      },
      publish: async (name: string, values: readonly string[]) => {
        published.push([name, values]);
        return { [Symbol.asyncDispose]: async () => void published.push([name, []]) };
      },
    };
    const wanted = { hosts, privateKey: pemOf(newKey()) };
    const complete = () => completeOrder(`${BASE}/o`, wanted, options);
    const asked = (kind: string) =>
      server.calls.filter(({ url }) => url.includes(`/${kind}`)).length;
    return { session, complete, published, slept, asked, accountKey };
  }

  test("passes through its states; a name and its wildcard are proven at one place", async () => {
    const order = await ordering({
      statuses: ["pending", "ready", "processing", "processing", "valid"],
    });
    assert.equal(await beginOrder(order.session, hosts), `${BASE}/o`);
    assert.equal(await order.complete(), "the chain");
    const thumbprint = hash("sha256", canonicalJwk(order.accountKey), "base64url");
    const values = ["token0", "token1"].map((token) =>
      hash("sha256", `${token}.${thumbprint}`, "base64url"),
    );
    const name = "_acme-challenge.example.com";
    assert.deepEqual(order.published, [
      [name, values],
      [name, []],
    ]);
    assert.deepEqual(order.slept, [7, 500, 1000]);
  });

  test("is taken up where it was left", async () => {
    for (const from of ["ready", "processing", "valid"]) {
      const order = await ordering({ statuses: [from, "valid"] });
      assert.equal(await order.complete(), "the chain");
      assert.deepEqual(order.published, []);
      assert.equal(order.asked("finalize"), from === "ready" ? 1 : 0);
    }
  });

  test("that was to be looked at when it was left is not asked for again", async () => {
    const order = await ordering({ statuses: ["pending", "valid"], isAsked: true });
    assert.equal(await order.complete(), "the chain");
    assert.equal(order.published.length, 2);
    assert.equal(order.asked("chall"), 0);
  });

  test("whose proof is not found says so, and takes its records away", async () => {
    const order = await ordering({ statuses: ["pending"], proofs: "invalid" });
    await assert.rejects(
      order.complete(),
      refused("refused", /example\.com: no TXT found \(dns\)/),
    );
    assert.deepEqual(order.published.at(-1), ["_acme-challenge.example.com", []]);
  });

  test("that is over is told as such; one that nobody decides is left for later", async () => {
    const over = await ordering({ statuses: ["invalid"] });
    await assert.rejects(over.complete(), refused("refused", /ended the order as invalid/));
    const slow = await ordering({ statuses: ["processing"] });
    await assert.rejects(slow.complete(), refused("later", /not decided in time/));
    assert.ok(slow.slept.reduce((a, b) => a + b) <= 5 * 60_000);
  });
});

function canonicalJwk(key: KeyObject): string {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: "jwk" });
  return `{"crv":"${crv}","kty":"${kty}","x":"${x}","y":"${y}"}`;
}
