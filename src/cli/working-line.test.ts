import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { WorkingLine } from "./working-line.ts";

test("what takes over a second is told, in one line that goes again", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  let written = "";
  const write = (chunk: Buffer, _: string, done: () => void) => {
    written += chunk.toString().replaceAll("\r\u001B[2K", "|");
    done();
  };
  const stream = Object.assign(new Writable({ write }), { columns: 20 });
  const drawn = () => {
    const seen = written;
    written = "";
    return seen;
  };
  {
    using line = new WorkingLine(stream, "Uploading my-shop");
    line.clear();
    t.mock.timers.tick(999);
    assert.equal(drawn(), "");
    t.mock.timers.tick(1_001);
    assert.equal(drawn(), "|Uploading my-shop …|Uploading my-shop …");
    stream.columns = 80;
    t.mock.timers.tick(1_000);
    assert.equal(drawn(), "|Uploading my-shop … 3 s");
  }
  assert.equal(drawn(), "|");
  t.mock.timers.tick(5_000);
  assert.equal(drawn(), "");
});
