/** Certificates that ACME brings: one by itself for each zone that needs it, others when asked for. */
import { isDatabaseFault, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import { sha256 } from "#kit/secrets.ts";
import type { CertificateStore } from "./certificate-store.ts";
import { CertificateFault } from "./fault.ts";
import { checkHosts } from "./hosts.ts";
import {
  blankCertificate,
  type Certificate,
  type CertifiedZone,
  isCustom,
  type PackWishes,
} from "./model.ts";

export interface PacksOptions {
  readonly store: CertificateStore;
  readonly now: () => number;
  readonly hasAcme: boolean;
  /** Whether a zone has names that its own certificate is for. */
  readonly isWanted: (zoneId: string) => Promise<boolean>;
  /** The name of the zone that a hostname lies in. */
  readonly zoneOf: (hostname: string) => string | null;
}

/** How many a zone may ask for, as in the original. */
const MAX_PACKS = 100;

export class Packs {
  readonly #options: PacksOptions;
  readonly quota = MAX_PACKS;

  constructor(options: PacksOptions) {
    this.#options = options;
  }

  async list(zoneId: string): Promise<Certificate[]> {
    return (await this.#options.store.ofZone(zoneId)).filter((one) => !isCustom(one));
  }

  async get(zoneId: string, id: string): Promise<Certificate> {
    const found = (await this.list(zoneId)).find((one) => one.id === id);
    if (found !== undefined) return found;
    throw new CertificateFault("not-found", `There is no certificate pack ${id} in this zone`);
  }

  /** Orders a certificate for these names, beside the zone's own. */
  async order(
    zone: CertifiedZone,
    given: readonly string[],
    wishes: PackWishes,
  ): Promise<Certificate> {
    this.#needAcme();
    const { store, now } = this.#options;
    const hosts = checkHosts(given, zone.name);
    for (const host of hosts) this.#checkZone(host, zone);
    const there = (await this.list(zone.id)).filter(({ type }) => type === "advanced");
    if (there.length >= MAX_PACKS) {
      throw new CertificateFault("too-many", `A zone has at most ${MAX_PACKS} certificate packs`);
    }
    const identity = {
      id: randomId(),
      zoneId: zone.id,
      type: "advanced",
      createdAt: now(),
    } as const;
    const pack = { ...blankCertificate(identity), hosts, wishes, nextAt: now() };
    try {
      await store.add(pack);
    } catch (error) {
      if (!isDatabaseFault(error, "reference")) throw error;
      throw new CertificateFault("not-found", "The zone has gone meanwhile");
    }
    return pack;
  }

  async remove(zoneId: string, id: string): Promise<void> {
    const pack = await this.get(zoneId, id);
    if (pack.type === "universal") {
      const message = "The zone's own certificate goes when universal SSL is disabled";
      throw new CertificateFault("not-available", message);
    }
    await this.#options.store.remove(pack);
  }

  /** Has a pack tried at once that waits after a failure. */
  restart(zoneId: string, id: string): Promise<Certificate> {
    this.#needAcme();
    const { store, now } = this.#options;
    return untilUndisturbed(async () => {
      const pack = await this.get(zoneId, id);
      if (pack.chain !== null && pack.failures === 0) return pack; // Nothing is wrong with it.
      return store.set(pack, { nextAt: now(), modifiedAt: now() });
    });
  }

  /** Whether the zone is to have a certificate by itself. */
  isUniversal(zoneId: string): boolean {
    return !this.#options.store.hasOptedOut(zoneId);
  }

  async setUniversal(zone: CertifiedZone, isOn: boolean): Promise<void> {
    const { store, isWanted } = this.#options;
    await store.setOptOut(zone.id, !isOn);
    if (isOn && (await isWanted(zone.id))) await this.want(zone);
    if (isOn) return;
    for (const pack of await this.list(zone.id)) {
      if (pack.type === "universal") await store.remove(pack);
    }
  }

  /** The zone has names to serve: its apex and all names below get a certificate, unless it opted out. */
  async want(zone: CertifiedZone): Promise<void> {
    const { store, now, hasAcme } = this.#options;
    const id = universalId(zone.id);
    if (!hasAcme || store.hasOptedOut(zone.id) || store.get(id) !== null) return;
    const identity = { id, zoneId: zone.id, type: "universal", createdAt: now() } as const;
    const hosts = [zone.name, `*.${zone.name}`];
    try {
      await store.add({ ...blankCertificate(identity), hosts, nextAt: now() });
    } catch (error) {
      // Another node was first, or the zone has gone meanwhile.
      if (!isDatabaseFault(error, "unique") && !isDatabaseFault(error, "reference")) throw error;
    }
  }

  /** Below another zone the proof would have to stand there, and that zone may be somebody else's. */
  #checkZone(host: string, zone: CertifiedZone): void {
    const closest = this.#options.zoneOf(host.replace(/^\*\./, "")) ?? zone.name;
    if (closest === zone.name) return;
    const message = `${host} lies in the zone ${closest}: order its certificate there`;
    throw new CertificateFault("bad-hosts", message, "/hosts");
  }

  #needAcme(): void {
    if (this.#options.hasAcme) return;
    const message = "There is nobody to order certificates from: acme.directory is off";
    throw new CertificateFault("not-available", message);
  }
}

/** One for a zone: nodes that find out at the same time that it is needed make the same row. */
function universalId(zoneId: string): string {
  return sha256(`universal certificate of ${zoneId}`).slice(0, zoneId.length);
}
