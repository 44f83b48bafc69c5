import assert from "node:assert/strict";
import { test } from "node:test";
import type { RecordChange } from "./draft.ts";
import { packChanges, unpackChanges } from "./history.ts";
import type { ZoneRecord } from "./record.ts";

const record = (i: number): ZoneRecord => ({
  id: i.toString(16).padStart(32, "0"),
  zone: 1,
  name: `h${i}.example.com`,
  type: "TXT",
  content: `"text ${i} with ü"`,
  priority: null,
  ttl: 1,
  proxied: false,
  createdAt: 0,
  modifiedAt: 0,
  extra: i % 3 === 0 ? { comment: `no. ${i}` } : null,
});

const changesOf = (count: number): RecordChange[] =>
  Array.from({ length: count }, (_, i) => ({
    before: i % 2 === 0 ? null : record(i),
    after: i % 5 === 1 ? null : record(i + 1),
  }));

test("changes of any number come back as they were packed", async () => {
  for (const count of [1, 5, 50, 500, 501, 1_000, 2_345]) {
    const changes = changesOf(count);
    assert.deepEqual(unpackChanges(await packChanges(changes)), changes, `${count} changes`);
  }
});

test("many changes are kept in a fraction of the space that their text would take", async () => {
  const changes = changesOf(5_000);
  const { length } = await packChanges(changes);
  assert.ok(length * 8 < JSON.stringify(changes).length, `${length} bytes`);
});
