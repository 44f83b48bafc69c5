/** The writer's thread, as those see it that write through it: who has started it, and other threads. */
import { type MessagePort, type Transferable, Worker } from "node:worker_threads";
import type { ToWriter, WriteReply } from "./write-messages.ts";

export interface Writer {
  readonly port: {
    postMessage(message: ToWriter, handedOver?: readonly Transferable[]): void;
    on(event: "message", hear: (reply: WriteReply) => void): unknown;
    ref(): void;
    unref(): void;
  };
  /** Resolves when nothing more comes from it, with why. */
  readonly ended: Promise<Error>;
}

/** Throws a sentence for the operator when the file cannot be used. */
export function startWriter(path: string): Promise<Writer> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./sqlite-writer.${extension}`, import.meta.url), {
    workerData: { path },
    name: "sqlite-writer",
  });
  const ended = new Promise<Error>((resolve) => {
    let cause = hasEnded();
    worker.once("error", (error: Error) => (cause = error));
    worker.once("exit", () => resolve(cause));
  });
  return new Promise((resolve, reject) => {
    worker.once("message", () => resolve({ port: worker, ended }));
    void ended.then((cause) => {
      const message = `Cannot open the database ${path} (--database): ${cause.message}.`;
      reject(new Error(message, { cause }));
    });
  });
}

/** Of a database that another thread has opened. */
export function writerBehind(port: MessagePort): Writer {
  const ended = new Promise<Error>((resolve) => port.once("close", () => resolve(hasEnded())));
  return { port, ended };
}

function hasEnded(): Error {
  return new Error("The writer thread has ended");
}
