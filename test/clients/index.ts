/** The client libraries that this package holds, for the tests that import them from outside it. */
export { default as Cloudflare } from "cloudflare";
