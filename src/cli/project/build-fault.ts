/** What does not build, or builds with a doubt, shown with its place in the sources. */
import type { Message } from "esbuild";
import { CliFault } from "../fault.ts";

/** The sources do not build; the message shows where. */
export class BuildFault extends CliFault {
  override readonly name = "BuildFault";
  constructor(message: string) {
    super("failed", message);
  }
}

interface Shown {
  readonly colour: boolean;
}

/** What a failed build has thrown, in its own words. */
export async function rethrow(error: unknown, options: Shown): Promise<never> {
  const { errors } = error as { errors?: Message[] };
  if (errors === undefined) throw error;
  throw await buildFault(errors, options);
}

export async function buildFault(errors: Message[], options: Shown): Promise<BuildFault> {
  const shown = await formatted(errors, "error", options);
  return new BuildFault(`The script does not build.\n\n${shown.join("\n\n")}`);
}

export function asBuildFault(error: unknown): BuildFault {
  if (error instanceof BuildFault) return error;
  throw error;
}

export async function formatted(messages: Message[], kind: "error" | "warning", { colour }: Shown) {
  if (messages.length === 0) return [];
  const { formatMessages } = await import("esbuild");
  const shown = await formatMessages(messages, { kind, color: colour, terminalWidth: 0 });
  return shown.map((text) => text.trimEnd());
}
