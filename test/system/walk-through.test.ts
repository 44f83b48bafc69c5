/** The walk-through of the README, as it stands there: what a new user does first. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ownAddress } from "../support/own-address.ts";
import { commandsUnder, forServer, inFolder, shell } from "../support/readme.ts";
import { startServer } from "../support/server.ts";

test("the README's walk-through: from an empty server to an object put and read through a script", async () => {
  await using server = await startServer();
  await inFolder(async (folder) => {
    const commands = forServer(commandsUnder("Edge scripts"), server);
    const { code, output } = await shell(commands, folder, server);
    assert.equal(code, 0, output);
    assert.match(output, /Deployed my-script/);
    assert.match(output, /"key":"hello\.txt","size":5/);
    assert.equal(output.split("hello").length - 1 >= 3, true, output);
    assert.ok(output.trimEnd().endsWith("hellohello"), "by the name, then from the bucket");
  });
});

test("the README's proxied name: a local origin is reached over HTTP and HTTPS", async () => {
  const [setUp, zone] = commandsUnder("Edge scripts").split("\n");
  const start = /^(\w+)=(\S+) npm start.*\n/m;
  const commands = commandsUnder("Proxied names");
  const [line, name, value] = start.exec(commands)!;
  await using server = await startServer({ env: { [name!]: value! } });
  await inFolder(async (folder) => {
    await writeFile(join(folder, "index.html"), "from the origin\n");
    // Ports that the lines name may be taken: another address has the origin's, and the edge's lead to this server.
    const address = ownAddress();
    const { port } = new URL(server.ready["edge_tls"]!);
    const resolved = "--resolve app.example.com:8443:127.0.0.1";
    assert.ok(commands.includes(resolved));
    const here = commands
      .replace(line, `until curl -s -o /dev/null http://${address}:8080; do sleep 0.05; done\n`)
      .replaceAll("127.0.0.2", address)
      .replace(resolved, `--connect-to app.example.com:8443:127.0.0.1:${port}`);
    const all = [setUp, zone, "trap 'kill $(jobs -p)' EXIT", here].join("\n");
    const { code, output } = await shell(forServer(all, server), folder, server);
    assert.equal(code, 0, output);
    assert.equal(output.split("from the origin\n").length - 1, 2, output);
  });
});
