/** Where configurations and sockets lie while processes run, and what an earlier run may have left there. */
import { readdirSync, readFileSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, sep } from "node:path";

/** Remembers the folder of sockets, which lies elsewhere. */
const SOCKETS = "sockets";
const SOCKETS_PREFIX = "selvedge-run-";
/** unix(7): 108 octets with the last zero, less on other systems; the rest is for names in the folder. */
const LONGEST_FOLDER = 80;

export class RunFolder implements AsyncDisposable {
  /** For sockets: its path is short, as theirs must be. */
  readonly sockets: string;
  readonly #path: string;
  #last = 0;

  private constructor(path: string, sockets: string) {
    this.#path = path;
    this.sockets = sockets;
  }

  /** Ends what an earlier run has left. The caller sees to it that no other run uses the folder. */
  static async open(path: string): Promise<RunFolder> {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await chmod(path, 0o700);
    endLeftOvers(path);
    await removeSockets(path);
    for (const name of readdirSync(path)) await rm(join(path, name), { recursive: true });
    const sockets = await mkdtemp(join(tmpdir(), SOCKETS_PREFIX)); // For its owner only.
    if (sockets.length > LONGEST_FOLDER) {
      await rm(sockets, { recursive: true });
      throw new Error(`The folder for temporary files has too long a path for sockets: ${sockets}`);
    }
    await writeFile(join(path, SOCKETS), sockets);
    return new RunFolder(path, sockets);
  }

  /** A name that no process had before. */
  nextName(): string {
    return String(++this.#last);
  }

  /** Writes a configuration and what it embeds; only its owner can read it, for it holds secrets. */
  async write(
    name: string,
    text: string,
    files: ReadonlyMap<string, Uint8Array>,
  ): Promise<{ readonly path: string } & AsyncDisposable> {
    const folder = join(this.#path, name);
    await mkdir(folder, { mode: 0o700 });
    const path = join(folder, "config.capnp");
    await writeFile(path, text, { mode: 0o600 });
    for (const [file, content] of files) {
      await writeFile(join(folder, file), content, { mode: 0o600 });
    }
    return { path, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.sockets, { recursive: true, force: true });
    await rm(this.#path, { recursive: true, force: true });
  }
}

/** Processes are known by the configuration that they were started with, whatever ids were used again. */
function endLeftOvers(path: string): void {
  for (const pid of processIds()) {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
      const isOurs = args.some((arg) => arg.startsWith(path + sep) && arg.endsWith(".capnp"));
      if (isOurs) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended, or is another user's.
    }
  }
}

/** None on systems that do not show them as files. */
function processIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

async function removeSockets(path: string): Promise<void> {
  const sockets = await readFile(join(path, SOCKETS), "utf8").catch(() => "");
  if (!basename(sockets).startsWith(SOCKETS_PREFIX)) return;
  await rm(sockets, { recursive: true, force: true });
}
