/**
 * The commands of the `selvedge` program that are clients of a server. A command is one file that declares it
 * (`command.ts`) and one line in `commands.ts`. What follows from the declaration is done once: arguments and help
 * (`attach.ts`), the server, account and terminal that it is given (`context.ts`), Ctrl-C, words for errors and exit
 * codes (`perform.ts`). A command calls `context.api`, then says the result through `context.out`, which has it for
 * people or as JSON; what it cannot do it throws as a `CliFault` that says what to do.
 */
import type { Command as Commander } from "commander";
import { attach } from "./attach.ts";
import { commands, groups } from "./commands.ts";
import type { ClientRoot } from "./context.ts";
import { EXIT_CODES_HELP } from "./fault.ts";
import { perform } from "./perform.ts";

export type { ClientRoot };

/** The second Ctrl-C within this is an echo: terminals and parents both send it. */
const ECHO_MS = 300;
const INTERRUPTED = 130;

export function addClientCommands(program: Commander, root: ClientRoot): void {
  program.addHelpText("after", `\n${EXIT_CODES_HELP}`);
  attach(program, groups, commands, async (declared, parsed) => {
    const { stdin, stdout, stderr, env } = process;
    const around = { stdin, stdout, stderr, env, cwd: process.cwd() };
    const code = await perform(root, declared, parsed, around, stoppedByUser());
    stdout.write("", () => process.exit(code)); // Not before all is written.
  });
}

/** Aborted by the first Ctrl-C or SIGTERM; the second ends the process at once. */
function stoppedByUser(): AbortController {
  const stop = new AbortController();
  let askedAt = 0;
  const hear = () => {
    const isEcho = performance.now() - askedAt < ECHO_MS;
    if (askedAt > 0 && !isEcho) process.exit(INTERRUPTED);
    askedAt ||= performance.now();
    stop.abort();
  };
  process.on("SIGINT", hear);
  process.on("SIGTERM", hear);
  return stop;
}
