/**
 * The memory of one batch of datagrams, laid out as Linux reads it (`struct mmsghdr`, `msghdr`,
 * `iovec`, `sockaddr_in`, `sockaddr_in6` on 64-bit machines; see recvmmsg(2), cmsg(3)). Headers and
 * their pointers are written once; a batch only changes lengths, and whom a reply goes to.
 */
import { type Client, UDP_PAYLOAD_OCTETS } from "../client.ts";

/** How a socket's datagrams come: the size of its addresses, and of the control message if any. */
export interface DatagramForm {
  /** `sockaddr_in` or `sockaddr_in6`. */
  readonly nameOctets: 16 | 28;
  /** Space of an `IP_PKTINFO` or `IPV6_PKTINFO`; 0 on a socket that is bound to one address. */
  readonly controlOctets: 0 | 32 | 40;
}

/** Where a reply goes, and from which of our addresses: the octets as the kernel gave them. */
export interface DatagramPeer {
  readonly name: Uint8Array;
  readonly control: Uint8Array;
}

/**
 * What is kept of a query. Clients are told 1232; whatever a longer datagram holds past this is cut
 * off by the kernel, and the responder makes what it can of the rest (FORMERR, as a rule): an answer
 * tells a strange client more than silence.
 */
export const MAX_QUERY_OCTETS = 4096;

const HEADER_OCTETS = 64;
const IOVEC_OCTETS = 16;
const NAME_OCTETS = 32;
const CONTROL_OCTETS = 64;
/** A cache line more than a page, so that the slots do not fight for the same lines of the cache. */
const QUERY_STRIDE = MAX_QUERY_OCTETS + 64;
/** Whole lines of the cache. */
const REPLY_STRIDE = Math.ceil(UDP_PAYLOAD_OCTETS / 64) * 64;

/** The 32-bit words of an mmsghdr; pointers and sizes take two, the lower one first. */
const NAME = 0;
const NAME_LENGTH = 2;
const IOVEC = 4;
const IOVEC_COUNT = 6;
const CONTROL = 8;
const CONTROL_LENGTH = 10;
const LENGTH = 14;
const HEADER_WORDS = HEADER_OCTETS / 4;
/** The words of an iovec: a pointer, and the size of what it points to. */
const IOVEC_LENGTH = 2;
const IOVEC_WORDS = IOVEC_OCTETS / 4;

const CMSG_HEADER_OCTETS = 16;
/** Where the interface stands: `in_pktinfo` begins with it, `in6_pktinfo` ends with it. */
const IPV4_INTERFACE = CMSG_HEADER_OCTETS;
const IPV6_INTERFACE = CMSG_HEADER_OCTETS + 16;

export class DatagramBatch {
  /** From one header to the next. */
  static readonly HEADER_OCTETS = HEADER_OCTETS;
  /** Holds every query and reply, at the places that the methods tell. */
  readonly octets: Uint8Array;
  /** Addresses of the first headers, for the system calls. */
  readonly receiveHeaders: number;
  readonly sendHeaders: number;
  readonly #words: Uint32Array;
  readonly #form: DatagramForm;
  /** These two in words, the rest in octets. */
  readonly #sendHeaders: number;
  readonly #sendVectors: number;
  readonly #names: number;
  readonly #controls: number;
  readonly #queries: number;
  readonly #replies: number;

  constructor(slots: number, form: DatagramForm, addressOf: (memory: ArrayBuffer) => number) {
    const sendHeaders = slots * HEADER_OCTETS;
    const receiveVectors = 2 * sendHeaders;
    const sendVectors = receiveVectors + slots * IOVEC_OCTETS;
    this.#names = sendVectors + slots * IOVEC_OCTETS;
    this.#controls = this.#names + slots * NAME_OCTETS;
    this.#queries = this.#controls + slots * CONTROL_OCTETS;
    this.#replies = this.#queries + slots * QUERY_STRIDE;
    const memory = new ArrayBuffer(this.#replies + slots * REPLY_STRIDE);
    const base = addressOf(memory);
    this.octets = new Uint8Array(memory);
    this.receiveHeaders = base;
    this.sendHeaders = base + sendHeaders;
    this.#words = new Uint32Array(memory);
    this.#form = form;
    this.#sendHeaders = sendHeaders / 4;
    this.#sendVectors = sendVectors / 4;
    for (let i = 0; i < slots; i++) {
      const name = base + this.#names + i * NAME_OCTETS;
      const control = base + this.#controls + i * CONTROL_OCTETS;
      const receive = i * HEADER_OCTETS;
      this.#writeHeader(receive, name, base + receiveVectors + i * IOVEC_OCTETS, control);
      const send = sendHeaders + receive;
      this.#writeHeader(send, name, base + sendVectors + i * IOVEC_OCTETS, control);
      const received = receiveVectors + i * IOVEC_OCTETS;
      this.#writePointer(received, base + this.queryStart(i));
      this.#words[received / 4 + IOVEC_LENGTH] = MAX_QUERY_OCTETS;
      this.#writePointer(sendVectors + i * IOVEC_OCTETS, base + this.replyStart(i));
    }
  }

  queryStart(slot: number): number {
    return this.#queries + slot * QUERY_STRIDE;
  }

  /** Of the query that the last recvmmsg put there. */
  queryLength(slot: number): number {
    return this.#words[slot * HEADER_WORDS + LENGTH]!;
  }

  replyStart(slot: number): number {
    return this.#replies + slot * REPLY_STRIDE;
  }

  /** Says who sent a query; false when no reply could reach them. */
  readClient(slot: number, client: Client): boolean {
    const { octets } = this;
    const name = this.#names + slot * NAME_OCTETS;
    client.port = (octets[name + 2]! << 8) | octets[name + 3]!;
    if (client.port === 0) return false;
    let from = name + 4;
    client.addressLength = 4;
    if (this.#form.nameOctets === 28) {
      from = name + 8;
      if (this.#isMapped(from)) from += 12;
      else client.addressLength = 16;
    }
    for (let i = 0; i < client.addressLength; i++) client.address[i] = octets[from + i]!;
    return true;
  }

  /** Sends the reply in one slot to whom the query in another slot came from. */
  addressReply(reply: number, query: number, length: number): void {
    const words = this.#words;
    const to = this.#sendHeaders + reply * HEADER_WORDS;
    const from = query * HEADER_WORDS;
    words[to + NAME] = words[from + NAME]!;
    words[to + NAME + 1] = words[from + NAME + 1]!;
    words[this.#sendVectors + reply * IOVEC_WORDS + IOVEC_LENGTH] = length;
    if (this.#form.controlOctets === 0) return;
    words[to + CONTROL] = words[from + CONTROL]!;
    words[to + CONTROL + 1] = words[from + CONTROL + 1]!;
    words[to + CONTROL_LENGTH] = words[from + CONTROL_LENGTH]!;
    // The address we were asked at stays; the way back is for the routing table to choose.
    const control = this.#controls + query * CONTROL_OCTETS;
    const at = this.#form.nameOctets === 16 ? IPV4_INTERFACE : IPV6_INTERFACE;
    words[(control + at) >> 2] = 0;
  }

  /** Gives the kernel the whole space for control messages again; it has noted what it used. */
  rearm(count: number): void {
    const { controlOctets } = this.#form;
    if (controlOctets === 0) return;
    for (let i = 0; i < count; i++) {
      this.#words[i * HEADER_WORDS + CONTROL_LENGTH] = controlOctets;
    }
  }

  copyPeer(slot: number): DatagramPeer {
    const name = this.#names + slot * NAME_OCTETS;
    const control = this.#controls + slot * CONTROL_OCTETS;
    const used = this.#words[slot * HEADER_WORDS + CONTROL_LENGTH]!;
    return {
      name: this.octets.slice(name, name + this.#form.nameOctets),
      control: this.octets.slice(control, control + used),
    };
  }

  /** As if a query from this peer had arrived in the slot. */
  setPeer(slot: number, { name, control }: DatagramPeer): void {
    this.octets.set(name, this.#names + slot * NAME_OCTETS);
    this.octets.set(control, this.#controls + slot * CONTROL_OCTETS);
    this.#words[slot * HEADER_WORDS + CONTROL_LENGTH] = control.length;
  }

  /** `::ffff:0:0/96`: an IPv4 client on a socket that takes both. */
  #isMapped(at: number): boolean {
    const words = this.#words;
    const first = at >> 2;
    return (
      words[first] === 0 &&
      words[first + 1] === 0 &&
      this.octets[at + 8] === 0 &&
      this.octets[at + 9] === 0 &&
      this.octets[at + 10] === 0xff &&
      this.octets[at + 11] === 0xff
    );
  }

  #writeHeader(at: number, name: number, vector: number, control: number): void {
    const words = this.#words;
    const first = at / 4;
    this.#writePointer(at, name);
    words[first + NAME_LENGTH] = this.#form.nameOctets;
    this.#writePointer(at + IOVEC * 4, vector);
    words[first + IOVEC_COUNT] = 1;
    if (this.#form.controlOctets === 0) return;
    this.#writePointer(at + CONTROL * 4, control);
    words[first + CONTROL_LENGTH] = this.#form.controlOctets;
  }

  #writePointer(at: number, address: number): void {
    this.#words[at / 4] = address % 2 ** 32;
    this.#words[at / 4 + 1] = Math.floor(address / 2 ** 32);
  }
}
