/** `onlyIf` of get and put: its forms, and when it holds. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { rejects, wrong } from "./expect.contract.ts";
import type { Buckets } from "./store-bucket.contract.ts";
import type { StoreConditional } from "./types.ts";

const ETAG = "5d41402abc4b2a76b9719d911017c592"; // Of "hello".
const PAST = new Date(1_000);
const FUTURE = new Date(4_000_000_000_000);

type OnlyIf = StoreConditional | Headers;
type Case = [onlyIf: OnlyIf | null | undefined, holds: boolean, holdsForNone: boolean];

/** Whether it holds for the object, and whether a put of a key that is not there goes through. */
const cases: Case[] = [
  [undefined, true, true],
  [null, true, true],
  [{}, true, true],
  [wrong({ "If-Match": "other" }), true, true],

  [{ etagMatches: ETAG }, true, false],
  [{ etagMatches: "other" }, false, false],
  [{ etagMatches: "*" }, true, false],
  [{ etagMatches: ETAG.toUpperCase() }, false, false],
  [{ etagMatches: `${ETAG}, other` }, false, false],
  [{ etagMatches: `W/"${ETAG}"` }, false, false],
  [{ etagMatches: "" }, false, false],
  [{ etagDoesNotMatch: ETAG }, false, true],
  [{ etagDoesNotMatch: "other" }, true, true],
  [{ etagDoesNotMatch: "*" }, false, true],

  [{ uploadedBefore: FUTURE }, true, true],
  [{ uploadedBefore: PAST }, false, true],
  [{ uploadedAfter: PAST }, true, false],
  [{ uploadedAfter: FUTURE }, false, false],
  [wrong({ uploadedBefore: 4e12 }), true, true],
  [{ etagMatches: ETAG, uploadedBefore: PAST }, true, false],
  [{ etagMatches: "other", uploadedBefore: FUTURE }, false, false],
  [{ etagDoesNotMatch: "other", uploadedAfter: FUTURE }, true, false],
  [{ etagDoesNotMatch: ETAG, uploadedAfter: PAST }, false, false],

  ...headers([
    [{}, true, true],
    [{ "If-Range": '"other"' }, true, true],
    [{ "If-Match": `"${ETAG}"` }, true, false],
    [{ "If-Match": `"other" ,, "${ETAG}",` }, true, false],
    [{ "If-Match": `W/"${ETAG}"` }, false, false],
    [{ "If-Match": "*" }, true, false],
    [{ "If-Match": '"other", *' }, true, false],
    [{ "If-Match": '"*"' }, false, false],
    [{ "If-Match": '"other" zz' }, false, false],
    [{ "If-None-Match": `"${ETAG}"` }, false, true],
    [{ "If-None-Match": `W/"${ETAG}"` }, false, true],
    [{ "If-None-Match": '"other"' }, true, true],
    [{ "If-None-Match": "*" }, false, true],
    [{ "If-Modified-Since": PAST.toUTCString() }, true, false],
    [{ "If-Modified-Since": FUTURE.toUTCString() }, false, false],
    [{ "If-Modified-Since": "2001-01-01" }, true, false],
    [{ "If-Unmodified-Since": FUTURE.toUTCString() }, true, true],
    [{ "If-Unmodified-Since": PAST.toUTCString() }, false, true],
    // A date that cannot be read is the epoch.
    [{ "If-Modified-Since": "junk" }, true, false],
    [{ "If-Unmodified-Since": "junk" }, false, true],
    [{ "If-None-Match": '"other"', "If-Modified-Since": FUTURE.toUTCString() }, true, false],
    [{ "If-Match": `"${ETAG}"`, "If-Unmodified-Since": PAST.toUTCString() }, true, false],
  ]),
];

function headers(
  rows: readonly (readonly [init: Record<string, string>, holds: boolean, forNone: boolean])[],
): Case[] {
  return rows.map(([init, holds, forNone]) => [new Headers(init), holds, forNone]);
}

const NOT_AN_ETAG =
  "Incorrect type for the 'etagMatches' field on 'Conditional': the provided value is not of type 'string'.";
const COMMA = "Comma was expected to separate etags. Encountered a ";

const refused: [onlyIf: unknown, type: typeof Error, message: string][] = [
  [
    "x",
    TypeError,
    "Incorrect type for the 'onlyIf' field on 'GetOptions': the provided value is not of type 'Conditional or Headers'.",
  ],
  [{ etagMatches: 5 }, TypeError, NOT_AN_ETAG],
  [{ etagMatches: null }, TypeError, NOT_AN_ETAG],
  [{ etagMatches: ["x"] }, TypeError, NOT_AN_ETAG],
  [
    { etagMatches: `"${ETAG}"` },
    TypeError,
    `Conditional ETag should not be wrapped in quotes ("${ETAG}").`,
  ],
  [{ etagDoesNotMatch: '"' }, TypeError, 'Conditional ETag should not be wrapped in quotes (").'],
  [
    { uploadedBefore: "2020" },
    TypeError,
    "Incorrect type for the 'uploadedBefore' field on 'Conditional': the provided value is not of type 'date'.",
  ],
  [
    { uploadedAfter: new Date("junk") },
    TypeError,
    "The value cannot be converted because it is not a valid Date.",
  ],
  [
    { uploadedAfter: Number.NaN },
    TypeError,
    "The value cannot be converted because it is not a valid Date.",
  ],
  [new Headers({ "If-Match": "junk" }), Error, "Invalid ETag in if-match header"],
  [new Headers({ "If-None-Match": "" }), Error, "Invalid ETag in if-none-match header"],
  [new Headers({ "If-Match": '"x' }), Error, "Unclosed double quote for Etag"],
  [
    new Headers({ "If-Match": "W/x" }),
    Error,
    "Weak etags must start with W/ and their value must be quoted",
  ],
  [
    new Headers({ "If-Match": '"x" "y"' }),
    Error,
    `${COMMA}double quote character '"' instead. This would otherwise indicate the start of a new strong etag.`,
  ],
  [
    new Headers({ "If-Match": '"x" W/"y"' }),
    Error,
    `${COMMA}weak quotation character 'W' instead. This would otherwise indicate the start of a new weak etag.`,
  ],
  [new Headers({ "If-Match": '"x" *' }), Error, `${COMMA}wildcard character '*' instead.`],
];

export function conditions(buckets: Buckets): void {
  suite("get(key, { onlyIf })", () => {
    for (const [onlyIf, holds] of cases) {
      test(`${show(onlyIf)} ${holds ? "gives the body" : "gives the object without a body"}`, async () => {
        const bucket = await buckets.fresh();
        const { version } = await bucket.put("k", "hello");
        // A range that cannot be had does not matter when the condition fails.
        const range = holds ? { offset: 0 } : { offset: 100 };
        const object = (await bucket.get("k", { range, onlyIf: wrong(onlyIf) }))!;
        assert.equal(object.version, version);
        assert.deepEqual(object.range, { offset: 0, length: 5 });
        assert.equal("body" in object, holds);
        assert.equal((object as { body?: unknown }).body === undefined, !holds);
        assert.equal((object as { text?: unknown }).text === undefined, !holds);
        if ("body" in object) assert.equal(await object.text(), "hello");
      });
    }

    for (const [onlyIf, type, message] of refused) {
      test(`${show(onlyIf)} is refused, whatever is stored`, async () => {
        await rejects(buckets.missing.get("k", { onlyIf: wrong(onlyIf) }), type, message);
      });
    }
  });

  suite("put(key, value, { onlyIf })", () => {
    for (const [onlyIf, holds, holdsForNone] of cases) {
      test(`${show(onlyIf)} ${verb(holds)} over an object, and ${verb(holdsForNone)} where there is none`, async () => {
        const bucket = await buckets.fresh();
        const { version } = await bucket.put("k", "hello");
        const options = { onlyIf: wrong(onlyIf) };
        const replaced = await bucket.put("k", "newer", options);
        assert.equal(replaced !== null, holds);
        assert.equal((await bucket.head("k"))!.version, replaced?.version ?? version);
        assert.equal(await (await bucket.get("k"))!.text(), holds ? "newer" : "hello");
        const made = await bucket.put("none", "new", options);
        assert.equal(made !== null, holdsForNone);
        assert.equal((await bucket.head("none")) !== null, holdsForNone);
      });
    }

    test("dates are compared by the millisecond, or by the second when asked", async () => {
      const bucket = await buckets.fresh();
      const { uploaded } = await bucket.put("k", "hello");
      const at = (ms: number) => new Date(uploaded.getTime() + ms);
      const passes = async (onlyIf: StoreConditional) =>
        "body" in (await bucket.get("k", { onlyIf }))!;
      assert.equal(await passes({ uploadedBefore: uploaded }), false);
      assert.equal(await passes({ uploadedBefore: at(1) }), true);
      assert.equal(await passes({ uploadedAfter: uploaded }), false);
      assert.equal(await passes({ uploadedAfter: at(-1) }), true);
      const second = new Date(Math.floor(uploaded.getTime() / 1000) * 1000);
      const coarse = { secondsGranularity: true };
      assert.equal(await passes({ uploadedAfter: second, ...coarse }), false);
      const before = new Date(second.getTime() - 1);
      assert.equal(await passes({ uploadedAfter: before, ...coarse }), true);
    });

    test("of many at once that would create the key one does", async () => {
      const bucket = await buckets.fresh();
      const onlyIf = { etagDoesNotMatch: "*" };
      const tries = Array.from({ length: 20 }, (_, i) => bucket.put("k", String(i), { onlyIf }));
      const won = (await Promise.all(tries)).filter((object) => object !== null);
      assert.equal(won.length, 1);
      assert.equal((await bucket.head("k"))!.version, won[0]!.version);
    });

    test("of many at once that would replace one version one does", async () => {
      const bucket = await buckets.fresh();
      const { etag } = await bucket.put("k", "hello");
      const onlyIf = { etagMatches: etag };
      const tries = Array.from({ length: 20 }, (_, i) => bucket.put("k", `v${i}`, { onlyIf }));
      assert.equal((await Promise.all(tries)).filter((object) => object !== null).length, 1);
    });
  });
}

function verb(holds: boolean): string {
  return holds ? "stores" : "stores nothing";
}

function show(onlyIf: unknown): string {
  return onlyIf instanceof Headers
    ? `Headers ${JSON.stringify(Object.fromEntries(onlyIf))}`
    : (JSON.stringify(onlyIf) ?? "undefined");
}
