import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { suite, test } from "node:test";
import { Command as Commander } from "commander";
import { attach } from "./attach.ts";
import {
  anyArgs,
  arg,
  choice,
  type Command,
  command,
  flag,
  optionalArg,
  text,
  texts,
  toggle,
  whole,
} from "./command.ts";
import { commands, groups } from "./commands.ts";
import type { ClientRoot, Surroundings } from "./context.ts";
import { CliFault } from "./fault.ts";
import { perform } from "./perform.ts";

const root: ClientRoot = {
  version: "1.2.3",
  serverUrl: () => "http://server.test",
  authHeaders: () => ({}),
  connectStore: () => {
    throw new Error("not here");
  },
  openObjects: () => Promise.reject(new Error("not here")),
};

class Screen extends PassThrough {
  isTTY = false;
  columns = 80;
  shown = "";
  constructor() {
    super();
    this.on("data", (chunk: Buffer) => (this.shown += chunk.toString()));
  }
}

interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface Around {
  readonly stop?: AbortController;
  readonly stdin?: Screen;
  readonly stdout?: Screen;
  readonly stderr?: Screen;
}

/** Runs a command line with these commands; code null means that commander has ended it. */
async function run(
  declared: readonly Command[],
  line: readonly string[],
  around: Around = {},
): Promise<Ran> {
  const { stop = new AbortController(), stdin = new Screen() } = around;
  const { stdout = new Screen(), stderr = new Screen() } = around;
  const surroundings: Surroundings = { stdin, stdout, stderr, env: {}, cwd: "/" };
  let code: number | null = null;
  const program = new Commander("selvedge").exitOverride().configureOutput({
    writeOut: (said) => void stdout.write(said),
    writeErr: (said) => void stderr.write(said),
  });
  attach(program, { thing: "things" }, declared, async (one, parsed) => {
    code = await perform(root, one, parsed, surroundings, stop);
  });
  await program.parseAsync(line, { from: "user" }).catch((error: unknown) => {
    assert.match((error as { code: string }).code, /^commander\./);
  });
  await new Promise(setImmediate); // What was written has come through.
  return { code, stdout: stdout.shown, stderr: stderr.shown };
}

/** A command that does just this. */
const doing = (work: Command["run"]): Command[] => [
  { path: "do", summary: "do it", examples: [], json: "it", run: work },
];

suite("a command line becomes", () => {
  const seen: unknown[] = [];
  const show = command({
    path: "thing show",
    summary: "show things",
    args: { first: arg("the first"), second: optionalArg("the second"), rest: anyArgs("more") },
    options: {
      deep: flag("deeply", "-d"),
      maybe: toggle("perhaps"),
      someName: text("TEXT", "a name"),
      tag: texts("TAG", "tags"),
      count: whole("N", "how many", { least: 1, most: 9 }),
      kind: choice(["a", "b"], "which"),
    },
    examples: [["selvedge thing show x", "shows x"]],
    json: "the things",
    async run(input) {
      seen.push(input);
    },
  });

  test("arguments and options with their types", async () => {
    const line =
      "thing show x y z --deep --no-maybe --some-name n --tag 1 --tag 2 --count 7 --kind b";
    assert.equal((await run([show], line.split(" "))).code, 0);
    assert.deepEqual(seen.pop(), {
      args: { first: "x", second: "y", rest: ["z"] },
      options: { deep: true, maybe: false, someName: "n", tag: ["1", "2"], count: 7, kind: "b" },
    });
  });

  test("what stands for an absent option", async () => {
    await run([show], ["thing", "show", "x"]);
    const absent = { someName: undefined, count: undefined, kind: undefined, maybe: undefined };
    assert.deepEqual(seen.pop(), {
      args: { first: "x", second: undefined, rest: [] },
      options: { deep: false, tag: [], ...absent },
    });
  });

  test("the same with other words for the last one, and with a --yes that nobody asks for", async () => {
    const list = doing(async () => {}).map((one) => ({ ...one, path: "thing list" }));
    for (const word of ["show", "info", "view", "head"]) {
      assert.equal((await run([show, ...list], ["thing", word, "x", "-y"])).code, 0, word);
    }
    assert.equal((await run([show, ...list], ["thing", "ls"])).code, 0);
  });

  test("an error when it is wrong", async () => {
    const wrong = async (line: string) => {
      const { code, stderr } = await run([show], line.split(" "));
      assert.equal(code, null);
      return stderr;
    };
    assert.match(await wrong("thing show"), /missing required argument 'FIRST'/);
    assert.match(await wrong("thing show x --count 10"), /whole number from 1 to 9/);
    assert.match(await wrong("thing show x --count 1.5"), /whole number from 1 to 9/);
    assert.match(await wrong("thing show x --kind c"), /Allowed choices are a, b/);
    assert.match(await wrong("thing show x --dep"), /Did you mean --deep\?/);
    assert.match(await wrong("thing shw"), /Did you mean show\?/);
  });

  test("help with examples and exit codes", async () => {
    const { stdout } = await run([show], ["thing", "show", "--help"]);
    assert.match(
      stdout,
      /Usage: selvedge thing show\|info \[options\] <FIRST> \[SECOND\] \[REST\.\.\.\]/,
    );
    assert.match(stdout, /selvedge thing show x\n +shows x/);
    assert.match(stdout, /--json +print JSON: the things/);
    assert.match(stdout, /SELVEDGE_API/);
    assert.match(
      stdout,
      /Exit codes: 0 done, 1 failed or declined, 2 wrong usage, 3 not found, 4 not allowed/,
    );
  });
});

suite("a result goes to standard output", () => {
  const result = doing(async (_, { out }) => {
    out.note("a note");
    out.result({ a: 1 }, "one thing");
  });

  test("for people", async () => {
    const ran = await run(result, ["do"]);
    assert.deepEqual(ran, { code: 0, stdout: "one thing\n", stderr: "a note\n" });
  });

  test("as one line of JSON", async () => {
    const ran = await run(result, ["do", "--json"]);
    assert.deepEqual(ran, { code: 0, stdout: '{"a":1}\n', stderr: '{"note":"a note"}\n' });
  });

  test("a list as a table, an array, or a word that there is nothing", async () => {
    const list = (items: string[]) =>
      doing(async (_, { out }) => {
        out.list(items, [{ title: "NAME", show: (name) => name }], "There is none.");
      });
    assert.equal((await run(list(["a", "b"]), ["do"])).stdout, "NAME\na\nb\n");
    assert.equal((await run(list(["a", "b"]), ["do", "--json"])).stdout, '["a","b"]\n');
    assert.equal((await run(list([]), ["do", "--json"])).stdout, "[]\n");
    const { stdout, stderr } = await run(list([]), ["do"]);
    assert.deepEqual([stdout, stderr], ["", "There is none.\n"]);
  });

  test("many, as a line each", async () => {
    const lines = doing(async (_, { out }) => {
      for (const n of [1, 2]) out.line({ n }, `number ${n}`);
    });
    assert.equal((await run(lines, ["do"])).stdout, "number 1\nnumber 2\n");
    assert.equal((await run(lines, ["do", "--json"])).stdout, '{"n":1}\n{"n":2}\n');
  });
});

suite("an error becomes an exit code and a sentence", () => {
  const failing = (error: unknown) =>
    doing(async () => {
      throw error;
    });

  test("by its kind", async () => {
    const kinds = { failed: 1, usage: 2, "not-found": 3, "not-allowed": 4 } as const;
    for (const [kind, code] of Object.entries(kinds)) {
      const error = new CliFault(kind as keyof typeof kinds, "No. Do this instead.");
      const ran = await run(failing(error), ["do"]);
      assert.deepEqual(ran, { code, stdout: "", stderr: "selvedge: No. Do this instead.\n" });
    }
  });

  test("as JSON on standard error where JSON was asked for", async () => {
    const { stdout, stderr } = await run(failing(new CliFault("not-found", "No.")), [
      "do",
      "--json",
    ]);
    assert.deepEqual(
      [stdout, JSON.parse(stderr)],
      ["", { error: { kind: "not-found", message: "No." } }],
    );
  });

  test("of the store by its code", async () => {
    const code = async (message: string) => (await run(failing(new Error(message)), ["do"])).code;
    assert.equal(await code("get: The specified bucket does not exist. (10006)"), 3);
    assert.equal(await code("put: You may not. (10003)"), 4);
    assert.equal(await code("put: Too large. (100100)"), 1);
    assert.equal(await code("put: The specified object name is not valid. (10020)"), 2);
  });

  test("of a server that is no store, as of one that is no API", async () => {
    const error = new Error("This is no store: it answered 404 <html>a page of some length");
    const { code, stderr } = await run(failing(error), ["do"]);
    assert.equal(code, 1);
    const said = "http://server.test answered 404: this is no Selvedge API. Check SELVEDGE_API.";
    assert.equal(stderr, `selvedge: ${said}\n`);
  });

  test("of a store that is not there, as of an API that is not", async () => {
    const cause = Object.assign(new Error("x"), { code: "ECONNREFUSED" });
    const error = new Error("The store cannot be reached at …", { cause });
    const { code, stderr } = await run(failing(error), ["do"]);
    assert.equal(code, 1);
    assert.equal(
      stderr,
      'selvedge: Cannot reach http://server.test: connection refused. Is it running? Start it with "selvedge serve", or set SELVEDGE_API.\n',
    );
  });
});

suite("a command that is stopped", () => {
  test("by Ctrl-C ends with 130, without a word", async () => {
    const stop = new AbortController();
    const waits = doing(
      (_, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(new Error("aborted")));
          stop.abort();
        }),
    );
    assert.deepEqual(await run(waits, ["do"], { stop }), { code: 130, stdout: "", stderr: "" });
  });

  test("but has done its work is done", async () => {
    const stop = new AbortController();
    const { code } = await run(
      doing(async () => stop.abort()),
      ["do"],
      { stop },
    );
    assert.equal(code, 0);
  });

  test("because nobody reads any more ends quietly", async () => {
    const stdout = new Screen();
    const writes = doing(async (_, { signal, out }) => {
      out.line({}, "a line");
      stdout.destroy(Object.assign(new Error("EPIPE"), { code: "EPIPE" }));
      await new Promise(setImmediate);
      signal.throwIfAborted();
    });
    const { code, stderr } = await run(writes, ["do"], { stdout });
    assert.deepEqual([code, stderr], [141, ""]);
  });

  test("because the disk is full says so, also when that comes out late", async () => {
    for (const isLate of [true, false]) {
      const stdout = new Screen();
      const writes = doing(async (_, { signal }) => {
        stdout.destroy(Object.assign(new Error("x"), { code: "ENOSPC" }));
        if (isLate) return;
        await new Promise(setImmediate);
        signal.throwIfAborted();
      });
      const { code, stderr } = await run(writes, ["do"], { stdout });
      const said = "selvedge: Cannot write standard output: the disk is full.\n";
      assert.deepEqual([code, stderr], [1, said]);
    }
  });
});

suite("a question", () => {
  const asks = doing(async (_, context) => {
    await context.confirm("Really?", "Nothing was done.");
    context.out.result(null, "yes");
  });
  const terminal = (answer: string) => {
    const stdin = Object.assign(new Screen(), { isTTY: true, setRawMode: () => stdin });
    const stderr = Object.assign(new Screen(), { isTTY: true });
    // Only once it is asked: what came before would not count.
    stderr.once("data", () => setImmediate(() => stdin.write(answer)));
    return { stdin, stderr };
  };

  test("without a terminal is wrong usage that names --yes", async () => {
    const { code, stderr } = await run(asks, ["do"]);
    assert.equal(code, 2);
    assert.equal(stderr, "selvedge: Really? There is no terminal to ask at: say so with --yes.\n");
  });

  test("takes yes; no ends with 1, for what was asked for is not done", async () => {
    assert.equal((await run(asks, ["do"], terminal("y"))).stdout, "yes\n");
    const { code, stdout, stderr } = await run(asks, ["do"], terminal("n"));
    assert.deepEqual([code, stdout], [1, ""]);
    assert.match(stderr, /selvedge: Nothing was done\.\n$/);
  });

  test("can be left with Ctrl-C", async () => {
    assert.equal((await run(asks, ["do"], terminal("\u0003"))).code, 130);
  });
});

test("every command tells what it is in the same manner", () => {
  for (const { path, summary, examples, json } of commands) {
    assert.match(summary, /^[a-z].*[^.]$/, path);
    assert.ok(examples.length > 0, `${path} has no example`);
    assert.ok(
      examples.some(([line]) => line.includes(`selvedge ${path}`)),
      `${path} is in none of its examples`,
    );
    assert.ok(json !== undefined, `${path} has no --json`);
    const [group = "", ...rest] = path.split(" ");
    if (rest.length > 0) assert.ok(group in groups, `${group} is not explained`);
  }
  const paths = commands.map(({ path }) => path);
  assert.equal(new Set(paths).size, paths.length);
});
