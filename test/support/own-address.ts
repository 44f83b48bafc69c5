/** Addresses of this machine for tests whose ports are given: each process has a part of the loopback network to itself. */

let last = 0;

/** One that no other test listens on. */
export function ownAddress(): string {
  last++;
  return `127.${10 + (process.pid % 200)}.${Math.trunc(process.pid / 200) % 250}.${last}`;
}
