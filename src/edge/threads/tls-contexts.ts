/** The certificates that a thread shows, by hostname. */
import { createSecureContext, type SecureContext } from "node:tls";
import type { Generations } from "#kit/generations.ts";
import { FactCache } from "../facts/fact-cache.ts";
import type { KeyPair } from "../facts/facts.ts";
import type { MainThread } from "./main-thread.ts";

export interface TlsContextsOptions {
  readonly main: MainThread;
  /** Stands in where a client names no host. */
  readonly fallbackName: string;
  readonly generations: Generations;
  readonly now: () => number;
}

/** Each takes some ten kilobytes; as many as the local authority keeps. */
const MAX_CONTEXTS = 1_000;

export class TlsContexts {
  readonly #hosts: FactCache<SecureContext | null>;
  /** By the certificate: hostnames share one. */
  readonly #contexts = new Map<string, SecureContext>();
  readonly #fallbackName: string;
  readonly #fallback: FactCache<KeyPair | null>;

  constructor({ main, fallbackName, ...options }: TlsContextsOptions) {
    this.#fallbackName = fallbackName;
    this.#fallback = new FactCache({ ...options, ask: (name) => main.ask("certificate", name) });
    this.#hosts = new FactCache({
      ...options,
      ask: async (hostname) => {
        const fact = await main.ask("certificate", hostname);
        return { ...fact, value: fact.value && this.#contextOf(fact.value) };
      },
    });
  }

  /** What serves a hostname; null when nothing does. */
  async of(hostname: string): Promise<SecureContext | null> {
    return this.#hosts.get(hostname);
  }

  fallback(): KeyPair | null | Promise<KeyPair | null> {
    return this.#fallback.get(this.#fallbackName);
  }

  #contextOf({ cert, key }: KeyPair): SecureContext {
    let context = this.#contexts.get(cert);
    if (context !== undefined) return context;
    context = createSecureContext({ cert, key });
    if (this.#contexts.size >= MAX_CONTEXTS) this.#contexts.clear();
    this.#contexts.set(cert, context);
    return context;
  }
}
