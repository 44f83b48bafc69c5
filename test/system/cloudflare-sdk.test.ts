/** The stock `cloudflare` SDK against the real server: all it can ask of users, accounts and tokens. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { Cloudflare } from "../clients/index.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { accountKey, firstIds, policy, type PolicyInput, userKey } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { user, account } = await firstIds(server);

/** Unset, the SDK would look for these in the developer's environment. */
const NO_CREDENTIALS = { apiEmail: null, apiKey: null, apiToken: null, userServiceKey: null };
const ID = /^[0-9a-f]{32}$/;
const TOKEN_VALUE = /^[A-Za-z0-9_-]{40}$/; // Reference §1.1: what clients check before they send it.
const LATER = "2099-01-01T00:00:00Z";

type ClientOptions = NonNullable<ConstructorParameters<typeof Cloudflare>[0]>;

function withKey(options: ClientOptions = {}): Cloudflare {
  const credentials = { ...NO_CREDENTIALS, apiEmail: EMAIL, apiKey: KEY };
  return new Cloudflare({ baseURL: server.base, ...credentials, ...options });
}

function withToken(apiToken: string, options: ClientOptions = {}): Cloudflare {
  return new Cloudflare({ baseURL: server.base, ...NO_CREDENTIALS, apiToken, ...options });
}

const owner = withKey();
const readsUser = policy("allow", userKey(user), "userDetailsRead");

type TokenParams = Parameters<typeof owner.user.tokens.create>[0];

/** Makes a token of the user and a client that shows it. */
async function userToken(params: Partial<TokenParams> = {}) {
  const body = { name: "test", policies: [readsUser], ...params };
  const { id, value } = await owner.user.tokens.create(body);
  return { id: id!, body, client: withToken(value!) };
}

async function accountToken(on: string, policies: PolicyInput[]) {
  const made = await owner.accounts.tokens.create({ account_id: on, name: "test", policies });
  return { id: made.id!, client: withToken(made.value!) };
}

/** Waits for a call to fail and holds the SDK's error to the status and the code. */
async function refused(call: Promise<unknown>, status: number, code: number): Promise<Error> {
  const error = await call.then(
    () => assert.fail("the call was not refused"),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof Cloudflare.APIError, String(error));
  assert.deepEqual([error.status, error.errors[0]?.code], [status, code], error.message);
  return error;
}

/** Walks over all pages as `for await` does. */
function everything<T>(list: AsyncIterable<T>): Promise<T[]> {
  return Array.fromAsync(list);
}

/** A client that may do with a token all that the owner may with the key. */
const { client: deputy } = await userToken({
  name: "deputy",
  policies: [
    policy("allow", userKey(user), "userDetailsWrite", "membershipsRead", "userTokensWrite"),
    policy("allow", accountKey("*"), "accountSettingsWrite", "accountTokensWrite"),
  ],
});

for (const [scheme, client] of [
  ["an e-mail and a key", owner],
  ["a token", deputy],
] as const) {
  suite(`with ${scheme} the SDK`, () => {
    test("reads and edits the user", async () => {
      const edited = await client.user.edit({ first_name: "Ada", country: "NO", zipcode: null });
      const read = await client.user.get();
      assert.deepEqual(read, edited);
      assert.equal(read.id, user);
      assert.equal(read.email, EMAIL);
      assert.deepEqual([read.first_name, read.country, read.zipcode], ["Ada", "NO", null]);
      assert.equal(read.organizations?.[0]?.id, account);
      await client.user.edit({ first_name: null });
      assert.equal((await client.user.get()).first_name, null);
    });

    test("gets and updates an account", async () => {
      const before = await client.accounts.get({ account_id: account });
      assert.equal(before.type, "standard");
      const settings = { enforce_twofactor: true, abuse_contact_email: "abuse@example.com" };
      const change = { ...before, account_id: account, name: `Renamed with ${scheme}`, settings };
      const updated = await client.accounts.update(change);
      const read = await client.accounts.get({ account_id: account });
      assert.deepEqual(updated, read);
      assert.equal(read.name, `Renamed with ${scheme}`);
      assert.equal(read.created_on, before.created_on);
      assert.equal(read.settings?.enforce_twofactor, true);
      assert.equal(read.settings?.abuse_contact_email, "abuse@example.com");
      await client.accounts.update({ ...before, account_id: account });
      assert.deepEqual(await client.accounts.get({ account_id: account }), before);
    });

    test("finds accounts by name", async () => {
      const { name } = await client.accounts.get({ account_id: account });
      const found = await everything(client.accounts.list({ name }));
      assert.deepEqual(
        found.map(({ id }) => id),
        [account],
      );
      assert.deepEqual(await everything(client.accounts.list({ name: "no such name" })), []);
    });

    test("lists memberships", async () => {
      const memberships = await everything(client.memberships.list());
      const mine = memberships.find((membership) => membership.account?.id === account);
      assert.match(mine?.id ?? "", ID);
      assert.equal(mine?.status, "accepted");
    });

    test("makes, reads, lists, changes and deletes a token of the user", async () => {
      const made = await client.user.tokens.create({
        name: "a token",
        policies: [readsUser],
        not_before: "2020-01-01T00:00:00Z",
        expires_on: LATER,
      });
      const { value, ...shown } = made;
      assert.match(shown.id!, ID);
      assert.match(value!, TOKEN_VALUE);
      assert.deepEqual(
        [shown.name, shown.status, shown.not_before, shown.expires_on],
        ["a token", "active", "2020-01-01T00:00:00Z", LATER],
      );
      assert.deepEqual(shown.policies?.[0]?.resources, readsUser.resources);
      assert.equal(shown.policies?.[0]?.permission_groups[0]?.name, "User Details Read");
      assert.deepEqual(await client.user.tokens.get(shown.id!), shown);
      const listed = await everything(client.user.tokens.list());
      assert.deepEqual(
        listed.find(({ id }) => id === shown.id),
        shown,
      );
      // What was read can be sent back whole, with the ids and names that the server added.
      const { expires_on: _, ...kept } = shown;
      const change = { ...kept, name: "renamed", policies: shown.policies ?? [] };
      const updated = await client.user.tokens.update(shown.id!, change);
      assert.equal(updated.name, "renamed");
      assert.equal(updated.expires_on, undefined, "an update that leaves a date out takes it away");
      assert.deepEqual(await client.user.tokens.get(shown.id!), updated);
      assert.equal((await withToken(value!).user.get()).id, user, "an update keeps the value");
      assert.deepEqual(await client.user.tokens.delete(shown.id!), { id: shown.id });
      await refused(client.user.tokens.get(shown.id!), 404, 1003);
      await refused(client.user.tokens.delete(shown.id!), 404, 1003);
    });

    test("makes, reads, lists, changes, rolls and deletes a token of an account", async () => {
      const params = {
        account_id: account,
        name: "a token",
        policies: [policy("allow", accountKey(account), "accountSettingsRead")],
      };
      const { value, ...shown } = await client.accounts.tokens.create(params);
      const id = shown.id!;
      assert.match(value!, TOKEN_VALUE);
      assert.deepEqual(await client.accounts.tokens.get(id, params), shown);
      const listed = await everything(client.accounts.tokens.list(params));
      assert.ok(listed.some((token) => token.id === id));
      const change = { ...params, name: "renamed", expires_on: LATER };
      const updated = await client.accounts.tokens.update(id, change);
      assert.deepEqual([updated.name, updated.expires_on], ["renamed", LATER]);
      const verified = await withToken(value!).accounts.tokens.verify(params);
      assert.deepEqual(verified, { id, status: "active", expires_on: LATER });
      assert.equal((await withToken(value!).accounts.get(params)).id, account);
      const rolled = await client.accounts.tokens.value.update(id, params);
      assert.match(rolled, TOKEN_VALUE);
      await refused(withToken(value!).accounts.get(params), 403, 9109);
      assert.equal((await withToken(rolled).accounts.get(params)).id, account);
      assert.deepEqual(await client.accounts.tokens.delete(id, params), { id });
      await refused(withToken(rolled).accounts.get(params), 403, 9109);
      await refused(client.accounts.tokens.get(id, params), 404, 1003);
      // The user's tokens are another list.
      const usersOwn = await everything(client.user.tokens.list());
      assert.ok(usersOwn.every((token) => token.id !== id));
    });

    test("rolls a token of the user, whose old value stops working at once", async () => {
      const { id, client: old } = await userToken();
      await old.user.get(); // The server has just seen the value and may remember it.
      const value = await client.user.tokens.value.update(id);
      await refused(old.user.get(), 403, 9109);
      await refused(old.user.tokens.verify(), 401, 1000);
      assert.equal((await withToken(value).user.get()).id, user);
    });

    test("lists permission groups, all or by name and scope", async () => {
      const all = await everything(client.user.tokens.permissionGroups.list());
      assert.ok(all.length > 20);
      for (const group of all) {
        assert.match(group.id!, ID);
        assert.notEqual(group.name, "");
        assert.equal(group.scopes?.length, 1);
      }
      const named = await everything(
        client.user.tokens.permissionGroups.list({ name: "DNS Read" }),
      );
      assert.deepEqual(named, [
        {
          id: "82e64a83756745bbbb1c9c2701bf816b",
          name: "DNS Read",
          scopes: ["com.cloudflare.api.account.zone"],
        },
      ]);
      const scope = "com.cloudflare.api.user";
      const scoped = await everything(client.user.tokens.permissionGroups.list({ scope }));
      assert.deepEqual(
        scoped,
        all.filter((group) => group.scopes?.[0] === scope),
      );
      assert.ok(scoped.length > 0 && scoped.length < all.length);
      const ofAccount = client.accounts.tokens.permissionGroups;
      const params = { account_id: account, name: "Zone Read" };
      const listed = await everything(ofAccount.list(params));
      assert.equal(listed[0]?.id, "c8fed203ed3043cba015a93ad1616f1f");
      assert.deepEqual(await ofAccount.get(params), listed);
    });
  });
}

suite("accounts", () => {
  test("walking over more accounts than a page holds meets each of them once", async () => {
    const made = await Promise.all(
      Array.from({ length: 25 }, (_, i) => owner.accounts.create({ name: `Many ${i}` })),
    );
    const walked = (await everything(owner.accounts.list())).map(({ id }) => id);
    assert.equal(new Set(walked).size, walked.length);
    for (const { id } of made) assert.ok(walked.includes(id));
    const slowly = (await everything(owner.accounts.list({ per_page: 7 }))).map(({ id }) => id);
    assert.deepEqual(slowly, walked);
    const back = (await everything(owner.accounts.list({ direction: "desc" }))).map(({ id }) => id);
    assert.deepEqual(back, walked.toReversed());
  });

  test("a new account belongs to the one who made it", async () => {
    const made = await owner.accounts.create({ name: "Made", type: "enterprise" });
    assert.match(made.id, ID);
    assert.deepEqual([made.name, made.type], ["Made", "enterprise"]);
    assert.deepEqual(await owner.accounts.get({ account_id: made.id }), made);
    const memberships = await everything(owner.memberships.list());
    assert.ok(memberships.some((membership) => membership.account?.id === made.id));
  });

  test("memberships of accounts that a token sees are shown to it", async () => {
    const made = await owner.accounts.create({ name: "Seen" });
    const policies = [policy("allow", accountKey(made.id), "scriptsRead")];
    const { client } = await userToken({ policies });
    const seen = await everything(client.memberships.list());
    assert.deepEqual(
      seen.map((membership) => membership.account?.id),
      [made.id],
    );
  });

  test("memberships are filtered and ordered as is asked", async () => {
    const names = ["Membership B", "Membership A", "Membership C"];
    const made = await Promise.all(names.map((name) => owner.accounts.create({ name })));
    type Asked = NonNullable<Parameters<typeof owner.memberships.list>[0]>;
    const found = async (query: Asked) =>
      (await everything(owner.memberships.list(query))).map(({ account }) => account!.id);
    assert.deepEqual(await found({ name: "Membership A" }), [made[1]!.id]);
    assert.deepEqual(await found({ account: { name: "membership b" } }), [made[0]!.id]);
    assert.deepEqual(await found({ account: { name: "no such account" } }), []);
    assert.deepEqual(await found({ status: "pending" }), []);
    assert.deepEqual(await found({ status: "rejected" }), []);
    const all = await found({});
    assert.deepEqual((await found({ status: "accepted" })).toSorted(), all.toSorted());
    const ours = (ids: readonly string[]) =>
      ids.filter((id) => made.some((account) => account.id === id));
    const byName = [made[1]!.id, made[0]!.id, made[2]!.id];
    assert.deepEqual(ours(await found({ order: "account.name" })), byName);
    const back = await found({ order: "account.name", direction: "desc" });
    assert.deepEqual(ours(back), byName.toReversed());
    const ids = (await everything(owner.memberships.list({ order: "id" }))).map(({ id }) => id!);
    assert.deepEqual(ids, ids.toSorted());
    const paged = await everything(owner.memberships.list({ order: "account.name", per_page: 1 }));
    assert.equal(paged.length, all.length);
  });

  test("a token makes no accounts", async () => {
    const error = await refused(deputy.accounts.create({ name: "Made by a token" }), 403, 9109);
    assert.ok(error instanceof Cloudflare.PermissionDeniedError);
    assert.deepEqual(await everything(owner.accounts.list({ name: "Made by a token" })), []);
  });

  test("twenty updates at the same time all succeed and the last one stays", async () => {
    const { id } = await owner.accounts.create({ name: "Contended" });
    const update = (i: number) =>
      owner.accounts.update({ account_id: id, id, name: `Contended ${i}`, type: "standard" });
    const updates = await Promise.all(Array.from({ length: 20 }, (_, i) => update(i)));
    const { name } = await owner.accounts.get({ account_id: id });
    assert.ok(updates.some((updated) => updated.name === name));
  });
});

suite("a token", () => {
  test("with User Details Read reads the user and is refused on all else", async () => {
    const { client, id } = await userToken();
    assert.equal((await client.user.get()).id, user);
    const calls: (() => Promise<unknown>)[] = [
      () => client.user.edit({ first_name: "Eve" }),
      () => client.user.tokens.list(),
      () => client.user.tokens.get(id),
      () => client.user.tokens.create({ name: "more", policies: [readsUser] }),
      () => client.user.tokens.value.update(id),
      () => client.user.tokens.delete(id),
      () => client.accounts.get({ account_id: account }),
      () => client.accounts.tokens.list({ account_id: account }),
    ];
    for (const call of calls) {
      const error = await refused(call(), 403, 9109);
      assert.ok(error instanceof Cloudflare.PermissionDeniedError);
    }
    await refused(client.memberships.list(), 403, 10_000);
    assert.deepEqual(await everything(client.accounts.list()), []);
    assert.equal((await client.user.get()).first_name, null);
  });

  test("is refused once it is deleted", async () => {
    const { client, id } = await userToken();
    await client.user.get();
    await owner.user.tokens.delete(id);
    await refused(client.user.get(), 403, 9109);
    await refused(client.user.tokens.verify(), 401, 1000);
  });

  test("is refused while it is disabled", async () => {
    const { client, id, body } = await userToken();
    await client.user.get();
    await owner.user.tokens.update(id, { ...body, status: "disabled" });
    await refused(client.user.get(), 403, 9109);
    assert.deepEqual(await client.user.tokens.verify(), { id, status: "disabled" });
    await owner.user.tokens.update(id, { ...body, status: "active" });
    assert.equal((await client.user.get()).id, user);
  });

  test("is refused from the moment it expires", async () => {
    const expiry = Date.now() + 4_000; // Time enough to make it and use it on a busy machine.
    const { client, id } = await userToken({ expires_on: new Date(expiry).toISOString() });
    assert.equal((await client.user.get()).id, user);
    await wait(expiry - Date.now() + 1);
    await refused(client.user.get(), 403, 9109);
    assert.equal((await client.user.tokens.verify()).status, "expired");
    assert.equal((await client.user.tokens.verify()).id, id);
  });

  test("whose expiry has passed is refused", async () => {
    const { client } = await userToken({ expires_on: "2020-01-01T00:00:00Z" });
    await refused(client.user.get(), 403, 9109);
  });

  test("that has expired says so where it is shown", async () => {
    const { id } = await userToken({ expires_on: "2020-01-01T00:00:00Z" });
    assert.equal((await owner.user.tokens.get(id)).status, "expired");
  });

  test("that has expired is listed only when asked for", async () => {
    const { id } = await userToken({ expires_on: "2020-01-01T00:00:00Z" });
    const has = async (params: { include_expired?: boolean }) =>
      (await everything(owner.user.tokens.list(params))).some((token) => token.id === id);
    assert.equal(await has({ include_expired: true }), true);
    assert.equal(await has({ include_expired: false }), false);
    assert.equal(await has({}), false);
  });

  test("is refused before its time", async () => {
    const { client } = await userToken({ not_before: LATER });
    await refused(client.user.get(), 403, 9109);
  });

  test("shows when it was last used", async () => {
    const began = Date.now();
    const { client, id } = await userToken();
    assert.equal((await owner.user.tokens.get(id)).last_used_on, undefined);
    await client.user.get();
    await owner.user.edit({ last_name: null }); // Written after the note of the use.
    const used = Date.parse((await owner.user.tokens.get(id)).last_used_on ?? "never");
    assert.ok(used >= began && used <= Date.now(), `used at ${used}`);
  });

  test("is denied what one of its policies denies, whatever another allows", async () => {
    const other = (await owner.accounts.create({ name: "Denied" })).id;
    const allowed = policy("allow", accountKey("*"), "accountSettingsWrite");
    const denied = policy("deny", accountKey(other), "accountSettingsRead");
    for (const policies of [
      [allowed, denied],
      [denied, allowed],
    ]) {
      const { client } = await userToken({ policies });
      assert.equal((await client.accounts.get({ account_id: account })).id, account);
      await refused(client.accounts.get({ account_id: other }), 403, 9109);
    }
  });

  test("does not see in the list an account where all it was allowed is denied", async () => {
    const other = (await owner.accounts.create({ name: "Hidden" })).id;
    const { client } = await userToken({
      policies: [
        policy("allow", accountKey("*"), "accountSettingsRead"),
        policy("deny", accountKey(other), "accountSettingsRead"),
      ],
    });
    const seen = new Set((await everything(client.accounts.list())).map(({ id }) => id));
    assert.equal(seen.has(account), true);
    assert.equal(seen.has(other), false);
  });

  test("cannot be verified with a key", async () => {
    await refused(owner.user.tokens.verify(), 400, 1001);
  });
});

suite("an account's token", () => {
  test("is verified at its account and nowhere else", async () => {
    const other = (await owner.accounts.create({ name: "Elsewhere" })).id;
    const reads = policy("allow", accountKey(account), "accountSettingsRead");
    const { id, client } = await accountToken(account, [reads]);
    const verified = await client.accounts.tokens.verify({ account_id: account });
    assert.deepEqual(verified, { id, status: "active" });
    await refused(client.accounts.tokens.verify({ account_id: other }), 403, 9109);
    await refused(client.user.tokens.verify(), 403, 1000);
  });

  test("of the user is refused at the account's verify", async () => {
    const { client } = await userToken();
    await refused(client.accounts.tokens.verify({ account_id: account }), 403, 9109);
  });

  test("has no user behind it", async () => {
    const { client } = await accountToken(account, [
      policy("allow", accountKey("*"), "accountSettingsWrite"),
      policy("allow", userKey(user), "userDetailsRead", "userTokensWrite", "membershipsRead"),
    ]);
    await refused(client.user.get(), 403, 9109);
    await refused(client.user.tokens.list(), 403, 9109);
    // The code after which wrangler asks for accounts alone.
    await refused(client.memberships.list(), 403, 10_000);
  });
});

suite("a token's address rules", () => {
  const HERE = "127.0.0.1/32";
  const ELSEWHERE = "192.0.2.0/24";
  const cases = [
    { condition: { request_ip: { in: [HERE] } }, works: true },
    { condition: { request_ip: { in: [ELSEWHERE] } }, works: false },
    { condition: { request_ip: { in: [ELSEWHERE, HERE] } }, works: true },
    { condition: { request_ip: { not_in: [HERE] } }, works: false },
    { condition: { request_ip: { not_in: [ELSEWHERE] } }, works: true },
    { condition: { request_ip: { in: ["127.0.0.0/8"], not_in: [HERE] } }, works: false },
  ];

  for (const { condition, works } of cases) {
    const { in: inside = [], not_in: outside = [] } = condition.request_ip;
    test(`in [${inside.join()}], not in [${outside.join()}]: use is ${works ? "" : "not "}allowed`, async () => {
      const { client, id } = await userToken({ condition });
      if (works) assert.equal((await client.user.get()).id, user);
      else {
        const error = await refused(client.user.get(), 403, 9109);
        assert.match(error.message, /Cannot use the access token from location: 127\.0\.0\.1"/);
      }
      const verified = await client.user.tokens.verify();
      assert.deepEqual(verified, { id, status: "active" }, "verify does not look at the address");
    });
  }

  test("can be put on, changed and taken off", async () => {
    const { client, id, body } = await userToken();
    await client.user.get();
    const elsewhere = { request_ip: { in: [ELSEWHERE] } };
    await owner.user.tokens.update(id, { ...body, condition: elsewhere });
    await refused(client.user.get(), 403, 9109);
    await owner.user.tokens.update(id, { ...body, condition: { request_ip: { in: [HERE] } } });
    assert.equal((await client.user.get()).id, user);
    await owner.user.tokens.update(id, { ...body, condition: elsewhere });
    await owner.user.tokens.update(id, body);
    assert.equal((await client.user.get()).id, user);
  });

  test("are kept when a token is read and sent back", async () => {
    const condition = { request_ip: { in: [HERE], not_in: [ELSEWHERE] } };
    const { id } = await userToken({ condition });
    const read = await owner.user.tokens.get(id);
    const change = { ...read, name: "renamed", policies: read.policies! };
    const updated = await owner.user.tokens.update(id, change);
    assert.notEqual(read.condition, undefined);
    assert.deepEqual(updated.condition, read.condition);
  });

  test("stand in what the SDK reads under the name by which it sent them", async () => {
    const condition = { request_ip: { in: [HERE], not_in: [ELSEWHERE] } };
    const { id } = await userToken({ condition });
    const read = await owner.user.tokens.get(id);
    assert.deepEqual(read.condition?.request_ip, condition.request_ip);
  });
});

suite("the SDK's retries", () => {
  /** Counts what the SDK really sends. */
  function counting() {
    const sent = { requests: 0 };
    const counted: typeof fetch = (...args) => {
      sent.requests++;
      return fetch(...args);
    };
    return { sent, fetch: counted };
  }

  test("are not set off by a request that the server refuses", async () => {
    const { sent, fetch } = counting();
    const client = withKey({ fetch, maxRetries: 2 });
    const stranger = withToken("x".repeat(40), { fetch, maxRetries: 2 });
    const missing = "f".repeat(32);
    const bad = { name: "", policies: [readsUser] };
    const calls: [call: () => Promise<unknown>, status: number, code: number][] = [
      [() => client.user.tokens.create(bad), 400, 1001],
      [() => client.user.tokens.update(missing, { ...bad, name: "good" }), 404, 1003],
      [() => client.user.tokens.get(missing), 404, 1003],
      [() => client.user.tokens.get("not-an-id"), 404, 7003],
      [() => client.user.tokens.value.update(missing), 404, 1003],
      [() => client.accounts.get({ account_id: missing }), 403, 9109],
      [() => client.accounts.delete({ account_id: account }), 405, 7001],
      [() => client.get("/no/such/route"), 404, 7000],
      [() => stranger.user.get(), 403, 9109],
      [() => stranger.user.tokens.verify(), 401, 1000],
    ];
    for (const [call, status, code] of calls) {
      sent.requests = 0;
      await refused(call(), status, code);
      assert.equal(sent.requests, 1);
    }
  });

  test("obey Retry-After when there were too many requests, and then succeed", async () => {
    await using limited = await startServer({
      // Several times what a slow and busy machine takes for what is asked meanwhile.
      env: { SELVEDGE_LIMITS_REQUESTS: "5", SELVEDGE_LIMITS_REQUEST_WINDOW_SECONDS: "20" },
    });
    const { sent, fetch } = counting();
    const impatient = withKey({ baseURL: limited.base, fetch, maxRetries: 0 });
    const { response } = await impatient.user.get().withResponse();
    assert.equal(response.headers.get("ratelimit"), '"default";r=4;t=20');
    assert.equal(response.headers.get("ratelimit-policy"), '"default";q=5;w=20');
    for (let i = 0; i < 4; i++) await impatient.user.get();
    const error = await refused(impatient.user.get(), 429, 971);
    assert.ok(error instanceof Cloudflare.RateLimitError);
    const retryAfter = Number(error.headers.get("retry-after"));
    assert.ok(retryAfter >= 1 && retryAfter <= 20, `Retry-After: ${retryAfter}`);

    sent.requests = 0;
    const patient = withKey({ baseURL: limited.base, fetch, maxRetries: 1 });
    assert.equal((await patient.user.get()).email, EMAIL);
    assert.equal(sent.requests, 2, "one refused, one that waited and was answered");
  });
});
