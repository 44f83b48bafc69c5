/** Runs another program to its end, in an environment that holds only what it is given. */
import { spawn } from "node:child_process";

/** Programs here need a second or two; one that hangs is ended, and its caller told. */
const PATIENCE_MS = 120_000;

export interface ProgramResult {
  /** Null when it was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, env = {}, input = "" }: ProgramOptions = {},
): Promise<ProgramResult> {
  const child = spawn(command, args, {
    ...(cwd !== undefined && { cwd }),
    // Of the developer's environment nothing: it may hold credentials, or change what is printed.
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8", ...env },
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.on("error", () => {}); // It may end before it has read everything.
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, stdout, stderr };
}

/** The same, and an error unless it ends with 0; returns what it printed. */
export async function mustRun(
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<string> {
  const { code, stdout, stderr } = await runProgram(command, args, options);
  if (code === 0) return stdout;
  throw new Error(`${command} ended with ${code}:\n${stdout}${stderr}`);
}
