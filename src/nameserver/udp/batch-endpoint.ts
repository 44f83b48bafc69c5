/**
 * UDP in batches: sockets that the main thread opens and the query threads use. Descriptors belong
 * to the process, so a thread that ends loses no datagram; the next one goes on with its socket.
 */
import { UDP_PAYLOAD_OCTETS } from "../client.ts";
import { DatagramBatch, type DatagramPeer } from "./datagram-batch.ts";
import { type Endpoint, moduleUrl } from "./endpoint.ts";
import { EFD_CLOEXEC, EFD_NONBLOCK, type Libc, MSG_DONTWAIT } from "#kit/libc.ts";
import type { ResolvedAddress } from "./sockaddr.ts";
import { check, openSockets, type Sockets } from "./sockets.ts";

/** What an eventfd takes: a count to add, in eight octets. */
const ONE = new Uint8Array(BigUint64Array.of(1n).buffer);

export function openBatchEndpoint(libc: Libc, address: ResolvedAddress, threads: number): Endpoint {
  return new BatchEndpoint(libc, address.host, openSockets(libc, address, threads));
}

class BatchEndpoint implements Endpoint {
  readonly address;
  readonly threads;
  readonly entry = moduleUrl("query-thread");
  readonly #libc: Libc;
  readonly #sockets: Sockets;
  readonly #wakes: readonly number[];
  readonly #lateReply: DatagramBatch;
  #isClosed = false;

  constructor(libc: Libc, host: string, sockets: Sockets) {
    this.address = { host, port: sockets.port };
    this.threads = sockets.descriptors.length;
    this.#libc = libc;
    this.#sockets = sockets;
    this.#wakes = sockets.descriptors.map(() =>
      check(libc, libc.eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
    );
    this.#lateReply = new DatagramBatch(1, sockets.form, libc.addressOf);
  }

  threadData(thread: number): object {
    const { descriptors, form } = this.#sockets;
    return { socket: descriptors[thread]!, wake: this.#wakes[thread]!, form };
  }

  wake(thread: number): void {
    if (!this.#isClosed) this.#libc.write(this.#wakes[thread]!, ONE, ONE.length);
  }

  reply(thread: number, peer: unknown, reply: Uint8Array): boolean {
    // Once closed, the number of a descriptor may belong to something else.
    if (this.#isClosed || reply.length > UDP_PAYLOAD_OCTETS) return false;
    const batch = this.#lateReply;
    batch.setPeer(0, peer as DatagramPeer);
    batch.octets.set(reply, batch.replyStart(0));
    batch.addressReply(0, 0, reply.length);
    const socket = this.#sockets.descriptors[thread]!;
    return this.#libc.sendmmsg(socket, batch.sendHeaders, 1, MSG_DONTWAIT) === 1;
  }

  [Symbol.dispose](): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const fd of [...this.#sockets.descriptors, ...this.#wakes]) this.#libc.close(fd);
  }
}
