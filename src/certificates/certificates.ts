/** Certificates of zones: which one serves a hostname, and the parts that bring and keep them. */
import type { Database } from "#db";
import type { Log } from "#kit/log.ts";
import { type CertificateListener, CertificateStore } from "./certificate-store.ts";
import { CustomCertificates } from "./custom-certificates.ts";
import { isHostname } from "./hosts.ts";
import type { LocalAuthority } from "./local-authority.ts";
import { type Certificate, type CertifiedZone, isCustom, type ServedCertificate } from "./model.ts";
import { Packs } from "./packs.ts";
import { openPrivateKey } from "./sealed-keys.ts";

export interface CertificatesOptions {
  readonly db: Database;
  readonly now: () => number;
  readonly sealKey: Uint8Array;
  /** Serves names that have no other certificate; null leaves them without. */
  readonly local: LocalAuthority | null;
  /** Domains that are served and are no zones. */
  readonly ownDomains: readonly string[];
  /** Whether packs can be had. */
  readonly hasAcme: boolean;
  /** Whether a zone has names that its own certificate is for. */
  readonly isWanted: (zoneId: string) => Promise<boolean>;
}

export class Certificates {
  readonly #options: CertificatesOptions;
  /** For what issues and renews. */
  readonly store: CertificateStore;
  readonly custom: CustomCertificates;
  readonly packs: Packs;
  /** Ids of zones by name; those of own domains are null. */
  readonly #zones: Map<string, string | null>;
  readonly #served = new Map<string, ServedCertificate>();

  private constructor(options: CertificatesOptions, store: CertificateStore) {
    this.#options = options;
    this.store = store;
    this.custom = new CustomCertificates({ ...options, store });
    this.packs = new Packs({ ...options, store, zoneOf: (hostname) => this.#zoneOf(hostname) });
    this.#zones = new Map(options.ownDomains.map((name) => [name, null]));
    store.follow({ changed: () => {}, removed: ({ id }) => void this.#served.delete(id) });
  }

  static async open(options: CertificatesOptions): Promise<Certificates> {
    return new Certificates(options, await CertificateStore.open(options.db));
  }

  follow(listener: CertificateListener): void {
    this.store.follow(listener);
  }

  /** Follows the changes of other nodes until it is disposed of; null where there are none. */
  followOthers({ log }: { readonly log: Log }): Promise<AsyncDisposable | null> {
    return this.store.feed.follow(log);
  }

  /** Hostnames are served that lie in zones which were told of here. */
  addZone({ id, name }: CertifiedZone): void {
    this.#zones.set(name, id);
  }

  removeZone({ id, name }: CertifiedZone): void {
    if (this.#zones.get(name) === id) this.#zones.delete(name); // A namesake may have come meanwhile.
    this.store.forgetZone(id);
  }

  /**
   * What serves a hostname (lower case, no dot at its end); null when it lies in no zone here. A zone's names
   * are served by certificates of that zone only, also where another zone lies above it.
   */
  forHost(hostname: string): ServedCertificate | null {
    const { now, local } = this.#options;
    const apex = this.#zoneOf(hostname);
    if (apex === null) return null;
    const zoneId = this.#zones.get(apex)!;
    if (zoneId !== null) {
      const found = this.store.find(zoneId, hostname, now());
      const served = found && this.#serve(found);
      if (served !== null) return served;
      if (this.store.hasOptedOut(zoneId)) return null;
    }
    // A stranger may ask for anything; a certificate is made for what could be a name.
    if (local === null || !isHostname(hostname)) return null;
    return local.leafFor(wildcardBase(hostname, apex));
  }

  #serve(certificate: Certificate): ServedCertificate | null {
    const { id, chain, sealedKey, notAfter } = certificate;
    const known = this.#served.get(id);
    if (known !== undefined && known.cert === chain) return known;
    const key = openPrivateKey(this.#options.sealKey, id, sealedKey!);
    if (key === null) return null; // Damaged: another may serve.
    const source = isCustom(certificate) ? "custom" : "acme";
    const served: ServedCertificate = { id, source, cert: chain!, key, notAfter };
    this.#served.set(id, served);
    return served;
  }

  /** The name of the zone with the most labels that the hostname lies in. */
  #zoneOf(hostname: string): string | null {
    for (let at = 0; ;) {
      const name = at === 0 ? hostname : hostname.slice(at);
      if (this.#zones.has(name)) return name;
      const dot = hostname.indexOf(".", at);
      if (dot === -1) return null;
      at = dot + 1;
    }
  }
}

/** The name that a wildcard for the hostname stands below: the apex, or the parent of a name further down. */
function wildcardBase(hostname: string, apex: string): string {
  const parent = hostname.slice(hostname.indexOf(".") + 1);
  return hostname === apex || parent === apex ? apex : parent;
}
