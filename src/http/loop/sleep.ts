/**
 * How Node's loop waits for another epoll: as for a pipe. It polls the descriptor like any other, finds that nothing
 * can be read from it, and says so, which is all that is wanted. A handle that has failed so is spent; each sleep has
 * one of its own.
 */
import { Socket } from "node:net";
import { F_DUPFD_CLOEXEC, O_CLOEXEC, type SocketCalls } from "#kit/libc.ts";

/** What Node has below a socket of a pipe. Not documented; a test holds it. */
interface PipeHandle {
  open(fd: number): number;
  readStart(): number;
  close(): void;
  onread: () => void;
}

/** The value of `constants.SOCKET` among Node's own of pipes: neither listens nor carries other handles. */
const PLAIN_PIPE = 0;

export class Sleep {
  readonly #calls: SocketCalls;
  readonly #epoll: number;
  readonly #wake: () => void;
  readonly #Pipe: new (type: number) => PipeHandle;
  #handle: PipeHandle | null = null;

  /** Throws where Node's pipes are others than those that are known. */
  constructor(calls: SocketCalls, epoll: number, wake: () => void) {
    this.#calls = calls;
    this.#epoll = epoll;
    this.#wake = wake;
    this.#Pipe = pipeHandles(calls);
  }

  /** Has Node's loop wake the thread when something of the epoll is ready. False if it cannot. */
  begin(): boolean {
    // A spent handle is closed, and its descriptor with it.
    const fd = this.#calls.fcntl(this.#epoll, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return false;
    const handle = new this.#Pipe(PLAIN_PIPE);
    handle.onread = () => {
      this.end();
      this.#wake();
    };
    if (handle.open(fd) !== 0) {
      this.#calls.close(fd);
      return false;
    }
    this.#handle = handle;
    if (handle.readStart() === 0) return true;
    this.end();
    return false;
  }

  end(): void {
    this.#handle?.close();
    this.#handle = null;
  }
}

/** Node has a constructor for them, and no name. */
function pipeHandles(calls: SocketCalls): new (type: number) => PipeHandle {
  const ends = new Int32Array(2);
  if (calls.pipe(ends, O_CLOEXEC) !== 0) throw new Error("No pipe could be had");
  const [readEnd, writeEnd] = ends as unknown as [number, number];
  const socket = new Socket({ fd: readEnd, readable: true, writable: false });
  socket.on("error", () => {});
  const { _handle: handle } = socket as { readonly _handle?: object | null };
  socket.destroy();
  calls.close(writeEnd);
  if (handle?.constructor?.name !== "Pipe") throw new Error("Node's pipes are others");
  return handle.constructor as new (type: number) => PipeHandle;
}
