/** Starts an S3 server that is not ours, s3rver, in a process of its own. It checks signatures. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Its folder has the package. */
const CLIENTS = fileURLToPath(new URL("../clients", import.meta.url));

/** s3rver knows this one account. */
export const S3_KEY = { id: "S3RVER", secret: "S3RVER" };

const PROGRAM = `
  const S3rver = require("@20minutes/s3rver");
  const [directory, port, bucket] = process.argv.slice(1);
  new S3rver({ directory, port, address: "127.0.0.1", silent: true, configureBuckets: [{ name: bucket }] })
    .run()
    .then(({ port }) => console.log(port));
  process.stdin.on("end", () => process.exit()).resume(); // Ends with whoever started it.
`;

export class S3Server implements AsyncDisposable {
  readonly bucket = "blobs";
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #port = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(): Promise<S3Server> {
    await import("../clients/install.ts");
    const server = new S3Server(await mkdtemp(join(tmpdir(), "selvedge-s3-")));
    await server.resume();
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Starts it again after `pause`, on the same port. */
  async resume(): Promise<void> {
    // Its list tokens are encrypted with a cipher that OpenSSL has retired.
    const args = ["--openssl-legacy-provider", "-e", PROGRAM, this.#folder, String(this.#port)];
    this.#child = spawn(process.execPath, [...args, this.bucket], {
      cwd: CLIENTS,
      stdio: ["pipe", "pipe", "inherit"],
      env: { PATH: process.env["PATH"] },
    });
    const lines = createInterface(this.#child.stdout!);
    const ended = once(this.#child, "exit").then(() => ["it ended"]);
    const [line] = (await Promise.race([once(lines, "line"), ended])) as [string];
    if (!/^\d+$/.test(line)) throw new Error(`The S3 server did not start: ${line}.`);
    this.#port = Number(line);
  }

  async pause(): Promise<void> {
    if (this.#child === null) return;
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    this.#child = null;
    await ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pause();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
