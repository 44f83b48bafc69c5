/** The client library of the management API, for the tests that import it from outside this package. */
export { default as Cloudflare } from "cloudflare";
