/** A process with nothing but the disk: what a store on it could reach at most. */
import * as fs from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { configureSqlite } from "../../src/db/sqlite-settings.ts";
import { filesIn } from "./objects-files.ts";
import { fill, type LoopJob, type LoopResult, runLoop } from "./objects-loop.ts";
import { serveSubject } from "./objects-process.ts";

/** From here on octets are files. */
const FILE_OCTETS = 1024 ** 2;

serveSubject(async (data) => {
  const groups = new Groups(join(data, "limit.sqlite"));
  const log = fs.openSync(join(data, "limit.log"), "a");
  const files = filesIn(data);
  return {
    fill: async (job) => {
      if (job.octets >= FILE_OCTETS) await fill(files, job);
    },
    loop: (job) => {
      if (job.octets >= FILE_OCTETS) return runLoop(files, job, { wholeOctets: 0 });
      return job.concurrency === 1 ? appends(log, job) : groups.loop(job);
    },
  };
});

/** Rows that share a commit as those of concurrent puts do, from one thread that does nothing else. */
class Groups {
  readonly #db: DatabaseSync;
  #next = 0;

  constructor(path: string) {
    this.#db = new DatabaseSync(path);
    configureSqlite(this.#db);
    this.#db.exec("CREATE TABLE rows (key BLOB PRIMARY KEY, body BLOB)");
  }

  async loop({ concurrency, octets, seconds }: LoopJob): Promise<LoopResult> {
    const insert = this.#db.prepare("INSERT INTO rows (key, body) VALUES (?, ?)");
    const value = new Uint8Array(octets).fill(1);
    return repeat(seconds, concurrency, () => {
      this.#db.exec("BEGIN IMMEDIATE");
      for (let i = 0; i < concurrency; i++) insert.run(Buffer.from(`put/${this.#next++}`), value);
      this.#db.exec("COMMIT");
    });
  }
}

/** Records at the end of a file, each synced. */
async function appends(fd: number, { octets, seconds }: LoopJob): Promise<LoopResult> {
  const value = new Uint8Array(octets).fill(1);
  return repeat(seconds, 1, () => {
    fs.writeSync(fd, value);
    fs.fdatasyncSync(fd);
  });
}

function repeat(seconds: number, each: number, work: () => void): LoopResult {
  const began = performance.now();
  const micros: number[] = [];
  for (let now = began; now < began + seconds * 1000;) {
    work();
    const after = performance.now();
    micros.push((after - now) * 1000);
    now = after;
  }
  micros.sort((a, b) => a - b);
  return {
    done: micros.length * each,
    seconds: (performance.now() - began) / 1000,
    p50Micros: micros[Math.floor(micros.length * 0.5)]!,
    p99Micros: micros[Math.floor(micros.length * 0.99)]!,
  };
}
