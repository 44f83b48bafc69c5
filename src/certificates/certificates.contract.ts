/** Certificates for tests: on each engine, with zones that need nothing more than their ids. */
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Database } from "#db";
import { makeCertificate } from "#kit/x509.ts";
import {
  type DefineOnEngine,
  onBothEngines as onEngines,
} from "../../test/support/both-engines.ts";
import { Certificates, type CertificatesOptions } from "./certificates.ts";
import { CertificateFault, type CertificateFaultKind } from "./fault.ts";
import { certificateMigrations } from "./schema.ts";

export const ZONE = { id: "1".repeat(32), name: "example.com" };
export const BELOW = { id: "2".repeat(32), name: "sub.example.com" };
export const NOW = Date.UTC(2026, 10, 15, 12);
export const DAY_MS = 86_400_000;

/** Certificates belong to zones, whose table is another part's. */
const others = {
  part: "others",
  number: 1,
  sql: ({ text }: { text: string }) => [
    `CREATE TABLE zones (id ${text} PRIMARY KEY)`,
    `INSERT INTO zones (id) VALUES ('${ZONE.id}'), ('${BELOW.id}')`,
  ],
};

/** On the tables of this part, and what they refer to of others. */
export function onBothEngines(name: string, define: DefineOnEngine): void {
  onEngines(name, [others, ...certificateMigrations], define);
}

export async function openCertificates(
  db: Database,
  options: Partial<CertificatesOptions> = {},
): Promise<Certificates> {
  const certificates = await Certificates.open({
    db,
    now: () => NOW,
    sealKey: new Uint8Array(32).fill(7),
    local: null,
    ownDomains: [],
    hasAcme: true,
    isWanted: async () => true,
    ...options,
  });
  certificates.addZone(ZONE);
  return certificates;
}

export const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
export const pemOf = (key: KeyObject) => key.export({ type: "pkcs8", format: "pem" });

export interface TestPair {
  readonly certificate: string;
  readonly privateKey: string;
}

/** A certificate for these names and its key; another's may sign it. */
export function makePair(
  names: readonly string[],
  { days = 90, key = newKey(), issuer = { subject: "Tests", privateKey: newKey() } } = {},
): TestPair {
  const certificate = makeCertificate({
    publicKey: createPublicKey(key),
    subject: names[0] ?? "nobody",
    names,
    addresses: [],
    isAuthority: false,
    issuer,
    validFrom: NOW - DAY_MS,
    validUntil: NOW + days * DAY_MS,
    serial: new Uint8Array(16).fill(1),
  });
  return { certificate, privateKey: pemOf(key) };
}

export const is = (kind: CertificateFaultKind, says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof CertificateFault, String(error));
  assert.equal(error.kind, kind, error.message);
  assert.match(error.message, says);
  return true;
};
