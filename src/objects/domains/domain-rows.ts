/** The rows of hostnames that buckets are public under. */
import { integer, statement, text } from "#db";
import { flag } from "../schema.ts";

const DOMAIN = "d.hostname, b.name, d.zone_id, d.is_enabled";
const FROM = "bucket_domains d JOIN buckets b ON b.number = d.bucket";
const domain = { hostname: text, bucket: text, zoneId: text, enabled: flag };

export const everyDomain = statement({ sql: `SELECT ${DOMAIN} FROM ${FROM}`, gives: domain });
export const domainsOfBucket = statement({
  sql: `SELECT ${DOMAIN} FROM ${FROM} WHERE d.bucket = :bucket ORDER BY d.hostname`,
  takes: { bucket: integer },
  gives: domain,
});
export const addDomain = statement({
  sql: `INSERT INTO bucket_domains (hostname, bucket, zone_id, is_enabled)
        VALUES (:hostname, :bucket, :zoneId, :enabled)`,
  takes: { hostname: text, bucket: integer, zoneId: text, enabled: flag },
});
export const setEnabled = statement({
  sql: `UPDATE bucket_domains SET is_enabled = :enabled
        WHERE bucket = :bucket AND hostname = :hostname`,
  takes: { bucket: integer, hostname: text, enabled: flag },
});
export const removeDomain = statement({
  sql: "DELETE FROM bucket_domains WHERE bucket = :bucket AND hostname = :hostname",
  takes: { bucket: integer, hostname: text },
});
