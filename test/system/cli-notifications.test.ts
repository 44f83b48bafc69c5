/** The commands for notifications of buckets: the real program against a real server. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Cli } from "../support/cli.ts";
import { until } from "../support/patience.ts";
import { startS3 } from "../support/s3.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

const server = await startS3({ env: { SELVEDGE_EVENTS_WEBHOOKS: "127.0.0.1" } });
after(() => server[Symbol.asyncDispose]());
const cli = await Cli.for(server.origin);
after(() => cli[Symbol.asyncDispose]());

const NOTIFICATION = ["bucket", "notification"];

test("a notification is added with its secret, listed with its state, retried and removed", async () => {
  await using receiver = await WebhookReceiver.open();
  receiver.answer = () => 500;
  await cli.must(["bucket", "create", "photos"]);
  const options = ["--event", "create", "--prefix", "in/", "--suffix", ".txt"];
  const add = [...NOTIFICATION, "add", "photos", "--webhook", receiver.url, ...options];
  const made = await cli.run(add);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^Id +[0-9a-f]{32}\nEvents +create\nKeys +in\/\*\.txt\nTo +http/);
  assert.match(made.stdout, /^Secret +whsec_\S+$/m);
  assert.equal(made.stderr, "The secret is not shown again.\n");
  const id = /[0-9a-f]{32}/.exec(made.stdout)![0];
  await cli.must(["object", "put", "photos/in/a.txt", "-"], "hello");
  const list = () => cli.must([...NOTIFICATION, "list", "photos"]);
  await until(async () => (await list()).includes("The webhook answered 500"));
  assert.match(await list(), new RegExp(`^${id} +create +in/\\*\\.txt +http\\S+ +1 +0 +The`, "m"));
  receiver.answer = () => 200;
  await cli.must([...NOTIFICATION, "retry", "photos", id]);
  await until(async () => / 0 +0 +-$/m.test(await list()));
  assert.deepEqual(await cli.json([...NOTIFICATION, "remove", "photos", id, "--yes"]), { id });
  assert.deepEqual(await cli.json([...NOTIFICATION, "list", "photos"]), []);
});

test("what cannot be is said", async () => {
  const said = async (...args: readonly string[]) => {
    const { code, stderr } = await cli.run([...NOTIFICATION, ...args]);
    assert.notEqual(code, 0);
    return stderr;
  };
  await cli.must(["bucket", "create", "quiet"]);
  assert.match(await said("add", "quiet"), /Name one of --webhook URL and --script NAME/);
  assert.match(await said("add", "quiet", "--script", "none"), /none/);
  assert.match(await said("add", "none", "--webhook", "https://example.com/"), /bucket/);
  assert.match(await said("remove", "quiet", "0".repeat(32), "--yes"), /no notification/);
});
