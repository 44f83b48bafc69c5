/** Addresses that a browser opens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ownUrl, routeUrls } from "./urls.ts";

test("routes are shown with the edge's port, and without the star at their end", () => {
  const patterns = [
    "www.example.com/live/*",
    "app.example.com",
    "http://a.example.com/x",
    "https://a.example.com/*",
    "*.example.com/api/*",
  ];
  assert.deepEqual(routeUrls(patterns, "me.scripts.test:8080"), [
    "http://www.example.com:8080/live/",
    "http://app.example.com:8080",
    "http://a.example.com:8080/x",
    "https://a.example.com/",
    "http://*.example.com:8080/api/*",
  ]);
  assert.deepEqual(routeUrls(["app.example.com"], "me.scripts.test"), ["http://app.example.com"]);
  assert.equal(ownUrl("shop", "me.scripts.test:8080"), "http://shop.me.scripts.test:8080");
});
