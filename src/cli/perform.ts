/** Runs one command: its context, Ctrl-C, errors in words, the exit code. */
import type { Parsed } from "./attach.ts";
import { ApiFault, noApi, unreachable } from "./api-fault.ts";
import type { Command } from "./command.ts";
import { type ClientRoot, contextOf, Interrupted, type Surroundings } from "./context.ts";
import { CliFault, exitCodes } from "./fault.ts";
import { fileFault } from "./file-fault.ts";
import type { OutputStream } from "./output.ts";
import { storeFault } from "./store-fault.ts";

/** As a shell has them: 128 and the number of the signal. */
const INTERRUPTED = 130;
const BROKEN_PIPE = 141;

/**
 * What a command has to clean up after Ctrl-C (a draft, a request, the processes of `dev`) is done long before, on a
 * slow machine too. Who does not want to wait for it presses again.
 */
const CLEAN_UP_MS = 10_000;

/** Runs the command to its end; the answer is the exit code. */
export async function perform(
  root: ClientRoot,
  declared: Command,
  { args, options, common }: Parsed,
  around: Surroundings,
  stop: AbortController,
): Promise<number> {
  const broken: NodeJS.ErrnoException[] = [];
  const onError = (error: NodeJS.ErrnoException) => {
    broken.push(error);
    stop.abort(); // Whoever read has what they wanted, or the disk is full: there is no use in going on.
  };
  around.stdout.on("error", onError);
  const context = contextOf(root, common, around, stop.signal);
  try {
    await Promise.race([declared.run({ args, options } as never, context), patience(stop.signal)]);
    await written(around.stdout);
    if (broken.length === 0) return 0;
    throw broken[0];
  } catch (error) {
    const [cause] = broken;
    if (cause?.code === "EPIPE") return BROKEN_PIPE;
    const isStopped = error instanceof Interrupted || stop.signal.aborted;
    if (isStopped && cause === undefined) return INTERRUPTED;
    const fault =
      cause === undefined
        ? faultOf(error, () => context.serverUrl)
        : fileFault("write", "standard output", cause);
    around.stderr.write(common.json ? `${asJson(fault)}\n` : `selvedge: ${fault.message}\n`);
    return exitCodes[fault.kind];
  } finally {
    around.stdout.off("error", onError);
  }
}

/** Waits until all has been written, or cannot be, which its event tells. */
function written(stream: OutputStream): Promise<void> {
  return new Promise((resolve) => void stream.write("", () => setImmediate(resolve)));
}

/** Rejects when a command goes on though it has been asked to stop. */
function patience(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => {
      setTimeout(() => reject(new Interrupted()), CLEAN_UP_MS).unref();
    });
  });
}

/** Whatever was thrown, in words for the user. */
function faultOf(error: unknown, serverUrl: () => string): CliFault {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof CliFault) return one;
  }
  const fault = storeFault(error);
  if (fault !== null) return fault;
  const message = error instanceof Error ? error.message : String(error);
  if (message.startsWith("The store cannot be reached")) {
    return unreachable(serverUrl(), (error as Error).cause);
  }
  const [, status] = /^This is no store: it answered (\d+)/.exec(message) ?? [];
  if (status !== undefined) return noApi(serverUrl(), status);
  return new CliFault("failed", message, { cause: error });
}

function asJson(fault: CliFault): string {
  const { kind, message } = fault;
  const errors = fault instanceof ApiFault ? { errors: fault.errors } : {};
  return JSON.stringify({ error: { kind, message, ...errors } });
}
