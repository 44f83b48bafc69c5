/** Stands for `node:test` where the contracts run inside workerd: keeps the tests, to be run one by one. */

type Work = () => unknown;

export interface KeptTest {
  readonly name: string;
  readonly run: () => Promise<void>;
}

export const tests: KeptTest[] = [];
const path: string[] = [];
const befores: Work[] = [];
let prepared: Promise<unknown> | null = null;

export function suite(name: string, define: () => void): void {
  path.push(name);
  define();
  path.pop();
}

export function test(name: string, work: Work): void {
  const run = async () => {
    prepared ??= Promise.all(befores.map(async (before) => before()));
    await prepared;
    await work();
  };
  tests.push({ name: [...path, name].join(" › "), run });
}

export function before(work: Work): void {
  befores.push(work);
}

/** What the tests opened ends with the process. */
export function after(): void {}
