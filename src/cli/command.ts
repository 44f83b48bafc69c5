/** How a command is declared: one object, from which parsing, help, output and exit codes follow. */
import type { CommandContext } from "./context.ts";

/** A word on the command line after the command's name. */
export interface Argument<T> {
  readonly help: string;
  /** Whether it must be there, and whether more may follow; only the last may be many. */
  readonly count: "one" | "optional" | "some" | "any";
  /** Only for the types. */
  readonly value?: T;
}

export const arg = (help: string): Argument<string> => ({ help, count: "one" });
export const optionalArg = (help: string): Argument<string | undefined> => ({
  help,
  count: "optional",
});
/** At least one. */
export const someArgs = (help: string): Argument<readonly string[]> => ({ help, count: "some" });
/** None is fine, too. */
export const anyArgs = (help: string): Argument<readonly string[]> => ({ help, count: "any" });

/** `--some-name VALUE`; its key in the declaration is `someName`. */
export interface Option<T> {
  readonly help: string;
  /** The word for the value in help, in capitals; null takes no value. */
  readonly placeholder: string | null;
  /** A second, short form: `-y`. */
  readonly short?: string;
  /** `--no-some-name` says the opposite. */
  readonly negatable?: boolean;
  /** It may stand more than once. */
  readonly repeats?: boolean;
  readonly choices?: readonly string[];
  /** What counts without it, for the help. */
  readonly fallback?: T;
  /** Turns the text into the value, or throws an Error that says why not. */
  readonly read?: (text: string) => unknown;
  /** Only for the types. */
  readonly value?: T;
}

/** There or not. */
export const flag = (help: string, short?: string): Option<boolean> => ({
  help,
  placeholder: null,
  ...(short !== undefined && { short }),
});
/** Yes, no (`--no-…`), or not said. */
export const toggle = (help: string): Option<boolean | undefined> => ({
  help,
  placeholder: null,
  negatable: true,
});
export const text = (
  placeholder: string,
  help: string,
  short?: string,
): Option<string | undefined> => ({ help, placeholder, ...(short !== undefined && { short }) });
export const texts = (placeholder: string, help: string): Option<readonly string[]> => ({
  help,
  placeholder,
  repeats: true,
});
export const choice = <const T extends string>(
  choices: readonly T[],
  help: string,
): Option<T | undefined> => ({ help, placeholder: choices.join("|"), choices });
export const whole = (
  placeholder: string,
  help: string,
  { least, most }: { readonly least: number; readonly most: number },
): Option<number | undefined> => ({
  help,
  placeholder,
  read: (given) => {
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= least && value <= most) return value;
    throw new Error(`It must be a whole number from ${least} to ${most}.`);
  },
});

export type Arguments = Readonly<Record<string, Argument<unknown>>>;
export type Options = Readonly<Record<string, Option<unknown>>>;
type Values<D> = {
  readonly [K in keyof D]: D[K] extends Argument<infer T> | Option<infer T> ? T : never;
};

export interface CommandInput<A, O> {
  readonly args: Values<A>;
  readonly options: Values<O>;
}

interface Declaration<A extends Arguments, O extends Options> {
  /** As it is typed: `bucket list`. */
  readonly path: string;
  /** One line, small first letter, no full stop: it stands in the list of commands. */
  readonly summary: string;
  /** More, for the command's own help. */
  readonly description?: string;
  /** In the order of the command line. */
  readonly args?: A;
  readonly options?: O;
  /** A command line and what it does. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** Works without a server, and so has no options that name one. */
  readonly offline?: boolean;
  /** What `--json` prints, for the help: "one array of buckets". Without it there is no `--json`. */
  readonly json?: string;
  run(input: CommandInput<A, O>, context: CommandContext): Promise<void>;
}

/** A declaration whose own types have been checked and put aside. */
export type Command = Omit<Declaration<Arguments, Options>, "run"> & {
  readonly run: (input: never, context: CommandContext) => Promise<void>;
};

export function command<
  A extends Arguments = Record<string, never>,
  O extends Options = Record<string, never>,
>(declaration: Declaration<A, O>): Command {
  return declaration;
}

/** Asks no question; on every command that would. */
export const yes = flag("do it without asking", "-y");
/** On every command that can show what it would do. */
export const dryRun = flag("show what would change, and change nothing");
