/** Certificates for tests: on each engine, with zones that need nothing more than their ids. */
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { type Database, migrate, openDatabase } from "#db";
import { makeCertificate } from "#kit/x509.ts";
import { freshPostgresUrl, stopOwnPostgres } from "../../test/support/postgres.ts";
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

/** Runs the suite on both engines; `open` gives another connection to the same database. */
export function onBothEngines(
  name: string,
  define: (db: () => Database, open: () => Promise<Database>, engine: Database["engine"]) => void,
): void {
  for (const engine of ["sqlite", "postgres"] as const) {
    suite(`${name}, on ${engine}`, () => {
      let folder: string;
      let url: string;
      let db: Database;
      const open = () => openDatabase({ url, dataDir: folder, onError: assert.fail });
      before(async () => {
        folder = await mkdtemp(join(tmpdir(), "selvedge-certificates-"));
        url = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
        db = await open();
        const options = { holder: "test", now: Date.now, sleep: async () => {} };
        await migrate(db, [others, ...certificateMigrations], options);
      });
      after(async () => {
        await db[Symbol.asyncDispose]();
        await rm(folder, { recursive: true });
      });
      define(() => db, open, engine);
    });
  }
  after(stopOwnPostgres);
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
