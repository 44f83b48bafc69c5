/** Which certificate serves a hostname: found in memory, on the way of every handshake. RFC 6125 §6.4. */
import type { Certificate } from "./model.ts";

export class HostTable {
  /** By name or wildcard; the best first. */
  readonly #hosts = new Map<string, Certificate[]>();

  get isEmpty(): boolean {
    return this.#hosts.size === 0;
  }

  add(certificate: Certificate): void {
    if (certificate.chain === null) return;
    for (const host of certificate.hosts) {
      const there = this.#hosts.get(host) ?? [];
      this.#hosts.set(host, [...there, certificate].sort(byRank));
    }
  }

  remove({ id, hosts }: Certificate): void {
    for (const host of hosts) {
      const left = this.#hosts.get(host)?.filter((one) => one.id !== id) ?? [];
      if (left.length > 0) this.#hosts.set(host, left);
      else this.#hosts.delete(host);
    }
  }

  /** The name itself goes before the wildcard; only what is valid at the time counts. */
  find(hostname: string, now: number): Certificate | null {
    return (
      this.#valid(hostname, now) ?? this.#valid(`*${hostname.slice(hostname.indexOf("."))}`, now)
    );
  }

  #valid(host: string, now: number): Certificate | null {
    const found = this.#hosts.get(host);
    if (found === undefined) return null;
    return found.find(({ notBefore, notAfter }) => notBefore <= now && now < notAfter) ?? null;
  }
}

const ranks = ["legacy_custom", "sni_custom", "advanced", "universal"];

/** A user's before ours, the higher priority before the lower, the younger before the older. */
function byRank(a: Certificate, b: Certificate): number {
  return (
    ranks.indexOf(a.type) - ranks.indexOf(b.type) ||
    b.priority - a.priority ||
    b.createdAt - a.createdAt ||
    (a.id < b.id ? -1 : 1)
  );
}
