/** Random text, bytes and JSON for every type: nothing but this part's own faults may come out. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { isDnsFault, RecordFault, WireFault } from "../fault.ts";
import { tokenize } from "../text.ts";
import { WireReader } from "../wire.ts";
import { opaqueType } from "./opaque.ts";
import { recordType, recordTypeByCode, recordTypes } from "./index.ts";

const types = [...recordTypes.values(), opaqueType(731)];

/** Words that have a meaning somewhere, so that random text gets past the first field. */
const word = fc.oneof(
  fc.constantFrom(
    "1",
    "0",
    "3",
    "13",
    "65535",
    "70000",
    "host",
    "a.example.",
    ".",
    "@",
    "00ff",
    "AAAA",
    "IN",
  ),
  fc.constantFrom(
    "192.0.2.1",
    "2001:db8::1",
    "N",
    "E",
    "W",
    "10m",
    "\\#",
    "4",
    "alpn=h2",
    "port=1",
  ),
  fc.constantFrom(
    '"v=spf1 -all"',
    '"v=DKIM1; p=AAAA"',
    '"v=DMARC1; p=none"',
    'alpn="h2,h3"',
    "key7=",
    "mandatory=port",
  ),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const text = fc.array(word, { maxLength: 9 }).map((words) => words.join(" "));

for (const type of types) {
  test(`${type.type} meets random text`, () => {
    fc.assert(
      fc.property(text, (given) => {
        const data = attempt(() => type.parse(given, "example.com."), RecordFault);
        if (data === null) return;
        const wire = type.encode(data);
        assert.deepEqual(type.encode(type.decode(wire)), wire);
        assert.deepEqual(type.encode(type.parse(type.print(data))), wire);
      }),
      { numRuns: 300 },
    );
  });

  test(`${type.type} meets random bytes`, () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        attempt(
          () => type.read(new WireReader(bytes, { at: Math.min(3, bytes.length) }), 20),
          WireFault,
        );
        const data = attempt(() => type.decode(bytes), WireFault);
        if (data === null) return;
        const wire = type.encode(data);
        assert.deepEqual(type.encode(type.decode(wire)), wire);
        assert.equal(tokenize(type.print(data)).length > 0, true);
      }),
      { numRuns: 500 },
    );
  });

  test(`${type.type} meets random JSON`, () => {
    const keys = Object.keys(shownData(type.type));
    const data = fc.dictionary(
      fc.oneof(
        fc.constantFrom("priority", "tag", "__proto__", ...keys),
        fc.string({ maxLength: 5 }),
      ),
      fc.oneof(word, fc.nat(70_000), fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<unknown>),
    );
    const input = fc.record(
      { content: text, data, priority: fc.integer({ min: -1, max: 66_000 }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(input, (given) => {
        const accepted = attempt(() => type.api.accept(given), RecordFault);
        if (accepted === null) return;
        const shown = type.api.show(accepted);
        assert.deepEqual(type.api.show(type.api.accept(shown)), shown);
        assert.deepEqual(type.api.show(type.api.change(accepted, {})), shown);
      }),
      { numRuns: 300 },
    );
  });
}

/** The keys of the type's data, from one example each. */
function shownData(type: string): object {
  const examples: Record<string, string> = {
    SRV: "1 2 3 a.",
    CAA: '0 issue "a"',
    CERT: "1 2 3 AAAA",
    DNSKEY: "256 3 8 AAAA",
    DS: "1 8 9 00",
    HTTPS: "1 .",
    SVCB: "1 .",
    LOC: "0 N 0 E 0",
    NAPTR: '1 2 "u" "a" "" .',
    SMIMEA: "3 0 0 00",
    TLSA: "3 0 0 00",
    SSHFP: "1 9 00",
    URI: '1 2 "a"',
    SPF: '"v=spf1 -all"',
    DKIM: '"v=DKIM1; k=rsa; h=sha1; s=*; t=y; n=a; p="',
    DMARC: '"v=DMARC1; p=none; pct=5; rua=mailto:a@b; fo=1"',
  };
  const example = examples[type];
  if (example === undefined) return {};
  const found = recordType(type)!;
  return found.api.show(found.parse(example)).data!;
}

function attempt<T>(run: () => T, expected: new (...args: never[]) => Error): T | null {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof expected && isDnsFault(error), String(error));
    return null;
  }
}

suite("types by name and number", () => {
  test("are found in any case, and TYPEnnn leads to the described type", () => {
    assert.equal(recordType("mx")?.type, "MX");
    assert.equal(recordType("TYPE15")?.type, "MX");
    assert.equal(recordType("type731")?.type, "TYPE731");
    assert.equal(recordTypeByCode(16)?.type, "TXT");
    assert.equal(recordType("SPF")?.wireType, "TXT");
  });

  test("are refused when no record can have them", () => {
    for (const name of [
      "ANY",
      "TYPE255",
      "TYPE252",
      "TYPE41",
      "TYPE0",
      "TYPE65536",
      "TYPE01",
      "",
      "X",
    ]) {
      assert.equal(recordType(name), null, name);
    }
  });
});
