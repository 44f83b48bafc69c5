/**
 * Gets packs issued and renewed, one node at a time. Each step is on disk before the next: whoever comes
 * after a crash takes up the order where it was left.
 */
import { createPrivateKey, generateKeyPairSync } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import {
  acquireLease,
  type Bound,
  type Database,
  isDatabaseFault,
  releaseLease,
  whileHeld,
} from "#db";
import type { Log } from "#kit/log.ts";
import { randomId } from "#kit/random.ts";
import { type AccountOptions, forgetAccount, openAccount } from "./acme/account.ts";
import { AcmeFault } from "./acme/fault.ts";
import { acmeHttp } from "./acme/http.ts";
import { beginOrder, completeOrder, type PublishChallenge } from "./acme/order.ts";
import type { AcmeSession, AccountWishes } from "./acme/session.ts";
import type { CertificateStore } from "./certificate-store.ts";
import type { Certificate, PendingOrder } from "./model.ts";
import { type Chain, readChain } from "./pair.ts";
import { renewalTime, retryTime } from "./renewal.ts";
import { openPrivateKey, sealPrivateKey } from "./sealed-keys.ts";

export interface AcmeSettings extends AccountWishes {
  readonly directory: string;
  /** Roots in PEM that are trusted beside the usual ones. */
  readonly authorities: string | null;
}

export interface IssuerOptions {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly store: CertificateStore;
  readonly acme: AcmeSettings;
  /** Publishes a challenge in a zone. */
  readonly publish: (
    zoneId: string,
    ...challenge: Parameters<PublishChallenge>
  ) => ReturnType<PublishChallenge>;
  /** Whether a zone still has names that its own certificate is for. */
  readonly isWanted: (zoneId: string) => Promise<boolean>;
  readonly now: () => number;
  /** From 0 up to 1. */
  readonly random: () => number;
  readonly log: Log;
}

/** How late something is begun that is due; what changes here is begun at once. */
const LOOK_MS = 10_000;
/** Zones at a time: authorities limit how much they are asked. */
const AT_ONCE = 4;
/** How soon another node goes on when this one has died; renewed with each look. */
const LEASE_SECONDS = 60;
/** Twice what other nodes lag behind. */
const SETTLE_MS = 2_000;

export class Issuer implements AsyncDisposable {
  readonly #options: IssuerOptions;
  readonly #stop = new AbortController();
  readonly #lease: { readonly name: string; readonly holder: string; readonly seconds: number };
  readonly #account: AccountOptions;
  #session: Promise<AcmeSession> | null = null;
  #loop = Promise.resolve();
  #wake = () => {};
  /** By zone, what is at work. */
  readonly #working = new Map<string, Promise<void>>();
  /** Whether something came meanwhile that has to wait for it. */
  #hasMore = false;

  constructor(options: IssuerOptions) {
    this.#options = options;
    // Who has the database to itself goes on at once after a crash: the lease was its own.
    const holder = options.db.shared ? randomId() : "the only node";
    this.#lease = { name: "certificates", holder, seconds: LEASE_SECONDS };
    const { directory, authorities, ...wishes } = options.acme;
    const http = acmeHttp(authorities, this.#stop.signal);
    this.#account = { ...options, http, directory, wishes };
  }

  /** Does what is due from now on, until disposed. */
  start(): this {
    const { store, now } = this.#options;
    const changed = (one: Certificate) => {
      if (!isDue(one, now())) return;
      if (this.#working.has(one.zoneId)) this.#hasMore = true;
      else this.#wake();
    };
    store.follow({ changed, removed: () => {} });
    this.#loop = this.#repeat();
    return this;
  }

  /** What has been reached is on disk; another node, or the next start, goes on from there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#loop;
    await Promise.all(this.#working.values());
    // It would lapse by itself.
    await releaseLease(this.#options.db, this.#lease).catch(() => {});
  }

  async #repeat(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await this.#begin().catch((cause: unknown) => {
        if (!signal.aborted) this.#options.log.warn("certificates cannot be issued now", { cause });
      });
      const pause = new AbortController();
      await Promise.race([woken, setTimeout(LOOK_MS, undefined, pause).catch(() => {})]);
      pause.abort();
    }
  }

  /** Does what is due now, unless another node is at it. */
  async look(): Promise<void> {
    await this.#begin();
    await Promise.all(this.#working.values());
  }

  /** Begins with what is due. The lease is kept as long as there is work, and lapses without it. */
  async #begin(): Promise<void> {
    const { db, store, now } = this.#options;
    const due = () => [...store.known()].filter((one) => isDue(one, now()));
    if (due().length === 0 && this.#working.size === 0) return;
    if (!(await acquireLease(db, this.#lease, now()))) return;
    // A zone's one after the other: their proofs stand at the same name.
    for (const [zoneId, ofZone] of Map.groupBy(due(), (one) => one.zoneId)) {
      if (this.#working.has(zoneId)) continue;
      if (this.#working.size < AT_ONCE) this.#working.set(zoneId, this.#bringAll(zoneId, ofZone));
      else this.#hasMore = true;
    }
  }

  async #bringAll(zoneId: string, due: readonly Certificate[]): Promise<void> {
    try {
      for (const { id } of due) if (!this.#stop.signal.aborted) await this.#bring(id);
    } catch (cause) {
      this.#options.log.warn("what came of a certificate could not be kept", { cause });
    }
    this.#working.delete(zoneId);
    if (this.#hasMore) this.#wake();
    this.#hasMore = false;
  }

  /** Has a certificate issued or renewed, or notes why not. */
  async #bring(id: string): Promise<void> {
    const { store, isWanted, now, log } = this.#options;
    const seen = store.get(id);
    if (seen === null || !isDue(seen, now())) return;
    try {
      if (seen.type === "universal" && !(await isWanted(seen.zoneId))) {
        await store.remove(seen, this.#held());
      } else {
        const { hosts, notAfter } = await this.#issue(seen);
        log.info("certificate issued", { hosts, expires: new Date(notAfter) });
      }
    } catch (cause) {
      if (this.#stop.signal.aborted) return;
      // Another node is at it, or somebody has removed it.
      if (isDatabaseFault(cause, "guard")) return;
      await this.#noteFault(id, cause as Error, seen.order !== null);
    }
  }

  async #issue(seen: Certificate): Promise<Certificate> {
    const { store, sealKey, publish, now, random, db } = this.#options;
    const session = await this.#openSession();
    const begun = this.#isOurs(seen.order) ? seen : await this.#order(seen, session);
    const { id, zoneId, hosts, order } = begun;
    const privateKey = openPrivateKey(sealKey, id, Buffer.from(order!.sealedKey, "base64"));
    if (privateKey === null)
      throw new AcmeFault("refused", "The key of the order cannot be opened");
    const chain = await completeOrder(
      order!.url,
      { hosts, privateKey },
      {
        session,
        publish: (name, values) => publish(zoneId, name, values),
        now,
        sleep: (ms) => setTimeout(ms, undefined, { signal: this.#stop.signal }),
        settleMs: db.shared ? SETTLE_MS : 0,
      },
    );
    const { notBefore, notAfter, ...read } = checkIssued(chain, hosts, privateKey);
    const change: Partial<Certificate> = {
      chain: read.chain,
      sealedKey: sealPrivateKey(sealKey, id, privateKey),
      notBefore,
      notAfter,
      order: null,
      nextAt: renewalTime({ notBefore, notAfter }, random()),
      failures: 0,
      fault: null,
      modifiedAt: now(),
    };
    return store.set(begun, change, this.#held());
  }

  /** Orders, and keeps the order with the key that its certificate will have. */
  async #order(seen: Certificate, session: AcmeSession): Promise<Certificate> {
    const { store, sealKey, acme } = this.#options;
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    const url = await beginOrder(session, seen.hosts);
    const sealedKey = Buffer.from(sealPrivateKey(sealKey, seen.id, pem)).toString("base64");
    const order: PendingOrder = { directory: acme.directory, url, sealedKey };
    return store.set(seen, { order }, this.#held());
  }

  async #noteFault(id: string, cause: Error, wasTakenUp: boolean): Promise<void> {
    const { store, now, random, log } = this.#options;
    const { kind, retryAfterMs } = cause instanceof AcmeFault ? cause : noAnswer;
    this.#session = null; // The server may have changed: its directory is read again.
    if (kind === "no-account") await forgetAccount(this.#account);
    const seen = store.get(id);
    if (seen === null) return;
    const failures = seen.failures + 1;
    const isOver = kind === "refused" || kind === "no-account";
    // An order or an account that is gone says nothing against a new one.
    const isFresh = failures === 1 && (kind === "no-account" || (isOver && wasTakenUp));
    const nextAt = isFresh ? now() : retryTime(now(), failures, retryAfterMs, random());
    log.warn("certificate not issued", { hosts: seen.hosts, again: new Date(nextAt), cause });
    const change = { failures, fault: cause.message, nextAt, modifiedAt: now() };
    await store
      .set(seen, { ...change, ...(isOver && { order: null }) }, this.#held())
      .catch((error: unknown) => {
        if (!isDatabaseFault(error, "guard")) throw error;
      });
    if (isFresh) this.#hasMore = true;
  }

  #openSession(): Promise<AcmeSession> {
    return (this.#session ??= openAccount(this.#account));
  }

  #isOurs(order: PendingOrder | null): boolean {
    return order?.directory === this.#options.acme.directory;
  }

  /** Undoes a write when another node has taken over. */
  #held(): Bound {
    return whileHeld(this.#lease, this.#options.now());
  }
}

/** What went wrong elsewhere than at the authority. */
const noAnswer = { kind: "unreachable", retryAfterMs: null } as const;

function isDue({ nextAt }: Certificate, now: number): boolean {
  return nextAt !== null && nextAt <= now;
}

/** Throws unless what came is what was asked for. */
function checkIssued(pem: string, hosts: readonly string[], privateKey: string): Chain {
  const chain = readChain(pem);
  const missing = hosts.find((host) => !chain.hosts.includes(host));
  if (missing !== undefined) {
    throw new AcmeFault("refused", `The authority's certificate is not for ${missing}`);
  }
  if (!chain.leaf.checkPrivateKey(createPrivateKey(privateKey))) {
    throw new AcmeFault("refused", "The authority's certificate is for another key");
  }
  return chain;
}
