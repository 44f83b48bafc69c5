/** The names of others, as one resolver on loopback tells of them. A test says what there is, and when. */
import type { Answer, Packet } from "dns-packet";
import { type Asked, type Reply, replyTo, Upstream } from "./upstream.ts";

/** What is said of a name. `held`: nothing, until `release` says it. */
export interface Said {
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  /** It is an alias of this one, which has the addresses. */
  readonly cname?: string;
  readonly ttl?: number;
  readonly rcode?: number;
  readonly silent?: boolean;
  readonly held?: boolean;
  /** Over UDP only that it is too long. */
  readonly truncated?: boolean;
}

/** Longer than records live here, whose TTL then is what clients see: it does not count down. */
const LONG_SECONDS = 3600;

const RCODE = { SERVFAIL: 2, NXDOMAIN: 3 };
export const nxdomain: Said = { rcode: RCODE.NXDOMAIN };
export const servfail: Said = { rcode: RCODE.SERVFAIL };
export const silence: Said = { silent: true };

export class OutsideWorld implements AsyncDisposable {
  readonly #upstream: Upstream;
  readonly #names = new Map<string, Said>();
  readonly #held: Asked[] = [];
  readonly #listeners = new Map<string, () => void>();

  private constructor(upstream: Upstream) {
    this.#upstream = upstream;
    upstream.reply = (asked) => this.#reply(asked);
  }

  static async start(): Promise<OutsideWorld> {
    return new OutsideWorld(await Upstream.start());
  }

  /** As the `resolvers` setting has it. */
  get address(): string {
    return this.#upstream.address;
  }

  /** From now on this is so. What was never said of is answered with NXDOMAIN. */
  say(name: string, said: Said): void {
    this.#names.set(name, said);
  }

  /** The questions about a name so far, as `A` and `AAAA`. */
  asked(name: string): string[] {
    return this.#upstream.asked.filter((one) => keyOf(one) === name).map(({ type }) => type);
  }

  /** Waits for the next question about the name. */
  nextAbout(name: string): Promise<void> {
    return new Promise((resolve) => this.#listeners.set(name, resolve));
  }

  /** Says what was held back of a name. */
  release(name: string): void {
    const said = this.#names.get(name)!;
    this.#names.set(name, { ...said, held: false });
    for (const asked of this.#held.filter((one) => keyOf(one) === name)) {
      for (const reply of this.#reply(asked)) this.#upstream.send(asked, reply);
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#upstream[Symbol.asyncDispose]();
  }

  #reply(asked: Asked): readonly Reply[] {
    const name = keyOf(asked);
    this.#listeners.get(name)?.();
    this.#listeners.delete(name);
    const said = this.#names.get(name) ?? nxdomain;
    if (said.silent === true) return [];
    if (said.held === true) {
      this.#held.push(asked);
      return [];
    }
    return [replyAbout(asked, said)];
  }
}

function keyOf({ name }: Asked): string {
  return name.toLowerCase(); // Resolvers are asked in letters of random case.
}

function replyAbout(asked: Asked, said: Said): Packet {
  const { ttl = LONG_SECONDS, rcode = 0, cname } = said;
  if (said.truncated === true && asked.transport === "udp") {
    return replyTo(asked, { truncated: true });
  }
  const type = asked.type as "A" | "AAAA";
  const addresses = (type === "A" ? said.a : said.aaaa) ?? [];
  const answers: Answer[] = addresses.map((data) => ({
    type,
    name: cname ?? asked.name,
    ttl,
    data,
  }));
  if (cname !== undefined) answers.unshift({ type: "CNAME", name: asked.name, ttl, data: cname });
  return replyTo(asked, { rcode, answers });
}
