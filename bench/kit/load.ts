/** A load generator in a process of its own, so that it does not take the server's time. */
import { type ChildProcess, fork } from "node:child_process";
import { type Cores, pin } from "./cores.ts";
import type { Leftovers } from "./leftovers.ts";
import type { LoadReply } from "./load-process.ts";

/** A job must end by itself; one that takes this much longer than it should is given up. */
const GRACE_MS = 10_000;

/** A job says how long it is to take. */
interface Timed {
  readonly seconds: number;
}

/** Lives over several jobs, so that the measured one finds the generator's own code compiled. */
export interface Load<Job, Result> extends AsyncDisposable {
  run(job: Job): Promise<Result>;
}

/** `program` is a file that calls `serveJobs`. */
export function startLoad<Job extends Timed, Result>(
  leftovers: Leftovers,
  program: URL,
  cores: Cores | null,
): Load<Job, Result> {
  const child = fork(program, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  leftovers.track(child);
  if (cores !== null) pin(child.pid!, cores.load);
  return {
    run: (job) => reply<Result>(child, job),
    [Symbol.asyncDispose]: () => leftovers.stop(child),
  };
}

async function reply<Result>(child: ChildProcess, job: Timed): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<LoadReply<Result>>();
  const ended = () => reject(new Error("The load generator ended before its job"));
  const late = () => reject(new Error(`No answer came within ${GRACE_MS} ms of the load's end`));
  const timer = setTimeout(late, job.seconds * 1000 + GRACE_MS);
  child.once("exit", ended);
  child.once("message", resolve);
  try {
    child.send(job);
    const answer = await promise;
    if ("error" in answer) throw new Error(`The load failed: ${answer.error}`);
    return answer.result;
  } finally {
    clearTimeout(timer);
    child.off("exit", ended).off("message", resolve);
  }
}
