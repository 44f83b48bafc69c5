/** Opens the sockets of the query threads: one each on the same port, which the kernel spreads over them. */
import { getSystemErrorMessage, getSystemErrorName } from "node:util";
import type { DatagramForm } from "./datagram-batch.ts";
import * as libc from "#kit/libc.ts";
import { encodeSockaddr, isWildcard, portOf, type ResolvedAddress } from "./sockaddr.ts";

/**
 * Room for a burst while a thread is busy or being replaced: some five thousand small queries. More
 * would hold queries whose clients have asked again since. The system's `net.core.rmem_max` may
 * give less.
 */
const BUFFER_BYTES = 4 * 1024 * 1024;

export interface Sockets {
  readonly descriptors: readonly number[];
  readonly port: number;
  readonly form: DatagramForm;
}

/** Opens them all or none. Throws an error with the system's code. */
export function openSockets(c: libc.Libc, address: ResolvedAddress, count: number): Sockets {
  const form = formOf(address);
  const first = openSocket(c, address, form, { isFirst: true });
  const descriptors = [first];
  try {
    const port = boundPort(c, first, form);
    while (descriptors.length < count) {
      descriptors.push(openSocket(c, { ...address, port }, form, { isFirst: false }));
    }
    return { descriptors, port, form };
  } catch (error) {
    for (const fd of descriptors) c.close(fd);
    throw error;
  }
}

function formOf(address: ResolvedAddress): DatagramForm {
  const isAny = isWildcard(address);
  return address.family === 4
    ? { nameOctets: 16, controlOctets: isAny ? 32 : 0 }
    : { nameOctets: 28, controlOctets: isAny ? 40 : 0 };
}

/**
 * The first socket binds before it shares the port: with the option set, a second server of the
 * same user would bind too, and the kernel would give it every other query.
 */
function openSocket(
  c: libc.Libc,
  address: ResolvedAddress,
  form: DatagramForm,
  { isFirst }: { isFirst: boolean },
): number {
  const family = address.family === 4 ? libc.AF_INET : libc.AF_INET6;
  const fd = check(c, c.socket(family, libc.SOCK_DGRAM | libc.SOCK_CLOEXEC, 0));
  try {
    const share = () => setOption(c, fd, libc.SOL_SOCKET, libc.SO_REUSEPORT, 1);
    if (!isFirst) share();
    prepare(c, fd, address, form);
    const sockaddr = encodeSockaddr(address);
    check(c, c.bind(fd, sockaddr, sockaddr.length));
    if (isFirst) share();
    return fd;
  } catch (error) {
    c.close(fd);
    throw error;
  }
}

function prepare(c: libc.Libc, fd: number, { family }: ResolvedAddress, form: DatagramForm): void {
  if (family === 6) setOption(c, fd, libc.SOL_IPV6, libc.IPV6_V6ONLY, 0);
  if (form.controlOctets > 0) {
    // A machine with several addresses must answer from the one that was asked.
    if (family === 4) setOption(c, fd, libc.SOL_IP, libc.IP_PKTINFO, 1);
    else setOption(c, fd, libc.SOL_IPV6, libc.IPV6_RECVPKTINFO, 1);
  }
  // Wishes; the server works without. Replies fit every path, so a forged "packet too big" could
  // only do harm.
  const wish = (level: number, name: number, value: number) =>
    c.setsockopt(fd, level, name, intBytes(value), 4);
  wish(libc.SOL_SOCKET, libc.SO_RCVBUF, BUFFER_BYTES);
  wish(libc.SOL_SOCKET, libc.SO_SNDBUF, BUFFER_BYTES);
  wish(libc.SOL_IP, libc.IP_MTU_DISCOVER, libc.IP_PMTUDISC_OMIT);
  if (family === 6) wish(libc.SOL_IPV6, libc.IPV6_MTU_DISCOVER, libc.IP_PMTUDISC_OMIT);
}

function boundPort(c: libc.Libc, fd: number, { nameOctets }: DatagramForm): number {
  const sockaddr = new Uint8Array(nameOctets);
  check(c, c.getsockname(fd, sockaddr, intBytes(nameOctets)));
  return portOf(sockaddr);
}

function setOption(c: libc.Libc, fd: number, level: number, name: number, value: number): void {
  check(c, c.setsockopt(fd, level, name, intBytes(value), 4));
}

function intBytes(value: number): Uint8Array {
  return new Uint8Array(Int32Array.of(value).buffer);
}

/** What the call returned, or the error that it left behind. */
export function check(c: libc.Libc, result: number): number {
  if (result >= 0) return result;
  const errno = c.errno();
  const code = getSystemErrorName(-errno);
  throw Object.assign(new Error(getSystemErrorMessage(-errno) ?? code), { code });
}
