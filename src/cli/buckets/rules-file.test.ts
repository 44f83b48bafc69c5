/** Files of rules: what is read from them, and how faults in them are told. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import { ApiFault } from "../api-fault.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import { readRules, sendRules } from "./rules-file.ts";

const keys = { id: null, when: { days: null }, moves: { when: { days: null } }, tags: null };

function read(content: string) {
  const context = { stdin: Readable.from([Buffer.from(content)]), cwd: "/" };
  return readRules(context as unknown as CommandContext, "-", keys);
}

async function faultOf(reading: Promise<unknown>): Promise<CliFault> {
  return reading.then(
    () => assert.fail("It was taken"),
    (error: unknown) => {
      assert.ok(error instanceof CliFault, String(error));
      return error;
    },
  );
}

test("rules are an array, alone or under a name, with comments where people write them", async () => {
  const rules = [
    { id: "a", when: { days: 1 }, moves: [{ when: { days: 2 } }], tags: { any: "x" } },
  ];
  const text = JSON.stringify(rules);
  assert.equal(JSON.stringify((await read(text)).rules), text);
  assert.equal(JSON.stringify((await read(`{"rules": ${text}}`)).rules), text);
  assert.deepEqual((await read('\uFEFF{"rules": [], // none yet\n}')).rules, []);
});

test("what is no file of rules is wrong usage, with its line", async () => {
  const cases: [content: string, said: string][] = [
    ["", "standard input:1: value expected"],
    ['{"rules": [\n  {"id": }\n]}', "standard input:2: value expected"],
    ["7", 'standard input: there is no array "rules"; --help shows a file'],
    ['{"Rules": []}', 'standard input: there is no array "rules"; --help shows a file'],
    ["[\n7]", "standard input:2: [0]: must be an object"],
    [
      '{"rules": [{},\n{"idd": 1}]}',
      "standard input:2: rules[1].idd: is not a key that is known here. Did you mean id?",
    ],
    [
      '[{"moves": [\n{"when": {"days": 1,\n"day": 2}}]}]',
      "standard input:3: [0].moves[0].when.day: is not a key that is known here. Did you mean days?",
    ],
    [
      '[{"AllowedOrigins": []}]',
      "standard input:1: [0].AllowedOrigins: is not a key that is known here. There are id, when, moves, tags.",
    ],
  ];
  for (const [content, said] of cases) {
    const { kind, message } = await faultOf(read(content));
    assert.deepEqual([kind, message], ["usage", said], content);
  }
  const unnamed = readRules({} as CommandContext, undefined, keys);
  assert.match((await faultOf(unnamed)).message, /--file FILE/);
});

test("what the API refuses in the rules is told with its line; other refusals stay as they are", async () => {
  const at = (pointer: string) => ({ code: 1001, message: "no", source: { pointer } });
  const errors = [at("/rules/0/when/days"), at("/rules/0/moves"), { code: 1001, message: "bad" }];
  for (const [open, close] of [
    ["", ""],
    ['{"rules":', "}"],
  ]) {
    const file = await read(`${open}[{"id": "a",\n"when": {\n"days": 0}}]${close}`);
    const refusal = Promise.reject(new ApiFault(400, errors, "no"));
    const fault = await faultOf(sendRules(file, refusal));
    const lines = ["standard input:3: no", "standard input:1: no", "standard input: bad"];
    assert.equal(fault.message, lines.join("\n"));
    assert.deepEqual((fault as ApiFault).errors, errors);
  }
  const other = new ApiFault(403, [{ code: 10_000, message: "not you" }], "not you");
  assert.equal(await faultOf(sendRules(await read("[]"), Promise.reject(other))), other);
});
