/** Takes the connections of an address that a server of Node's was bound to. */
import type { Server } from "node:net";
import {
  AF_INET,
  EAGAIN,
  ECONNABORTED,
  EINTR,
  EPOLLIN,
  F_DUPFD_CLOEXEC,
  SOCK_CLOEXEC,
  SOCK_NONBLOCK,
  SOL_TCP,
  TCP_NODELAY,
} from "#kit/libc.ts";
import { type Loop, threadLoop } from "./loop.ts";
import { LoopSocket } from "./loop-socket.ts";
import type { Watcher } from "./readiness.ts";

/** Taken in one turn; the rest waits in the system's queue. */
const MOST_AT_ONCE = 64;
/** How long a process that is out of descriptors, or of memory, takes no connections. */
const REST_MS = 100;
/** Of a `sockaddr_in6`, the larger of the two, behind its length. */
const SOCKADDR = { at: 4, bytes: 28 } as const;

/** Null where Node has to take the connections, as it would without this. Else it takes none any more. */
export async function loopListener(
  server: Server,
  take: (socket: LoopSocket) => void,
): Promise<LoopListener | null> {
  const loop = await threadLoop();
  // Not documented. Where it is not there, all is the same but slower; a test holds it.
  const { _handle: handle } = server as { readonly _handle?: { readonly fd?: number } | null };
  const bound = handle?.fd ?? -1;
  if (loop === null || bound < 0) return null;
  // The address stays bound for as long as a descriptor of it is open.
  const fd = loop.calls.fcntl(bound, F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return null;
  const listener = new LoopListener(loop, fd, take);
  if (loop.readiness.watch(listener, EPOLLIN)) return listener;
  loop.calls.close(fd);
  return null;
}

export class LoopListener implements Watcher, Disposable {
  readonly fd: number;
  readonly #loop: Loop;
  readonly #take: (socket: LoopSocket) => void;
  /** Where the system writes who has connected: the length, then the address. */
  readonly #peer = new DataView(new ArrayBuffer(SOCKADDR.at + SOCKADDR.bytes));
  readonly #peerAddress: number;
  #rest: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(loop: Loop, fd: number, take: (socket: LoopSocket) => void) {
    this.#loop = loop;
    this.fd = fd;
    this.#take = take;
    this.#peerAddress = loop.calls.addressOf(this.#peer.buffer);
    // Connections have what their listener has.
    loop.calls.setsockopt(fd, SOL_TCP, TCP_NODELAY, new Uint8Array([1, 0, 0, 0]), 4);
  }

  ready(): void {
    for (let i = 0; i < MOST_AT_ONCE && !this.#isOver; i++) {
      this.#peer.setUint32(0, SOCKADDR.bytes, true);
      const address = this.#peerAddress + SOCKADDR.at;
      const flags = SOCK_CLOEXEC | SOCK_NONBLOCK;
      const fd = this.#loop.calls.accept(this.fd, address, this.#peerAddress, flags);
      if (fd >= 0) this.#greet(fd);
      else if (!this.#mayGoOn()) return;
    }
  }

  /** What is connected stays so. */
  [Symbol.dispose](): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#rest !== null) clearTimeout(this.#rest);
    this.#loop.readiness.forget(this);
    this.#loop.calls.close(this.fd);
  }

  #greet(fd: number): void {
    const from = { host: this.#peerText(), port: this.#peer.getUint16(SOCKADDR.at + 2) };
    const socket = new LoopSocket(this.#loop, fd, from);
    if (socket.begin()) this.#take(socket);
    else this.#loop.calls.close(fd);
  }

  #peerText(): string {
    const { calls, room, roomAddress } = this.#loop;
    const family = this.#peer.getUint16(SOCKADDR.at, true);
    const octets = this.#peerAddress + SOCKADDR.at + (family === AF_INET ? 4 : 8);
    calls.inetNtop(family, octets, roomAddress, room.length);
    return room.toString("latin1", 0, room.indexOf(0));
  }

  /** Whether another may follow the one that could not be had. */
  #mayGoOn(): boolean {
    const errno = this.#loop.calls.errno();
    if (errno === EAGAIN) return false;
    if (errno === ECONNABORTED || errno === EINTR) return true; // That one has gone again.
    this.#loop.readiness.change(this, 0); // The system would tell of it for ever.
    this.#rest = setTimeout(() => this.#loop.readiness.change(this, EPOLLIN), REST_MS).unref();
    return false;
  }
}
