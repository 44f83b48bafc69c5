/**
 * workerd knows how long some streams of its own are: bodies of requests and answers, what a `FixedLengthStream` gives.
 * As the body of a request they are sent with that length and past JavaScript, and one that ends early breaks the
 * connection. The length is meant for its inspector, which finds it under a symbol; Node has no such streams.
 */

const symbol = Object.getOwnPropertySymbols(ReadableStream.prototype).find(
  ({ description }) => description === "length",
);
// Taken before a script runs that may change it.
const length = symbol && Object.getOwnPropertyDescriptor(ReadableStream.prototype, symbol);

export function hasLength(stream: ReadableStream): boolean {
  return typeof length?.get?.call(stream) === "bigint";
}
