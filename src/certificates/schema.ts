/** The tables of certificates, and the statements that read and write them. */
import {
  bytes,
  changeLogTables,
  integer,
  json,
  maybe,
  type Migration,
  statement,
  text,
  time,
  word,
} from "#db";
import type { Certificate, PackWishes, PendingOrder } from "./model.ts";

/** The name of the log by which nodes follow each other. */
export const LOG = "certificate";

export const certificateMigrations: readonly Migration[] = [
  {
    part: "certificates",
    number: 1,
    sql: (types) => [
      `CREATE TABLE IF NOT EXISTS certificates (
        id ${types.text} PRIMARY KEY,
        zone_id ${types.text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE,
        type ${types.text} NOT NULL,
        hosts ${types.text} NOT NULL,
        chain ${types.text},
        sealed_key ${types.bytes},
        not_before ${types.integer} NOT NULL,
        not_after ${types.integer} NOT NULL,
        bundle_method ${types.text} NOT NULL,
        priority ${types.integer} NOT NULL,
        wishes ${types.text} NOT NULL,
        created_at ${types.integer} NOT NULL,
        modified_at ${types.integer} NOT NULL,
        pending_order ${types.text},
        next_at ${types.integer},
        failures ${types.integer} NOT NULL,
        fault ${types.text},
        revision ${types.integer} NOT NULL
      )`,
      `CREATE INDEX IF NOT EXISTS certificates_by_zone ON certificates (zone_id)`,
      // Zones that shall have no certificate by themselves.
      `CREATE TABLE IF NOT EXISTS certificate_opt_outs (
        zone_id ${types.text} PRIMARY KEY REFERENCES zones (id) ON DELETE CASCADE
      )`,
      // The key is here before the authority knows it: a cut registration is done again with the same.
      `CREATE TABLE IF NOT EXISTS acme_accounts (
        directory ${types.text} PRIMARY KEY,
        sealed_key ${types.bytes} NOT NULL,
        kid ${types.text}
      )`,
      ...changeLogTables(LOG, types),
    ],
  },
];

/** What of a certificate may change, and how it is known. */
const changing = {
  id: text,
  hosts: json<readonly string[]>(),
  chain: maybe(text),
  sealedKey: maybe(bytes),
  notBefore: time,
  notAfter: time,
  bundleMethod: text,
  priority: integer,
  modifiedAt: time,
  order: maybe(json<PendingOrder>()),
  nextAt: maybe(time),
  failures: integer,
  fault: maybe(text),
  revision: integer,
};
const certificate = {
  zoneId: text,
  type: word<Certificate["type"]>(),
  wishes: json<PackWishes>(),
  createdAt: time,
  ...changing,
};
const COLUMNS = `zone_id, type, wishes, created_at, id, hosts, chain, sealed_key, not_before, not_after,
  bundle_method, priority, modified_at, pending_order, next_at, failures, fault, revision`;
const VALUES = `:zoneId, :type, :wishes, :createdAt, :id, :hosts, :chain, :sealedKey, :notBefore, :notAfter,
  :bundleMethod, :priority, :modifiedAt, :order, :nextAt, :failures, :fault, :revision`;

export const everyCertificate = statement({
  sql: `SELECT ${COLUMNS} FROM certificates`,
  gives: certificate,
});
export const certificateById = statement({
  sql: `SELECT ${COLUMNS} FROM certificates WHERE id = :id`,
  takes: { id: text },
  gives: certificate,
});
export const certificatesOfZone = statement({
  sql: `SELECT ${COLUMNS} FROM certificates WHERE zone_id = :zoneId ORDER BY created_at, id`,
  takes: { zoneId: text },
  gives: certificate,
});
export const addCertificate = statement({
  sql: `INSERT INTO certificates (${COLUMNS}) VALUES (${VALUES})`,
  takes: certificate,
});
export const setCertificate = statement({
  sql: `UPDATE certificates SET hosts = :hosts, chain = :chain, sealed_key = :sealedKey,
        not_before = :notBefore, not_after = :notAfter, bundle_method = :bundleMethod, priority = :priority,
        modified_at = :modifiedAt, pending_order = :order, next_at = :nextAt, failures = :failures,
        fault = :fault, revision = revision + 1
        WHERE id = :id AND revision = :revision`,
  takes: changing,
});
export const removeCertificate = statement({
  sql: "DELETE FROM certificates WHERE id = :id",
  takes: { id: text },
});

export const everyOptOut = statement({
  sql: "SELECT zone_id FROM certificate_opt_outs",
  gives: { zoneId: text },
});
export const addOptOut = statement({
  sql: "INSERT INTO certificate_opt_outs (zone_id) VALUES (:zoneId) ON CONFLICT (zone_id) DO NOTHING",
  takes: { zoneId: text },
});
export const removeOptOut = statement({
  sql: "DELETE FROM certificate_opt_outs WHERE zone_id = :zoneId",
  takes: { zoneId: text },
});

export const accountOf = statement({
  sql: "SELECT sealed_key, kid FROM acme_accounts WHERE directory = :directory",
  takes: { directory: text },
  gives: { sealedKey: bytes, kid: maybe(text) },
});
export const addAccount = statement({
  sql: `INSERT INTO acme_accounts (directory, sealed_key) VALUES (:directory, :sealedKey)
        ON CONFLICT (directory) DO NOTHING`,
  takes: { directory: text, sealedKey: bytes },
});
export const setAccountId = statement({
  sql: "UPDATE acme_accounts SET kid = :kid WHERE directory = :directory",
  takes: { directory: text, kid: maybe(text) },
});
