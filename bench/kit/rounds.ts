/** Rounds in which two contenders take turns, so that a drift of the machine meets both alike. */
import type { BenchContext, Figures, Pair, Round, Side } from "./bench.ts";
import type { Contender, Running } from "./contender.ts";

/** Ours, peer, peer, ours, …: whoever went second goes first in the next round. */
const ORDERS: readonly (readonly [Side, Side])[] = [
  ["ours", "peer"],
  ["peer", "ours"],
];

/** Starts each contender anew in every round, measures it, stops it. */
export async function alternate(
  { rounds, note }: BenchContext,
  name: string,
  contenders: Pair<Contender>,
  measure: (running: Running) => Promise<Figures>,
): Promise<Round[]> {
  const done: Round[] = [];
  for (let index = 0; index < rounds; index++) {
    note(`${name}: round ${index + 1} of ${rounds}`);
    const [first, second] = ORDERS[index % ORDERS.length]!;
    const earlier = await measureOnce(contenders[first], measure);
    const later = await measureOnce(contenders[second], measure);
    const [ours, peer] = first === "ours" ? [earlier, later] : [later, earlier];
    done.push({ first, ours, peer });
  }
  return done;
}

async function measureOnce(
  contender: Contender,
  measure: (running: Running) => Promise<Figures>,
): Promise<Figures> {
  await using running = await contender.start();
  return await measure(running);
}

/** Starts and stops both once, unmeasured: what a first start leaves behind is then in place. */
export async function startOnce({ ours, peer }: Pair<Contender>): Promise<void> {
  for (const contender of [ours, peer]) {
    const running = await contender.start();
    await running[Symbol.asyncDispose]();
  }
}
