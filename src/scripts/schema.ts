/** The tables of scripts, and the kinds of column they have. */
import { changeLogTables, type Column, type Migration } from "#db";

export const scriptMigrations: readonly Migration[] = [
  {
    part: "scripts",
    number: 1,
    sql: (types) => {
      const { text, integer, bytes } = types;
      const ofScript = `script_id ${text} NOT NULL REFERENCES scripts (id) ON DELETE CASCADE`;
      const ofZone = `zone_id ${text} NOT NULL REFERENCES zones (id) ON DELETE CASCADE`;
      return [
        `CREATE TABLE IF NOT EXISTS scripts (
          id ${text} PRIMARY KEY,
          account_id ${text} NOT NULL REFERENCES accounts (id),
          name ${text} NOT NULL,
          created_at ${integer} NOT NULL,
          modified_at ${integer} NOT NULL,
          version_id ${text},
          on_subdomain ${integer} NOT NULL,
          settings ${text} NOT NULL,
          revision ${integer} NOT NULL,
          last_number ${integer} NOT NULL,
          UNIQUE (account_id, name)
        )`,
        // `manifest` is all of a version but octets and secrets, which it names.
        `CREATE TABLE IF NOT EXISTS script_versions (
          id ${text} PRIMARY KEY,
          ${ofScript},
          number ${integer} NOT NULL,
          created_at ${integer} NOT NULL,
          author ${text} NOT NULL,
          message ${text},
          tag ${text},
          made_by ${text} NOT NULL,
          manifest ${text} NOT NULL,
          UNIQUE (script_id, number)
        )`,
        // Octets by their SHA-256: versions that differ in one module, or in a secret, share the rest.
        `CREATE TABLE IF NOT EXISTS script_parts (
          ${ofScript},
          hash ${text} NOT NULL,
          content ${bytes} NOT NULL,
          PRIMARY KEY (script_id, hash)
        )`,
        `CREATE TABLE IF NOT EXISTS script_secrets (
          ${ofScript},
          id ${text} NOT NULL,
          sealed ${bytes} NOT NULL,
          PRIMARY KEY (script_id, id)
        )`,
        `CREATE TABLE IF NOT EXISTS script_deployments (
          id ${text} PRIMARY KEY,
          ${ofScript},
          number ${integer} NOT NULL,
          version_id ${text} NOT NULL,
          created_at ${integer} NOT NULL,
          author ${text} NOT NULL,
          message ${text},
          made_by ${text} NOT NULL,
          UNIQUE (script_id, number)
        )`,
        `CREATE TABLE IF NOT EXISTS script_subdomains (
          account_id ${text} PRIMARY KEY REFERENCES accounts (id),
          label ${text} NOT NULL UNIQUE
        )`,
        // `pattern_key` is the pattern in the one form that all its spellings have.
        `CREATE TABLE IF NOT EXISTS script_routes (
          id ${text} PRIMARY KEY,
          ${ofZone},
          pattern ${text} NOT NULL,
          pattern_key ${text} NOT NULL,
          script_id ${text} REFERENCES scripts (id) ON DELETE CASCADE,
          UNIQUE (zone_id, pattern_key)
        )`,
        `CREATE INDEX IF NOT EXISTS script_routes_by_script ON script_routes (script_id)`,
        `CREATE TABLE IF NOT EXISTS script_domains (
          id ${text} PRIMARY KEY,
          ${ofZone},
          hostname ${text} NOT NULL UNIQUE,
          ${ofScript},
          environment ${text} NOT NULL
        )`,
        `CREATE INDEX IF NOT EXISTS script_domains_by_script ON script_domains (script_id)`,
        `CREATE INDEX IF NOT EXISTS script_domains_by_zone ON script_domains (zone_id)`,
        `CREATE TABLE IF NOT EXISTS script_schedules (
          ${ofScript},
          cron ${text} NOT NULL,
          created_at ${integer} NOT NULL,
          modified_at ${integer} NOT NULL,
          PRIMARY KEY (script_id, cron)
        )`,
        // The minutes, since 1970, that some node has taken upon itself.
        `CREATE TABLE IF NOT EXISTS script_runs (
          ${ofScript},
          cron ${text} NOT NULL,
          minute ${integer} NOT NULL,
          PRIMARY KEY (script_id, cron, minute)
        )`,
        ...changeLogTables("script", types),
      ];
    },
  },
];

export const flag: Column<boolean> = {
  encode: (value) => (value ? 1 : 0),
  decode: (value) => Number(value) === 1,
};
