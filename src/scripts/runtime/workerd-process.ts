/** One workerd process: started within limits, watched, drained or ended. */
import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";
import { setPriority } from "node:os";
import { dirname, sep } from "node:path";
import type { Readable } from "node:stream";
import type { Upstream } from "#http";
import type { Log } from "#kit/log.ts";
import { request } from "#kit/node-http.ts";
import { ScriptFault } from "../fault.ts";
import { workerdPath } from "./binary.ts";
import { ScriptOutput } from "./output.ts";
import { processUpstream } from "./process-upstream.ts";
import type { RuntimeLimits } from "./types.ts";
import { usageOf } from "./usage.ts";
import { OVERHEAD_MIB } from "./watchdog.ts";

export interface LaunchOptions {
  /** Of the configuration. */
  readonly configPath: string;
  readonly httpSocket: string;
  readonly controlSocket: string;
  readonly limits: RuntimeLimits;
  readonly log: Log;
  readonly now: () => number;
}

/**
 * Beyond what the watchdog allows, and some room so that it sees first who takes too much, the system itself
 * refuses. It counts private memory that V8 only reserves at the start, too (measured: 537).
 */
const RESERVED_MIB = 544;
const SLACK_MIB = 64;
/** A connection for each request on its way in, and as many on their way out. */
const OPEN_FILES = 1024;
/** Below the platform's own threads, so that DNS and the API answer first. */
const PRIORITY = 10;
/** When memory runs out, the system should end a script and not the platform. */
const OOM_SCORE = 700;
const SOCKETS = 2;
const LOOK_EVERY_MS = 50;
const UNEXPLAINED = "The runtime could not start the script; the server's log tells more";
/** A start takes CPU time alone; on a machine that has none to give it may take so much longer. */
const PATIENCE_FACTOR = 10;

/**
 * Limits are set by the shell: Node cannot for a child. With setpriv the process ends with the platform, however
 * that ends; without it, the next start on the folder ends it.
 */
const LAUNCH = `echo ${OOM_SCORE} 2>/dev/null >/proc/self/oom_score_adj
ulimit -d "$1" 2>/dev/null; ulimit -n ${OPEN_FILES} 2>/dev/null; shift
setpriv=$(command -v setpriv) && exec "$setpriv" --pdeathsig KILL "$@"; exec "$@"`;

export class WorkerdProcess {
  readonly httpSocket: string;
  /** Connections that carry requests to it. */
  readonly upstream: Upstream;
  readonly startedAt: number;
  /** Resolves when the system has told its end. */
  readonly ended: Promise<void>;
  /** Requests that are on their way. */
  leases = 0;
  lastUsedAt: number;
  readonly #child: ChildProcess;
  readonly #options: LaunchOptions;
  readonly #output: ScriptOutput;
  #fault: ScriptFault | null = null;
  #isDown = false;
  #isDoubtful = false;
  #isEnded = false;
  #isRetired = false;

  private constructor(options: LaunchOptions) {
    const { configPath, limits, log, now } = options;
    this.#options = options;
    this.httpSocket = options.httpSocket;
    this.startedAt = this.lastUsedAt = now();
    this.#output = new ScriptOutput(log, now);
    this.upstream = processUpstream(this.httpSocket, () => (this.#isDoubtful = true));
    const dataKib = (RESERVED_MIB + limits.memoryMib + OVERHEAD_MIB + SLACK_MIB) * 1024;
    const command = [workerdPath(), "serve", "--experimental", "--control-fd=3", configPath];
    this.#child = spawn("/bin/sh", ["-c", LAUNCH, "sh", String(dataKib), ...command], {
      stdio: ["ignore", "pipe", "pipe", "pipe"],
      env: {}, // Nothing of the platform's.
      cwd: "/",
      detached: true, // What a terminal sends to the platform, the platform handles.
    });
    this.#output.read(this.#child.stdout!);
    this.#output.read(this.#child.stderr!);
    this.ended = new Promise((resolve) => {
      this.#child.once("error", (cause) => this.#end(resolve, cause.message));
      // What it said last may still be on its way.
      this.#child.once("exit", () => (this.#isDown = true));
      this.#child.once("close", (code, signal) => this.#end(resolve, signal ?? `code ${code}`));
    });
    lowerPriority(this.#child.pid);
  }

  /** Throws `does-not-start` with what workerd said. */
  static async start(options: LaunchOptions): Promise<WorkerdProcess> {
    const started = new WorkerdProcess(options);
    try {
      await started.#ready();
    } catch (error) {
      started.kill();
      await started.ended;
      throw error;
    }
    return started;
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** It is taking requests. */
  get isOpen(): boolean {
    return !this.#isDown && !this.#isEnded && !this.#isRetired && this.#fault === null;
  }

  /** Why it ended, unless the platform wanted it to. */
  get fault(): ScriptFault | null {
    return this.#fault;
  }

  /** A connection was lost: the process may be gone, and the system not have said so yet. */
  get isDoubtful(): boolean {
    return this.isOpen && this.#isDoubtful;
  }

  async seeIfThere(): Promise<void> {
    this.#isDoubtful = false;
    if (!(await canConnect(this.httpSocket))) this.#isDown = true;
  }

  lease(): Disposable {
    this.leases++;
    this.lastUsedAt = this.#options.now();
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.leases--;
        this.lastUsedAt = this.#options.now();
        if (this.leases === 0 && this.#isRetired) this.#stop();
      },
    };
  }

  /** Takes no more requests, finishes those that it has, and ends; within the time that they are given. */
  retire(): void {
    if (this.#isRetired || this.#isEnded) return;
    this.#isRetired = true;
    const late = setTimeout(() => this.kill(), this.#options.limits.drainSeconds * 1000);
    void this.ended.then(() => clearTimeout(late));
    if (this.leases === 0) this.#stop();
  }

  /** Ends it at once; requests that it has hear the fault. */
  kill(fault: ScriptFault | null = null): void {
    this.#fault ??= fault;
    this.#isRetired = true;
    if (!this.#isEnded) this.#child.kill("SIGKILL");
  }

  /** Sends a request to the platform's worker in the process. */
  control(body: string | null, signal: AbortSignal | null = null): Promise<string> {
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          socketPath: this.#options.controlSocket,
          method: body === null ? "GET" : "POST",
          headers: { host: "control" },
          agent: false,
          ...(signal !== null && { signal }),
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8");
          response.on("data", (chunk: string) => (text += chunk));
          response.on("error", reject);
          response.on("end", () => {
            if (response.statusCode === 200) resolve(text);
            else reject(new Error(`The control worker answered ${response.statusCode}`));
          });
        },
      );
      sent.on("error", reject);
      sent.end(body ?? undefined);
    });
  }

  /** workerd finishes what it has begun, such as work that a script put off until after its answer. */
  #stop(): void {
    this.upstream[Symbol.dispose](); // It waits for connections, too.
    this.#child.kill("SIGTERM");
  }

  #ready(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { limits } = this.#options;
    const since = performance.now();
    const watch = setInterval(() => {
      const seconds = (performance.now() - since) / 1000;
      const cpuSeconds = usageOf(this.#child.pid!)?.cpuSeconds ?? seconds;
      if (cpuSeconds < limits.startSeconds && seconds < limits.startSeconds * PATIENCE_FACTOR)
        return;
      const message = `The script did not start within ${limits.startSeconds} s of CPU time`;
      reject(new ScriptFault("does-not-start", message));
    }, LOOK_EVERY_MS);
    let said = "";
    const control = this.#child.stdio[3] as Readable;
    control.setEncoding("utf8").on("data", (chunk: string) => {
      said += chunk;
      if (said.split('"listen"').length > SOCKETS) resolve();
    });
    control.on("error", () => {}); // Its end is told by the process's.
    void this.ended.then(() => {
      // Where things lie is nobody's business; workerd leaves the first slash out.
      const folder = dirname(this.#options.configPath) + sep;
      const reason = this.#output.reason.replaceAll(folder, "").replaceAll(folder.slice(1), "");
      const isCrash = this.#fault === null || this.#fault.kind === "crashed";
      const unexplained = isCrash ? UNEXPLAINED : this.#fault!.message;
      reject(new ScriptFault("does-not-start", reason || unexplained));
    });
    return promise.finally(() => clearInterval(watch));
  }

  #end(resolve: () => void, how: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    if (!this.#isRetired) this.#fault ??= faultOf(this.#output.complaints, how);
    this.upstream[Symbol.dispose]();
    resolve();
  }
}

function canConnect(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => resolve(true));
    // A process that has more to do than it takes is there, too.
    socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code === "EAGAIN"));
    socket.once("connect", () => socket.destroy());
  });
}

function faultOf(complaints: string, how: string): ScriptFault {
  if (/out of memory|cannot allocate memory/i.test(complaints)) {
    return new ScriptFault("over-memory", "The script took more memory than it may");
  }
  return new ScriptFault("crashed", `The script's process ended: ${how}`);
}

function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY);
  } catch {
    // It has ended already, which is told elsewhere.
  }
}
