/** Certificates on disk and in memory: each change is written under a guard, then told to the listeners. */
import { type Bound, ChangeFeed, type Database, mustChangeOne } from "#db";
import { HostTable } from "./host-table.ts";
import type { Certificate } from "./model.ts";
import * as rows from "./schema.ts";

/**
 * Called when a change is on disk and before whoever asked for it hears so: what the listener has done
 * by its return is done for everyone who knows of the change.
 */
export interface CertificateListener {
  changed(certificate: Certificate): void;
  removed(certificate: Certificate): void;
  /** Other zones than before want none. */
  optOutsChanged?(): void;
}

/** What an entry of the log is about: a certificate, or a zone that opts out or in. */
type Topic = "certificate" | "opt-out";

export class CertificateStore {
  readonly #db: Database;
  readonly feed: ChangeFeed<Topic>;
  readonly #listeners: CertificateListener[] = [];
  readonly #certificates = new Map<string, Certificate>();
  /** By zone. */
  readonly #tables = new Map<string, HostTable>();
  #optOuts = new Set<string>();
  /** Counts what is changed here: what was read before may be old by then. */
  #changes = 0;

  private constructor(db: Database, feed: ChangeFeed<Topic>) {
    this.#db = db;
    this.feed = feed;
  }

  static async open(db: Database): Promise<CertificateStore> {
    const store = new CertificateStore(db, await ChangeFeed.open<Topic>(db, rows.LOG));
    store.feed.hear("certificate", (id) => (id === null ? store.#readAll() : store.#read(id)));
    store.feed.hear("opt-out", () => store.#readOptOuts());
    await store.#readAll();
    await store.#readOptOuts();
    return store;
  }

  follow(listener: CertificateListener): void {
    this.#listeners.push(listener);
  }

  /** All there are, as this node knows them. */
  known(): Iterable<Certificate> {
    return this.#certificates.values();
  }

  get(id: string): Certificate | null {
    return this.#certificates.get(id) ?? null;
  }

  /** The one that serves a hostname of the zone. */
  find(zoneId: string, hostname: string, now: number): Certificate | null {
    return this.#tables.get(zoneId)?.find(hostname, now) ?? null;
  }

  hasOptedOut(zoneId: string): boolean {
    return this.#optOuts.has(zoneId);
  }

  ofZone(zoneId: string): Promise<Certificate[]> {
    return this.#db.all(rows.certificatesOfZone({ zoneId }));
  }

  async add(certificate: Certificate): Promise<void> {
    await this.#write("certificate", [certificate.id], rows.addCertificate(certificate));
    this.#take(certificate);
  }

  /** Changes a certificate as it was seen; a guard fails when it has changed since. Takes other guards too. */
  async set(
    seen: Certificate,
    change: Partial<Certificate>,
    ...guards: readonly Bound[]
  ): Promise<Certificate> {
    return (await this.setAll([[seen, change]], ...guards))[0]!;
  }

  /** Changes several, all or none. */
  async setAll(
    changes: readonly (readonly [seen: Certificate, change: Partial<Certificate>])[],
    ...guards: readonly Bound[]
  ): Promise<Certificate[]> {
    const made = changes.map(([seen, change]) => ({ ...seen, ...change }));
    const ids = made.map(({ id }) => id);
    const steps = made.map((one) => mustChangeOne(rows.setCertificate(one)));
    await this.#write("certificate", ids, ...guards, ...steps);
    const next = made.map((one) => ({ ...one, revision: one.revision + 1 }));
    for (const one of next) this.#take(one);
    return next;
  }

  async remove({ id }: Certificate, ...guards: readonly Bound[]): Promise<void> {
    await this.#write("certificate", [id], ...guards, rows.removeCertificate({ id }));
    this.#drop(id);
  }

  async setOptOut(zoneId: string, isOut: boolean): Promise<void> {
    const step = isOut ? rows.addOptOut({ zoneId }) : rows.removeOptOut({ zoneId });
    await this.#write("opt-out", [zoneId], step);
    this.#changes++;
    if (isOut) this.#optOuts.add(zoneId);
    else this.#optOuts.delete(zoneId);
    this.#tellOptOuts();
  }

  /** The rows of a zone that was removed are gone with it. */
  forgetZone(zoneId: string): void {
    this.#changes++;
    this.#optOuts.delete(zoneId);
    for (const { id, zoneId: of } of this.#certificates.values()) if (of === zoneId) this.#drop(id);
  }

  async #write(topic: Topic, refs: readonly string[], ...steps: readonly Bound[]): Promise<void> {
    await this.#db.write(...steps, ...this.feed.steps(topic, ...refs));
    this.feed.signal();
  }

  /** News of what is known already is left alone. */
  #take(certificate: Certificate): void {
    this.#changes++;
    const known = this.#certificates.get(certificate.id);
    if (known !== undefined && known.revision >= certificate.revision) return;
    if (known !== undefined) this.#tables.get(known.zoneId)?.remove(known);
    this.#certificates.set(certificate.id, certificate);
    this.#tables.getOrInsertComputed(certificate.zoneId, () => new HostTable()).add(certificate);
    for (const listener of this.#listeners) listener.changed(certificate);
  }

  #drop(id: string): void {
    this.#changes++;
    const known = this.#certificates.get(id);
    if (known === undefined) return;
    this.#certificates.delete(id);
    const table = this.#tables.get(known.zoneId)!;
    table.remove(known);
    if (table.isEmpty) this.#tables.delete(known.zoneId);
    for (const listener of this.#listeners) listener.removed(known);
  }

  async #read(id: string): Promise<void> {
    const found = await this.#undisturbed(() => this.#db.first(rows.certificateById({ id })));
    if (found === null) this.#drop(id);
    else this.#take(found);
  }

  async #readAll(): Promise<void> {
    const found = await this.#undisturbed(() => this.#db.all(rows.everyCertificate({})));
    const ids = new Set(found.map(({ id }) => id));
    for (const id of this.#certificates.keys()) if (!ids.has(id)) this.#drop(id);
    for (const certificate of found) this.#take(certificate);
  }

  async #readOptOuts(): Promise<void> {
    const found = await this.#undisturbed(() => this.#db.all(rows.everyOptOut({})));
    this.#optOuts = new Set(found.map(({ zoneId }) => zoneId));
    this.#tellOptOuts();
  }

  #tellOptOuts(): void {
    for (const listener of this.#listeners) listener.optOutsChanged?.();
  }

  /** Reads, again if something changed here meanwhile: that may be newer. */
  async #undisturbed<T>(read: () => Promise<T>): Promise<T> {
    for (;;) {
      const changes = this.#changes;
      const found = await read();
      if (changes === this.#changes) return found;
    }
  }
}
