/** Certificates that users bring: taken when they can serve names of their zone. */
import { isDatabaseFault, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import type { CertificateStore } from "./certificate-store.ts";
import { CertificateFault } from "./fault.ts";
import {
  blankCertificate,
  type Certificate,
  type CertifiedZone,
  type CustomType,
  isCustom,
} from "./model.ts";
import { checkPair } from "./pair.ts";
import { openPrivateKey, sealPrivateKey } from "./sealed-keys.ts";

export interface CustomOptions {
  readonly store: CertificateStore;
  readonly now: () => number;
  readonly sealKey: Uint8Array;
}

export interface CustomInput {
  readonly certificate: string;
  readonly privateKey: string;
  readonly bundleMethod: string;
  readonly type: CustomType;
}

/** All of a zone are read when one is added; more than a hundred is a mistake. */
const MAX_CUSTOM = 100;

export class CustomCertificates {
  readonly #options: CustomOptions;
  readonly quota = MAX_CUSTOM;

  constructor(options: CustomOptions) {
    this.#options = options;
  }

  /** The one that is used first stands first. */
  async list(zoneId: string): Promise<Certificate[]> {
    const all = (await this.#options.store.ofZone(zoneId)).filter(isCustom);
    return all.toSorted((a, b) => b.priority - a.priority);
  }

  async get(zoneId: string, id: string): Promise<Certificate> {
    const found = (await this.list(zoneId)).find((one) => one.id === id);
    if (found !== undefined) return found;
    throw new CertificateFault("not-found", `There is no custom certificate ${id} in this zone`);
  }

  /** The newest is used first. */
  async add(zone: CertifiedZone, input: CustomInput): Promise<Certificate> {
    const { store, now, sealKey } = this.#options;
    const { privateKey, ...chain } = checkPair(input, zone.name, now());
    const there = await this.list(zone.id);
    if (there.length >= MAX_CUSTOM) {
      const message = `A zone has at most ${MAX_CUSTOM} custom certificates`;
      throw new CertificateFault("too-many", message);
    }
    const id = randomId();
    const certificate: Certificate = {
      ...blankCertificate({ id, zoneId: zone.id, type: input.type, createdAt: now() }),
      ...chain,
      sealedKey: sealPrivateKey(sealKey, id, privateKey),
      bundleMethod: input.bundleMethod,
      priority: (there[0]?.priority ?? 0) + 1,
    };
    try {
      await store.add(certificate);
    } catch (error) {
      if (!isDatabaseFault(error, "reference")) throw error;
      throw new CertificateFault("not-found", "The zone has gone meanwhile");
    }
    return certificate;
  }

  /** Replaces what is given; what is left out stays, and must fit. */
  edit(
    zone: CertifiedZone,
    id: string,
    change: Partial<Omit<CustomInput, "type">>,
  ): Promise<Certificate> {
    const { store, now, sealKey } = this.#options;
    return untilUndisturbed(async () => {
      const seen = await this.get(zone.id, id);
      const given = {
        certificate: change.certificate ?? seen.chain!,
        privateKey: change.privateKey ?? openPrivateKey(sealKey, id, seen.sealedKey!)!,
      };
      const { privateKey, ...chain } = checkPair(given, zone.name, now());
      return store.set(seen, {
        ...chain,
        sealedKey: sealPrivateKey(sealKey, id, privateKey),
        bundleMethod: change.bundleMethod ?? seen.bundleMethod,
        modifiedAt: now(),
      });
    });
  }

  async remove(zoneId: string, id: string): Promise<void> {
    await this.#options.store.remove(await this.get(zoneId, id));
  }

  /** Says which of overlapping certificates goes first; all or none. */
  prioritize(
    zoneId: string,
    priorities: readonly { readonly id: string; readonly priority: number }[],
  ): Promise<Certificate[]> {
    const { store, now } = this.#options;
    return untilUndisturbed(async () => {
      const changes = [];
      for (const { id, priority } of priorities) {
        changes.push([await this.get(zoneId, id), { priority, modifiedAt: now() }] as const);
      }
      await store.setAll(changes);
      return this.list(zoneId);
    });
  }
}
