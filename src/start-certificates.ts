/** The certificates with what they stand on: the zones that they are for, and DNS, where names are proven. */
import { readFile } from "node:fs/promises";
import {
  type AcmeSettings,
  addCertificateMetrics,
  Certificates,
  Issuer,
  type IssuerOptions,
  LocalAuthority,
} from "#certificates";
import type { Database } from "#db";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { ChangedNames, Records, Zone, Zones } from "#zones";
import type { Config } from "./config.ts";

export interface CertificateParts {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly zones: Zones;
  readonly records: Records;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** Under this name changes stand in a zone's history, and their records are known again. */
const ACTOR = "platform:certificates";
const COMMENT = "Proves the zone to a certificate authority; goes by itself.";
/** The least that is allowed: it is asked for once. */
const CHALLENGE_TTL = 60;

export async function startCertificates(
  { dataDir, acme, scriptsDomain }: Pick<Config, "dataDir" | "acme" | "scriptsDomain">,
  { db, sealKey, zones, records, log: whole, metrics, now }: CertificateParts,
  started: AsyncDisposableStack,
): Promise<Certificates> {
  const log = whole.with({ part: "certificates" });
  const isWanted = async (zoneId: string) => {
    for await (const stretch of records.rows(await zones.get(zoneId))) {
      if (stretch.some(isProxied)) return true;
    }
    return false;
  };
  const certificates = await Certificates.open({
    db,
    now,
    sealKey,
    local: await LocalAuthority.open(dataDir, now),
    ownDomains: [scriptsDomain],
    hasAcme: acme !== null,
    isWanted,
  });
  const want = (zone: Zone) => {
    certificates.packs.want(zone).catch((cause: unknown) => {
      log.warn("certificate not ordered", { zone: zone.name, cause });
    });
  };
  const all = await zones.follow({
    changed: (zone, names) => {
      certificates.addZone(zone);
      if (hasProxied(names)) want(zone);
    },
    removed: (zone) => certificates.removeZone(zone),
  });
  for (const zone of all) certificates.addZone(zone);
  started.use(await certificates.followOthers({ log }));
  addCertificateMetrics(metrics, () => certificates.store.known(), now);
  if (acme === null) return certificates;
  const issuer = new Issuer({
    db,
    sealKey,
    store: certificates.store,
    acme: await acmeSettings(acme),
    publish: challengePublisher({ zones, records, log }),
    isWanted,
    now,
    random: Math.random,
    log,
  });
  started.use(issuer.start());
  started.use(wantForKnown(all, records, want, log));
  return certificates;
}

async function acmeSettings(acme: NonNullable<Config["acme"]>): Promise<AcmeSettings> {
  const { caFile, ...settings } = acme;
  try {
    const authorities = caFile === null ? null : await readFile(caFile, "utf8");
    return { ...settings, authorities };
  } catch (cause) {
    throw new Error(`Cannot read ${caFile} (acme.ca_file): ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** Finds the zones that have proxied names already, while other things go on. */
function wantForKnown(
  zones: readonly Zone[],
  records: Records,
  want: (zone: Zone) => void,
  log: Log,
): AsyncDisposable {
  let isStopped = false;
  const numbered = new Map(zones.map((zone) => [zone.number, zone]));
  const search = async () => {
    for await (const stretch of records.rows(null)) {
      if (isStopped) return;
      for (const number of new Set(stretch.filter(isProxied).map(([zone]) => zone))) {
        const zone = numbered.get(number);
        if (zone !== undefined) want(zone);
        numbered.delete(number);
      }
    }
  };
  const searched = search().catch((cause: unknown) => {
    log.warn("zones that need certificates could not be looked for", { cause });
  });
  return {
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await searched;
    },
  };
}

const PROXIED_COLUMN = 6;

function isProxied(row: readonly unknown[]): boolean {
  return row[PROXIED_COLUMN] === 1;
}

function hasProxied(names: ChangedNames): boolean {
  return [...names.values()].some((there) => there.some(({ proxied }) => proxied));
}

/** Writes challenges into their zones. What a cut attempt has left there goes in the same change. */
function challengePublisher({
  zones,
  records,
  log,
}: Pick<CertificateParts, "zones" | "records" | "log">): IssuerOptions["publish"] {
  const replace = async (zoneId: string, name: string, values: readonly string[]) => {
    const there = await records.at(await zones.get(zoneId), name);
    const ours = there.filter(({ type, extra }) => type === "TXT" && extra?.comment === COMMENT);
    const posts = values.map((content) => ({
      type: "TXT",
      name,
      input: { content },
      ttl: CHALLENGE_TTL,
      comment: COMMENT,
    }));
    const deletes = ours.map(({ id }) => id);
    if (deletes.length + posts.length === 0) return;
    await records.batch(zoneId, { deletes, patches: [], puts: [], posts }, { actor: ACTOR });
  };
  return async (zoneId, name, values) => {
    await replace(zoneId, name, values);
    return {
      async [Symbol.asyncDispose]() {
        // What came of the challenge counts, not what is left of it; the next one takes it away.
        await replace(zoneId, name, []).catch((cause: unknown) => {
          log.warn("a challenge was left in its zone", { name, cause });
        });
      },
    };
  };
}
