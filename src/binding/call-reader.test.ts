import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { readCall } from "./call-reader.ts";

const HEAD = "POST /store/v1/my-bucket HTTP/1.1\r\nHost: store\r\nContent-Length: 3\r\n";

function read(text: string) {
  return readCall(Buffer.from(text, "latin1"));
}

suite("calls of scripts' processes", () => {
  test("have a bucket, headers by their names in lower case, and octets", () => {
    const call = read(`${HEAD}store-json: {"a": "b: c"}\r\n\r\nabcPOST`);
    assert.ok(call !== null && call !== "more");
    assert.equal(call.bucketName, "my-bucket");
    assert.deepEqual(
      { ...call.headers },
      { host: "store", "content-length": "3", "store-json": '{"a": "b: c"}' },
    );
    assert.equal(call.octets.toString(), "abc");
    assert.equal(call.end, HEAD.length + 'store-json: {"a": "b: c"}\r\n\r\nabc'.length);
  });

  test("are waited for wherever they are cut", () => {
    const whole = `${HEAD}\r\nabc`;
    for (let length = 0; length < whole.length; length++) {
      assert.equal(read(whole.slice(0, length)), "more", `${length} octets`);
    }
  });

  const others: Record<string, string> = {
    "another method": "GET /store/v1/b HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "another path": "POST /store/v1/ HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "an escape in the path": "POST /store/v1/%62 HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    "another version": "POST /store/v1/b HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
    "no length": "POST /store/v1/b HTTP/1.1\r\n\r\n",
    "a length that is none": "POST /store/v1/b HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
    "a long body": "POST /store/v1/b HTTP/1.1\r\nContent-Length: 65537\r\n\r\n",
    "a length twice": `${HEAD}Content-Length: 3\r\n\r\nabc`,
    chunks: `${HEAD}Transfer-Encoding: chunked\r\n\r\nabc`,
    "a wish for the connection": `${HEAD}Connection: close\r\n\r\nabc`,
    "a line that is no header": `${HEAD}what is this\r\n\r\nabc`,
    "a folded header": `${HEAD}a: b\r\n c\r\n\r\nabc`,
    "a space before the colon": `${HEAD}a : b\r\n\r\nabc`,
    "a control character": `${HEAD}a: b\x01\r\n\r\nabc`,
    "a line without its return": `${HEAD}a: b\n\r\n\r\nabc`,
    "a name that objects have": `${HEAD}constructor: x\r\n\r\nabc`,
    "a head without end": "x".repeat(16 * 1024 + 1),
  };
  for (const [what, text] of Object.entries(others)) {
    test(`${what} is left to Node's parser`, () => assert.equal(read(text), null));
  }
});
