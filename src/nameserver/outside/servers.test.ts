import assert from "node:assert/strict";
import { getServers } from "node:dns";
import { test } from "node:test";
import { resolverServers } from "./servers.ts";

test("configured resolvers are addresses with or without a port", () => {
  const servers = resolverServers(
    ["192.0.2.1", "192.0.2.2:5300", "2001:db8::1", "[::1]:54"],
    () => 0,
  );
  assert.deepEqual(servers(), [
    { host: "192.0.2.1", port: 53 },
    { host: "192.0.2.2", port: 5300 },
    { host: "2001:db8::1", port: 53 },
    { host: "::1", port: 54 },
  ]);
});

test("without any they are the system's, which are read again after a while", () => {
  let now = 0;
  const servers = resolverServers([], () => now);
  const first = servers();
  assert.deepEqual(
    first.map(({ host }) => host),
    getServers().map((server) => /^\[?([^\]]+?)\]?(?::\d+)?$/.exec(server)![1]),
  );
  now += 29_999;
  assert.equal(servers(), first);
  now += 1;
  assert.notEqual(servers(), first);
});
