/**
 * The system calls that Node has no way to, taken from the C library of the process: those that move datagrams in
 * batches, and octets from a file to a socket, that open a file without waiting for a disk, and those of connections
 * and of epoll. Everything foreign is in this file: their signatures, and the numbers that Linux gives its options on
 * x64 and arm64 (asm-generic/socket.h, asm-generic/unistd.h, linux/in.h, linux/in6.h, linux/fs.h, linux/openat2.h,
 * linux/eventpoll.h, linux/tcp.h).
 */

/** Addresses are numbers here: user space ends far below 2^53, and a BigInt a call would be garbage. */
export interface Libc {
  recvmmsg(fd: number, headers: number, count: number, flags: number, timeout: number): number;
  sendmmsg(fd: number, headers: number, count: number, flags: number): number;
  poll(descriptors: number, count: number, timeoutMs: number): number;
  socket(family: number, type: number, protocol: number): number;
  setsockopt(fd: number, level: number, name: number, value: Uint8Array, length: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  getsockname(fd: number, address: Uint8Array, length: Uint8Array): number;
  eventfd(initial: number, flags: number): number;
  read(fd: number, buffer: Uint8Array, length: number): number;
  write(fd: number, buffer: Uint8Array, length: number): number;
  close(fd: number): number;
  /** Why the last call on this thread failed. Another call may change it. */
  errno(): number;
  /** Where a buffer lies. It never moves, and lies there until nothing in the thread refers to it. */
  readonly addressOf: (memory: ArrayBuffer) => number;
}

/** They write where the memory that they are given lies, by its address. */
export interface FileCalls {
  sendfile(to: number, from: number, offset: number, count: number): number;
  preadv2(fd: number, vectors: number, count: number, offset: number, flags: number): number;
  /** `syscall`, for openat2, which no library has a function for. */
  openat2(call: number, folder: number, path: string, how: number, size: number): number;
  errno: Libc["errno"];
  readonly addressOf: Libc["addressOf"];
}

/** Of connections. Where they read and write is given by its address, but for octets that lie anywhere. */
export interface SocketCalls extends FileCalls {
  epollCreate(flags: number): number;
  epollControl(epoll: number, operation: number, fd: number, event: number): number;
  epollWait(epoll: number, events: number, most: number, timeoutMs: number): number;
  accept(fd: number, address: number, length: number, flags: number): number;
  /** Writes the text of an address, and a NUL. */
  inetNtop(family: number, address: number, text: number, size: number): number;
  recv(fd: number, to: number, most: number, flags: number): number;
  recvOctets(fd: number, to: Uint8Array, most: number, flags: number): number;
  send(fd: number, from: number, count: number, flags: number): number;
  sendOctets(fd: number, octets: Uint8Array, count: number, flags: number): number;
  setsockopt: Libc["setsockopt"];
  shutdown(fd: number, how: number): number;
  fcntl(fd: number, command: number, value: number): number;
  pipe(ends: Int32Array, flags: number): number;
  close: Libc["close"];
}

export const AF_INET = 2;
export const AF_INET6 = 10;
export const SOCK_DGRAM = 2;
/** Children of this process, such as script runtimes, must not inherit the sockets. */
export const SOCK_CLOEXEC = 0o2000000;
export const SOCK_NONBLOCK = 0o4000;
export const EFD_CLOEXEC = 0o2000000;
export const EFD_NONBLOCK = 0o4000;

export const SOL_IP = 0;
export const SOL_SOCKET = 1;
export const SOL_TCP = 6;
export const SOL_IPV6 = 41;
export const SO_SNDBUF = 7;
export const SO_RCVBUF = 8;
export const SO_REUSEPORT = 15;
export const TCP_NODELAY = 1;
export const IP_PKTINFO = 8;
export const IP_MTU_DISCOVER = 10;
export const IPV6_MTU_DISCOVER = 23;
export const IPV6_V6ONLY = 26;
export const IPV6_RECVPKTINFO = 49;
/** Neither sets "don't fragment" nor believes what the path says about its MTU. Same for IPv6. */
export const IP_PMTUDISC_OMIT = 5;

export const MSG_DONTWAIT = 0x40;
export const POLLIN = 0x1;
export const POLLOUT = 0x4;
export const POLLNVAL = 0x20;
export const EINTR = 4;
export const EAGAIN = 11;
export const EPIPE = 32;
export const ECONNABORTED = 103;

/** A connection that was reset must not end the process. */
export const MSG_NOSIGNAL = 0x4000;
/** More follows at once: it may wait for that. */
export const MSG_MORE = 0x8000;
export const SHUT_WR = 1;
export const F_DUPFD_CLOEXEC = 1030;

export const EPOLL_CLOEXEC = 0o2000000;
export const EPOLL_CTL_ADD = 1;
export const EPOLL_CTL_DEL = 2;
export const EPOLL_CTL_MOD = 3;
export const EPOLLIN = 0x1;
export const EPOLLOUT = 0x4;
export const EPOLLERR = 0x8;
export const EPOLLHUP = 0x10;
/** Told once, not as long as it holds. */
export const EPOLLET = 0x80000000;
/** A `struct epoll_event`: its events come first, then what is told with them. x64 alone leaves no gap between. */
export const EPOLL_EVENT =
  process.arch === "x64" ? { bytes: 12, dataAt: 4 } : { bytes: 16, dataAt: 8 };

/** What the system has not in memory is not read. */
export const RWF_NOWAIT = 0x8;

export const SYS_OPENAT2 = 437;
/** A path is taken from the working folder. */
export const AT_FDCWD = -100;
export const O_CLOEXEC = 0o2000000;
/** A path of which the system has not all in memory is not opened. */
export const RESOLVE_CACHED = 0x20;

/** Whether the numbers and layouts here are those of this machine. */
export const isKnownPlatform =
  process.platform === "linux" && (process.arch === "x64" || process.arch === "arm64");

/** Loaded late, so that other systems never touch the foreign functions. */
export async function loadLibc(): Promise<Libc> {
  const { lib, errno, addressOf } = await loadKoffi();
  const headers = ["int", "uintptr_t", "uint", "int"];
  return {
    recvmmsg: lib.func("recvmmsg", "int", [...headers, "uintptr_t"]),
    sendmmsg: lib.func("sendmmsg", "int", headers),
    poll: lib.func("poll", "int", ["uintptr_t", "ulong", "int"]),
    socket: lib.func("socket", "int", ["int", "int", "int"]),
    setsockopt: lib.func("setsockopt", "int", ["int", "int", "int", "void *", "uint"]),
    bind: lib.func("bind", "int", ["int", "void *", "uint"]),
    getsockname: lib.func("getsockname", "int", ["int", "void *", "void *"]),
    eventfd: lib.func("eventfd", "int", ["uint", "int"]),
    read: lib.func("read", "long", ["int", "void *", "size_t"]),
    write: lib.func("write", "long", ["int", "void *", "size_t"]),
    close: lib.func("close", "int", ["int"]),
    errno,
    addressOf,
  };
}

/** Apart from the others: older libraries may lack these. */
export async function loadFileCalls(): Promise<FileCalls> {
  const { lib, errno, addressOf } = await loadKoffi();
  return {
    errno,
    sendfile: lib.func("sendfile", "long", ["int", "int", "uintptr_t", "size_t"]),
    preadv2: lib.func("preadv2", "long", ["int", "uintptr_t", "int", "long", "int"]),
    openat2: lib.func("syscall", "long", ["long", "int", "str", "uintptr_t", "size_t"]),
    addressOf,
  };
}

/** Those of files among them: both go to sockets. */
export async function loadSocketCalls(): Promise<SocketCalls> {
  const { lib } = await loadKoffi();
  const octets = ["size_t", "int"];
  return {
    ...(await loadFileCalls()),
    epollCreate: lib.func("epoll_create1", "int", ["int"]),
    epollControl: lib.func("epoll_ctl", "int", ["int", "int", "int", "uintptr_t"]),
    epollWait: lib.func("epoll_wait", "int", ["int", "uintptr_t", "int", "int"]),
    accept: lib.func("accept4", "int", ["int", "uintptr_t", "uintptr_t", "int"]),
    inetNtop: lib.func("inet_ntop", "uintptr_t", ["int", "uintptr_t", "uintptr_t", "uint"]),
    recv: lib.func("recv", "long", ["int", "uintptr_t", ...octets]),
    recvOctets: lib.func("recv", "long", ["int", "void *", ...octets]),
    send: lib.func("send", "long", ["int", "uintptr_t", ...octets]),
    sendOctets: lib.func("send", "long", ["int", "void *", ...octets]),
    setsockopt: lib.func("setsockopt", "int", ["int", "int", "int", "void *", "uint"]),
    shutdown: lib.func("shutdown", "int", ["int", "int"]),
    fcntl: lib.func("fcntl", "int", ["int", "int", "int"]),
    pipe: lib.func("pipe2", "int", ["void *", "int"]),
    close: lib.func("close", "int", ["int"]),
  };
}

async function loadKoffi() {
  const { default: koffi } = await import("koffi");
  return {
    errno: () => koffi.errno(),
    lib: koffi.load(null), // What the process itself is linked with, glibc or musl.
    addressOf: (memory: ArrayBuffer) => Number(koffi.address(memory)),
  };
}
