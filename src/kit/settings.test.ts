import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import * as read from "./readers.ts";
import { readSettings, type Setting, SettingsFault, type SettingsSources } from "./settings.ts";

function setting<T>(
  fallback: string | number | readonly string[],
  reader: (raw: unknown) => T,
): Setting<T> {
  return { help: "", value: "X", flag: true, fallback, read: reader };
}

const settings = {
  edge: setting("127.0.0.1:80", read.listen),
  "edge.addresses": setting([], read.listOf(read.ipAddress)),
  dns_threads: setting(2, read.integer(1, 64)),
  database: setting("sqlite:", read.url("sqlite", "postgres")),
};

function given(sources: Partial<SettingsSources> & { toml?: string }) {
  return readSettings(settings, {
    flags: {},
    environment: {},
    environmentPrefix: "T_",
    file: sources.toml === undefined ? null : { path: "server.toml", text: sources.toml },
    ...sources,
  });
}

function refuses(sources: Parameters<typeof given>[0], message: RegExp) {
  assert.throws(
    () => given(sources),
    (error: Error) => {
      assert.ok(error instanceof SettingsFault);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /\n/, "one sentence");
      return true;
    },
  );
}

test("flags win over the environment, the environment over the file, the file over defaults", () => {
  const toml = "dns_threads = 3";
  assert.equal(given({}).dns_threads, 2);
  assert.equal(given({ toml }).dns_threads, 3);
  assert.equal(given({ toml, environment: { T_DNS_THREADS: "4" } }).dns_threads, 4);
  assert.equal(given({ toml, environment: { T_DNS_THREADS: "" } }).dns_threads, 3);
  const flags = { dns_threads: "5" };
  assert.equal(given({ toml, environment: { T_DNS_THREADS: "4" }, flags }).dns_threads, 5);
});

test("a key may be written with dashes, and a listener as a table with listen", () => {
  assert.equal(given({ toml: "dns-threads = 7" }).dns_threads, 7);
  assert.deepEqual(given({ toml: 'edge = "off"' }).edge, null);
  const { edge, "edge.addresses": addresses } = given({
    toml: '[edge]\nlisten = "[::1]:8080"\naddresses = ["192.0.2.1", "2001:db8::1"]',
  });
  assert.deepEqual(edge, { host: "::1", port: 8080 });
  assert.deepEqual(addresses, ["192.0.2.1", "2001:db8::1"]);
  const environment = { T_EDGE_ADDRESSES: "192.0.2.1, 192.0.2.2" };
  assert.deepEqual(given({ environment })["edge.addresses"], ["192.0.2.1", "192.0.2.2"]);
});

test("a value that cannot be is refused with what, where and what would be right", () => {
  refuses(
    { flags: { edge: "127.0.0.1:99999" } },
    /^Cannot use --edge = "127\.0\.0\.1:99999": the port must be/,
  );
  refuses(
    { environment: { T_DNS_THREADS: "many" } },
    /^Cannot use T_DNS_THREADS = "many": expected a whole number from 1 to 64\./,
  );
  refuses(
    { toml: "dns_threads = 1.5" },
    /^Cannot use dns_threads in server\.toml = 1\.5: expected a whole number/,
  );
  refuses(
    { toml: "edge.addresses = [1]" },
    /edge\.addresses in server\.toml = \[1\]: "1" is not an IP address/,
  );
  refuses({ toml: "dns_threads = true" }, /dns_threads in server\.toml = true/);
});

test("a key that is unknown is refused with its line and the nearest known one", () => {
  refuses(
    { toml: '# c\n\ndatabas = "x"' },
    /^Unknown key "databas" in server\.toml line 3\. Did you mean database\?$/,
  );
  refuses(
    { toml: "[edge]\naddreses = []" },
    /^Unknown key "edge\.addreses" in server\.toml line 2\. Did you mean edge\.addresses\?$/,
  );
  refuses({ toml: "[wholly.strange]\nx = 1" }, /^Unknown key "wholly" in server\.toml/);
  refuses({ toml: "[database]\nurl = 1" }, /^Unknown key "database\.url" in server\.toml/);
});

test("a file that is not TOML is refused with line and column", () => {
  refuses({ toml: 'a = 1\nb = "x' }, /^Cannot read server\.toml line 2 column \d+: /);
});

test("a refused URL is told without its password", () => {
  refuses(
    { flags: { database: "mysql://me:hush@db/x" } },
    /mysql:\/\/me:\*\*\*@db\/x": expected a URL/,
  );
});

test("random text as a file is read or refused in one sentence", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 80 }), (toml) => {
      try {
        given({ toml });
      } catch (error) {
        assert.ok(error instanceof SettingsFault, String(error));
      }
    }),
  );
});
