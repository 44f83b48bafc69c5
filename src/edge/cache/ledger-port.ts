/** The one ledger of a process, as its threads reach it: calls become messages. Nothing is answered. */
import type { MessagePort } from "node:worker_threads";
import type { Ledger } from "./disk-store.ts";

type Note = {
  readonly [K in keyof Ledger]: readonly [call: K, ...args: Parameters<Ledger[K]>];
}[keyof Ledger];

/** For a thread. */
export function ledgerThrough(port: MessagePort): Ledger {
  const send = (note: Note) => port.postMessage(note);
  return {
    stored: (name, octets, file) => send(["stored", name, octets, file]),
    used: (name) => send(["used", name]),
    remove: (name) => send(["remove", name]),
    discard: (file) => send(["discard", file]),
  };
}

/** For whoever holds the ledger, with the other end of a thread's port. */
export function serveLedger(ledger: Ledger, port: MessagePort): void {
  port.on("message", ([call, ...args]: Note) => {
    (ledger[call] as (...given: typeof args) => void)(...args);
  });
}
