import assert from "node:assert/strict";
import { test } from "node:test";
import { redactUrl } from "./redact.ts";

test("passwords and secrets of a URL are hidden, the rest is shown", () => {
  const cases = {
    "postgres://me:hush@db.example:5432/x?sslmode=require":
      "postgres://me:***@db.example:5432/x?sslmode=require",
    "postgres://me@/x?host=/run&password=hush": "postgres://me@/x?host=/run&password=***",
    "s3://b/p?secret_access_key=hush&region=x": "s3://b/p?secret_access_key=***&region=x",
    "postgres://me:pa/ss@nohost:99999/x": "postgres://me:***@nohost:99999/x",
    "postgres://me:p@ss@db/x?sslpassword=hush": "postgres://me:***@db/x?sslpassword=***",
    "sqlite:here.db": "sqlite:here.db",
  };
  for (const [url, shown] of Object.entries(cases)) assert.equal(redactUrl(url), shown);
});
