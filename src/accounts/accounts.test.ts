/** Accounts on both engines, from the first start to a token's last use. */
import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { bytes, type Database, migrate, openDatabase, statement, text } from "#db";
import { WindowLimit } from "#kit/window-limit.ts";
import { freshPostgresUrl, stopOwnPostgres } from "../../test/support/postgres.ts";
import { Accounts } from "./accounts.ts";
import { Authenticator } from "./authenticate.ts";
import { bootstrap, type Credentials } from "./bootstrap.ts";
import { AccountFault, type AccountFaultKind } from "./fault.ts";
import { Recent } from "./recent.ts";
import { S3Keys } from "./s3-keys.ts";
import { accountMigrations, type TokenOwner } from "./schema.ts";
import { openSealKey } from "./seal-key.ts";
import { type TokenInput, Tokens } from "./tokens.ts";

const USER_READ = "8acbe5bb0d54464ab867149d7f7cf8ac";
const LOCAL = "127.0.0.1";
const QUOTA = 10;
const sealedSecrets = statement({
  sql: "SELECT sealed_secret FROM s3_keys",
  gives: { secret: bytes },
});

const is = (kind: AccountFaultKind) => (error: unknown) =>
  error instanceof AccountFault && error.kind === kind;

for (const engine of ["sqlite", "postgres"] as const) {
  suite(`accounts on ${engine}`, () => {
    let dataDir: string;
    let url: string;
    let db: Database;
    let node: Awaited<ReturnType<typeof startNode>>;
    let clock = 1_000_000;
    const now = () => clock;

    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), "selvedge-accounts-"));
      url = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
      db = await open();
      node = await startNode(db);
    });
    after(async () => {
      await db[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true });
    });

    const open = () => openDatabase({ url, dataDir, onError: (error) => assert.fail(error) });

    /** What the platform builds on one database. */
    async function startNode(on: Database, folder = dataDir, secretKey: string | null = null) {
      await migrate(on, accountMigrations, {
        holder: folder,
        now: Date.now,
        sleep: async () => {},
      });
      const sealKey = await openSealKey(on, folder, secretKey);
      const path = await bootstrap(on, { dataDir: folder, sealKey, now, wishes: {} });
      const recent = new Recent(now);
      return {
        path,
        accounts: new Accounts(on, recent, now),
        tokens: new Tokens(on, recent, now, 5),
        s3Keys: new S3Keys({
          db: on,
          recent,
          sealKey,
          now,
          onLostNote: (error) => assert.fail(String(error)),
        }),
        authenticator: new Authenticator({
          db: on,
          recent,
          now,
          failures: new WindowLimit({ quota: QUOTA, windowSeconds: 60, keys: 10 }),
          onLostNote: (error) => assert.fail(String(error)),
        }),
      };
    }

    const credentials = async () =>
      JSON.parse(await readFile(join(dataDir, "credentials.json"), "utf8")) as Credentials;

    async function admin(): Promise<TokenOwner> {
      const { email, key } = await credentials();
      const identity = await node.authenticator.authenticate({ kind: "key", email, key }, LOCAL);
      return { kind: "user", id: identity.id };
    }

    function input(owner: TokenOwner, change: Partial<TokenInput> = {}): TokenInput {
      const resources = { [`com.cloudflare.api.${owner.kind}.${owner.id}`]: "*" as const };
      return {
        name: "test",
        status: "active",
        policies: [{ effect: "allow", groups: [USER_READ], resources }],
        condition: { in: [], notIn: [] },
        notBefore: null,
        expiresOn: null,
        ...change,
      };
    }

    const use = (value: string, address = LOCAL) =>
      node.authenticator.authenticate({ kind: "token", value }, address);

    test("the first start writes its credentials for the owner's eyes only", async () => {
      assert.equal(node.path, join(dataDir, "credentials.json"));
      assert.equal((await stat(node.path)).mode & 0o777, 0o600);
      const { email, key, s3_access_key_id, s3_secret_access_key } = await credentials();
      assert.equal(email, "admin@selvedge.local");
      assert.match(key, /^[0-9a-f]{37}$/);
      const found = await node.s3Keys.find(s3_access_key_id);
      assert.equal(found?.secretAccessKey, s3_secret_access_key);
      assert.equal(await node.s3Keys.find("unknown"), null);
    });

    suite("S3 keys", () => {
      const wish = {
        name: "backup",
        permission: "read-write",
        buckets: [{ bucket: "backups", prefixes: ["2026/"], objects: [] }],
        expiresAt: null,
      } as const;
      const first = async () => (await node.accounts.first()).id;

      test("are made, shown without their secrets, and revoked", async () => {
        const account = await first();
        clock++; // The first was made before.
        const made = await node.s3Keys.create(account, wish);
        const { secretAccessKey, ...shown } = made;
        assert.match(secretAccessKey, /^[0-9a-f]{64}$/);
        assert.deepEqual(await node.s3Keys.get(account, made.accessKeyId), shown);
        const listed = await node.s3Keys.list(account);
        assert.deepEqual(listed.at(-1), shown);
        assert.deepEqual([listed[0]!.name, listed[0]!.permission], ["first start", "admin"]);
        assert.deepEqual(await node.s3Keys.find(made.accessKeyId), made);
        await assert.rejects(node.s3Keys.revoke("other", made.accessKeyId), is("no-such-key"));
        await assert.rejects(node.s3Keys.get("other", made.accessKeyId), is("no-such-key"));
        await node.s3Keys.revoke(account, made.accessKeyId);
        assert.equal(await node.s3Keys.find(made.accessKeyId), null);
        await assert.rejects(node.s3Keys.revoke(account, made.accessKeyId), is("no-such-key"));
      });

      test("have none that no database could hold", async () => {
        const account = await first();
        assert.equal(await node.s3Keys.find("no\0key"), null);
        await assert.rejects(node.s3Keys.get(account, "no\0key"), is("no-such-key"));
        await assert.rejects(node.s3Keys.revoke(account, "no\0key"), is("no-such-key"));
      });

      test("of an older installation open all that they did", async () => {
        const folder = await mkdtemp(join(tmpdir(), "selvedge-accounts-"));
        const other = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
        await using old = await openDatabase({ url: other, dataDir: folder, onError: assert.fail });
        const [before] = accountMigrations;
        const step = { holder: folder, now: Date.now, sleep: async () => {} };
        await migrate(old, [before!], step);
        const add = (sql: string) => old.write(statement({ sql })({}));
        await add("INSERT INTO accounts VALUES ('a', 'A', 'standard', '{}', 1)");
        await add(
          `INSERT INTO s3_keys (access_key_id, account_id, sealed_secret, created_at)
           SELECT 'old', 'a', ${engine === "sqlite" ? "x''" : "''::bytea"}, 1`,
        );
        const [key] = await (await startNode(old, folder)).s3Keys.list("a");
        assert.equal(key!.accessKeyId, "old");
        assert.deepEqual([key!.permission, key!.buckets, key!.expiresAt], ["admin", null, null]);
        await rm(folder, { recursive: true });
      });

      test("revoked on another node are gone within a second", async () => {
        const account = await first();
        const { accessKeyId } = await node.s3Keys.create(account, wish);
        assert.notEqual(await node.s3Keys.find(accessKeyId), null);
        await (await startNode(db)).s3Keys.revoke(account, accessKeyId);
        clock += 1_000;
        assert.equal(await node.s3Keys.find(accessKeyId), null);
      });

      test("expire at their moment", async () => {
        const account = await first();
        const expiresAt = clock + 500;
        const { accessKeyId } = await node.s3Keys.create(account, { ...wish, expiresAt });
        assert.notEqual(await node.s3Keys.find(accessKeyId), null);
        clock += 500;
        assert.equal(await node.s3Keys.find(accessKeyId), null);
        const late = node.s3Keys.create(account, { ...wish, expiresAt: clock });
        await assert.rejects(late, is("bad-key"));
      });

      test("tell when they were last used", async () => {
        const account = await first();
        const key = await node.s3Keys.create(account, wish);
        node.s3Keys.noteUse(key);
        await node.s3Keys[Symbol.asyncDispose]();
        const { lastUsedAt } = await node.s3Keys.get(account, key.accessKeyId);
        assert.equal(lastUsedAt, clock);
      });
    });

    test("a second start makes nothing new", async () => {
      const again = await startNode(db);
      assert.equal(again.path, null);
    });

    test("a first start cut short after the file was written is finished with the same keys", async () => {
      const folder = await mkdtemp(join(tmpdir(), "selvedge-accounts-"));
      const other = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
      await using fresh = await openDatabase({ url: other, dataDir: folder, onError: assert.fail });
      const kept = { ...(await credentials()), key: "kept-by-the-first-try" };
      await writeFile(join(folder, "credentials.json"), JSON.stringify(kept));
      const started = await startNode(fresh, folder);
      const shown = { kind: "key" as const, email: kept.email, key: kept.key };
      assert.equal((await started.authenticator.authenticate(shown, LOCAL)).kind, "user");
      await rm(folder, { recursive: true });
    });

    test("no secret is in the database in the clear", async () => {
      const { key, s3_secret_access_key } = await credentials();
      const owner = await admin();
      const { token, value } = await node.tokens.create(owner, input(owner));
      const dump = async (sql: string) =>
        JSON.stringify(await db.all(statement({ sql, gives: { a: text, b: text } })({})));
      const rows = [
        await dump("SELECT key_hash, details FROM users"),
        await dump("SELECT value_hash, policies FROM tokens"),
        Buffer.from((await db.first(sealedSecrets({})))!.secret).toString("latin1"),
      ].join();
      for (const secret of [key, value, s3_secret_access_key])
        assert.equal(rows.includes(secret), false);
      await node.tokens.remove(owner, token.id);
    });

    test("a token works until it is rolled, disabled, expired or removed, each at once", async () => {
      const owner = await admin();
      const { token, value } = await node.tokens.create(owner, input(owner));
      assert.match(value, /^[A-Za-z0-9_-]{40}$/);
      assert.equal((await use(value)).id, token.id);

      const rolled = await node.tokens.roll(owner, token.id);
      await assert.rejects(use(value), is("unknown-token"));
      assert.equal((await use(rolled)).id, token.id);

      await node.tokens.edit(owner, token.id, input(owner, { status: "disabled" }));
      await assert.rejects(use(rolled), is("unknown-token"));
      assert.equal((await node.authenticator.verifyToken(rolled, LOCAL)).status, "disabled");

      await node.tokens.edit(owner, token.id, input(owner, { expiresOn: clock + 5000 }));
      assert.equal((await use(rolled)).id, token.id);
      clock += 5000;
      await assert.rejects(use(rolled), is("unknown-token"));
      assert.equal((await node.authenticator.verifyToken(rolled, LOCAL)).status, "expired");

      await node.tokens.edit(owner, token.id, input(owner, { notBefore: clock + 1 }));
      clock += 60_000; // The failures above are forgotten, and the token's day has come.
      assert.equal((await use(rolled)).id, token.id);

      await node.tokens.remove(owner, token.id);
      await assert.rejects(use(rolled), is("unknown-token"));
      await assert.rejects(node.tokens.get(owner, token.id), is("no-such-token"));
      clock += 60_000;
    });

    test("a token removed on another node stops working within a second", async () => {
      await using otherDb = await open();
      const other = await startNode(otherDb, dataDir);
      const owner = await admin();
      const { token, value } = await node.tokens.create(owner, input(owner));
      await use(value);
      await other.tokens.remove(owner, token.id);
      clock += 1_000;
      await assert.rejects(use(value), is("unknown-token"));
      clock += 60_000;
    });

    test("a token knows where it may be used from", async () => {
      const owner = await admin();
      const condition = { in: ["192.0.2.0/24"], notIn: ["192.0.2.7"] };
      const { token, value } = await node.tokens.create(owner, input(owner, { condition }));
      assert.equal((await use(value, "192.0.2.1")).id, token.id);
      await assert.rejects(use(value, "192.0.2.7"), is("wrong-place"));
      await assert.rejects(use(value, "198.51.100.1"), is("wrong-place"));
      await node.tokens.remove(owner, token.id);
    });

    test("the time of last use is kept, to the minute", async () => {
      const owner = await admin();
      const { token, value } = await node.tokens.create(owner, input(owner));
      await use(value);
      await node.authenticator[Symbol.asyncDispose]();
      assert.equal((await node.tokens.get(owner, token.id)).lastUsedOn, clock);
      await node.tokens.remove(owner, token.id);
    });

    test("an owner has so many tokens and no more", async () => {
      const owner = await admin();
      const made = [];
      for (let i = 0; i < 5; i++) made.push(await node.tokens.create(owner, input(owner)));
      await assert.rejects(node.tokens.create(owner, input(owner)), is("too-many-tokens"));
      for (const { token } of made) await node.tokens.remove(owner, token.id);
    });

    test("failed attempts shut an address out until the window ends, and no other", async () => {
      const { email } = await credentials();
      const wrong = { kind: "key" as const, email, key: "0".repeat(37) };
      const guess = (address: string) => node.authenticator.authenticate(wrong, address);
      for (let i = 0; i < QUOTA; i++)
        await assert.rejects(guess("198.51.100.9"), is("unknown-key"));
      await assert.rejects(guess("198.51.100.9"), is("too-many-failures"));
      await assert.rejects(guess("198.51.100.10"), is("unknown-key"));
      clock += 60_000;
      await assert.rejects(guess("198.51.100.9"), is("unknown-key"));
    });

    test("a burst of failed attempts is let through no further than a slow one", async () => {
      const guesses = Array.from({ length: 60 }, (_, i) =>
        use(`${"guess-".repeat(6)}${String(i).padStart(6, "0")}`, "198.51.100.77"),
      );
      const outcomes = await Promise.allSettled(guesses);
      const told = outcomes.filter(
        (one) => one.status === "rejected" && is("unknown-token")(one.reason),
      );
      assert.equal(told.length, QUOTA);
      clock += 60_000;
    });

    test("an account belongs to its members; a token to its owner's accounts", async () => {
      const { id: userId } = await admin();
      const { accounts } = node;
      const account = await accounts.createAccount(userId, "Second", "standard");
      const resource = { kind: "account" as const, account: account.id };
      const user = { kind: "user" as const, id: userId, userId };
      await accounts.authorize(user, "account.edit", resource);
      const stranger = { kind: "user" as const, id: "x", userId: "f".repeat(32) };
      await assert.rejects(accounts.authorize(stranger, "account.read", resource), is("forbidden"));
      const everything = { "com.cloudflare.api.account.*": "*" as const };
      const groups = ["c1fde68c7bcc44588cbb6ddbc16d6480"];
      const policies = [{ id: "p", effect: "allow" as const, groups, resources: everything }];
      const owner = { kind: "account" as const, id: "e".repeat(32) };
      const token = { kind: "token" as const, id: "t", owner, policies };
      await assert.rejects(accounts.authorize(token, "account.read", resource), is("forbidden"));
      const ours = { ...token, owner: { kind: "account" as const, id: account.id } };
      await accounts.authorize(ours, "account.read", resource);
      await assert.rejects(accounts.authorize(ours, "account.edit", resource), is("forbidden"));
    });

    test("two changes of one user at the same time are both kept", async () => {
      const { id } = await admin();
      await Promise.all([
        node.accounts.editUser(id, { firstName: "Ada" }),
        node.accounts.editUser(id, { lastName: "L" }),
        node.accounts.editUser(id, { country: "GB" }),
      ]);
      const { details } = await node.accounts.user(id);
      assert.deepEqual([details.firstName, details.lastName, details.country], ["Ada", "L", "GB"]);
    });

    test("a node with another secret key says so instead of starting", async () => {
      const folder = await mkdtemp(join(tmpdir(), "selvedge-accounts-"));
      await assert.rejects(
        startNode(db, folder),
        /it was made with another one\. Set SELVEDGE_SECRET_KEY/,
      );
      const key = (await readFile(join(dataDir, "secret.key"), "utf8")).trim();
      await startNode(db, folder, key);
      await assert.rejects(startNode(db, folder, "short"), /at least 16 characters/);
      await rm(folder, { recursive: true });
    });

    test("of nodes that start together on a new database, one makes the first user", async () => {
      if (engine === "sqlite") return; // A data folder has one process.
      const shared = await freshPostgresUrl();
      const folders = await Promise.all(
        [1, 2, 3].map(() => mkdtemp(join(tmpdir(), "selvedge-accounts-"))),
      );
      const dbs = await Promise.all(
        folders.map((folder) =>
          openDatabase({ url: shared, dataDir: folder, onError: assert.fail }),
        ),
      );
      const nodes = await Promise.all(
        dbs.map((on, i) => startNode(on, folders[i], "one key for all the nodes")),
      );
      assert.equal(nodes.filter(({ path }) => path !== null).length, 1);
      const files = await Promise.all(folders.map((folder) => readdir(folder)));
      const kept = files.filter((names) => names.includes("credentials.json"));
      assert.equal(kept.length, 1, "keys that do not work are not kept");
      await Promise.all(dbs.map((on) => on[Symbol.asyncDispose]()));
      await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
    });
  });
}

after(stopOwnPostgres);
