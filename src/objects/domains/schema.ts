/** The table of hostnames that buckets are public under. */
import { changeLogTables, type Migration } from "#db";

export const DOMAIN_LOG = "bucket_domain";

/** Apart from those of the store itself, which is used without zones too. */
export const bucketDomainMigrations: readonly Migration[] = [
  {
    part: "bucket-domains",
    number: 1,
    sql: (types) => {
      const { text, integer } = types;
      return [
        `CREATE TABLE IF NOT EXISTS bucket_domains (
          hostname ${text} PRIMARY KEY,
          bucket ${integer} NOT NULL REFERENCES buckets (number) ON DELETE CASCADE,
          zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE,
          is_enabled ${integer} NOT NULL
        )`,
        `CREATE INDEX IF NOT EXISTS bucket_domains_by_bucket ON bucket_domains (bucket, hostname)`,
        `CREATE INDEX IF NOT EXISTS bucket_domains_by_zone ON bucket_domains (zone_id)`,
        ...changeLogTables(DOMAIN_LOG, types),
      ];
    },
  },
];
