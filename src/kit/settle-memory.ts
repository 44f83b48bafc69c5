/** Gives memory back to the system once a start is over: what it needed on the way, V8 would keep for later. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

type Collect = (options: { readonly type: "major"; readonly flavor: "last-resort" }) => void;

/** After the ready line: whoever waits for that is answered first. It takes some 50 ms. */
const SETTLE_MS = 1_000;

/** Of this thread. */
export function settleMemory(): void {
  setTimeout(() => {
    // There is no other way to it: V8 itself waits for many seconds without work, and then does less.
    setFlagsFromString("--expose-gc");
    (runInNewContext("gc") as Collect)({ type: "major", flavor: "last-resort" });
  }, SETTLE_MS).unref();
}
