/** How tests wait for what takes its own time, on a machine that may be slow and busy. */
import assert from "node:assert/strict";

/** Far more than anything takes here, also with ten others at the same work: who waits this long waits in vain. */
export const PATIENCE_MS = 120_000;

const LOOK_EVERY_MS = 2;
const TRIES = 5;

/** Waits until something is so that others bring about without a word. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !(await isSo());) {
    assert.ok(performance.now() < end, `Not so within ${PATIENCE_MS} ms: ${isSo.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/** One try of several must take less: a busy machine holds up some of them, a fault holds up each. */
export async function assertQuick(ms: number, measure: () => Promise<number>): Promise<void> {
  const took: number[] = [];
  while (took.length < TRIES) {
    const elapsed = await measure();
    if (elapsed < ms) return;
    took.push(Math.round(elapsed));
  }
  assert.fail(`No try took less than ${ms} ms: ${took.join(", ")}`);
}

/** The thread's own time, while others keep the machine busy; it is still longer on a slow one. */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
}

export async function msOf(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
