/** The statements that read and write scripts, their versions and what these hold. */
import { bytes, integer, json, maybe, type RowOf, statement, text, time } from "#db";
import type { Manifest } from "./manifest.ts";
import type { ScriptSettings } from "./model.ts";
import { flag } from "./schema.ts";

const script = {
  id: text,
  accountId: text,
  name: text,
  createdAt: time,
  modifiedAt: time,
  versionId: maybe(text),
  onSubdomain: flag,
  settings: json<ScriptSettings>(),
  revision: integer,
};
const SCRIPT =
  "id, account_id, name, created_at, modified_at, version_id, on_subdomain, settings, revision";
const scriptRow = { ...script, lastNumber: integer };

export type ScriptRow = RowOf<typeof scriptByName>;

export const scriptByName = statement({
  sql: `SELECT ${SCRIPT}, last_number FROM scripts WHERE account_id = :accountId AND name = :name`,
  takes: { accountId: text, name: text },
  gives: scriptRow,
});
export const scriptById = statement({
  sql: `SELECT ${SCRIPT} FROM scripts WHERE id = :id`,
  takes: { id: text },
  gives: script,
});
export const scriptsOfAccount = statement({
  sql: `SELECT ${SCRIPT} FROM scripts WHERE account_id = :accountId ORDER BY name`,
  takes: { accountId: text },
  gives: script,
});
export const everyScript = statement({ sql: `SELECT ${SCRIPT} FROM scripts`, gives: script });
export const numberOfScripts = statement({
  sql: "SELECT COUNT(*) FROM scripts WHERE account_id = :accountId",
  takes: { accountId: text },
  gives: { scripts: integer },
});
/** Changes no row once the account has more scripts than this: the guard of a write that adds one. */
export const withinScripts = statement({
  sql: `UPDATE scripts SET name = name WHERE id = :id AND :most >=
        (SELECT COUNT(*) FROM scripts WHERE account_id = :accountId)`,
  takes: { id: text, most: integer, accountId: text },
});
export const addScript = statement({
  sql: `INSERT INTO scripts (${SCRIPT}, last_number) VALUES (:id, :accountId, :name, :createdAt, :modifiedAt,
        :versionId, :onSubdomain, :settings, :revision, :lastNumber)`,
  takes: scriptRow,
});
export const setScript = statement({
  sql: `UPDATE scripts SET modified_at = :modifiedAt, version_id = :versionId,
        on_subdomain = :onSubdomain, settings = :settings, revision = :revision,
        last_number = :lastNumber WHERE id = :id AND revision = :seen`,
  takes: {
    id: text,
    modifiedAt: time,
    versionId: maybe(text),
    onSubdomain: flag,
    settings: json<ScriptSettings>(),
    revision: integer,
    lastNumber: integer,
    seen: integer,
  },
});
export const removeScript = statement({
  sql: "DELETE FROM scripts WHERE id = :id AND revision = :seen",
  takes: { id: text, seen: integer },
});

const info = {
  id: text,
  number: integer,
  createdAt: time,
  author: text,
  message: maybe(text),
  tag: maybe(text),
  trigger: text,
};
const INFO = "id, number, created_at, author, message, tag, made_by";
const version = { ...info, manifest: json<Manifest>() };

export type VersionRow = RowOf<typeof versionById>;

export const versionById = statement({
  sql: `SELECT ${INFO}, manifest FROM script_versions WHERE script_id = :scriptId AND id = :id`,
  takes: { scriptId: text, id: text },
  gives: version,
});
export const latestVersion = statement({
  sql: `SELECT ${INFO}, manifest FROM script_versions WHERE script_id = :scriptId
        ORDER BY number DESC LIMIT 1`,
  takes: { scriptId: text },
  gives: version,
});
export const versionPage = statement({
  sql: `SELECT ${INFO} FROM script_versions WHERE script_id = :scriptId
        ORDER BY number DESC LIMIT :limit OFFSET :offset`,
  takes: { scriptId: text, limit: integer, offset: integer },
  gives: info,
});
export const numberOfVersions = statement({
  sql: "SELECT COUNT(*) FROM script_versions WHERE script_id = :scriptId",
  takes: { scriptId: text },
  gives: { versions: integer },
});
export const manifestsOfScript = statement({
  sql: "SELECT id, number, manifest FROM script_versions WHERE script_id = :scriptId",
  takes: { scriptId: text },
  gives: { id: text, number: integer, manifest: json<Manifest>() },
});
/** What the scripts of an account run now. */
export const deployedManifests = statement({
  sql: `SELECT s.name, v.manifest FROM scripts s JOIN script_versions v ON v.id = s.version_id
        WHERE s.account_id = :accountId ORDER BY s.name`,
  takes: { accountId: text },
  gives: { name: text, manifest: json<Manifest>() },
});
export const addVersion = statement({
  sql: `INSERT INTO script_versions (script_id, ${INFO}, manifest) VALUES (:scriptId, :id, :number,
        :createdAt, :author, :message, :tag, :trigger, :manifest)`,
  takes: { scriptId: text, ...version },
});
export const removeVersion = statement({
  sql: "DELETE FROM script_versions WHERE id = :id",
  takes: { id: text },
});

export const partHashes = statement({
  sql: "SELECT hash FROM script_parts WHERE script_id = :scriptId",
  takes: { scriptId: text },
  gives: { hash: text },
});
export const partByHash = statement({
  sql: "SELECT content FROM script_parts WHERE script_id = :scriptId AND hash = :hash",
  takes: { scriptId: text, hash: text },
  gives: { content: bytes },
});
export const addPart = statement({
  sql: "INSERT INTO script_parts (script_id, hash, content) VALUES (:scriptId, :hash, :content)",
  takes: { scriptId: text, hash: text, content: bytes },
});
export const removePart = statement({
  sql: "DELETE FROM script_parts WHERE script_id = :scriptId AND hash = :hash",
  takes: { scriptId: text, hash: text },
});

export const secretById = statement({
  sql: "SELECT sealed FROM script_secrets WHERE script_id = :scriptId AND id = :id",
  takes: { scriptId: text, id: text },
  gives: { sealed: bytes },
});
export const addSecret = statement({
  sql: "INSERT INTO script_secrets (script_id, id, sealed) VALUES (:scriptId, :id, :sealed)",
  takes: { scriptId: text, id: text, sealed: bytes },
});
export const removeSecret = statement({
  sql: "DELETE FROM script_secrets WHERE script_id = :scriptId AND id = :id",
  takes: { scriptId: text, id: text },
});

const deployment = {
  id: text,
  versionId: text,
  createdAt: time,
  author: text,
  message: maybe(text),
  trigger: text,
};
const DEPLOYMENT = "id, version_id, created_at, author, message, made_by";

export const deploymentsOfScript = statement({
  sql: `SELECT ${DEPLOYMENT} FROM script_deployments WHERE script_id = :scriptId
        ORDER BY number DESC LIMIT :limit`,
  takes: { scriptId: text, limit: integer },
  gives: deployment,
});
/** Its number is the script's revision, which rises. */
export const addDeployment = statement({
  sql: `INSERT INTO script_deployments (script_id, number, ${DEPLOYMENT})
        VALUES (:scriptId, :number, :id, :versionId, :createdAt, :author, :message, :trigger)`,
  takes: { scriptId: text, number: integer, ...deployment },
});
export const forgetDeployments = statement({
  sql: `DELETE FROM script_deployments WHERE script_id = :scriptId AND number < (SELECT MIN(number) FROM
        (SELECT number FROM script_deployments WHERE script_id = :scriptId
         ORDER BY number DESC LIMIT :kept) AS newest)`,
  takes: { scriptId: text, kept: integer },
});

export const subdomainOf = statement({
  sql: "SELECT label FROM script_subdomains WHERE account_id = :accountId",
  takes: { accountId: text },
  gives: { label: text },
});
export const everySubdomain = statement({
  sql: "SELECT account_id, label FROM script_subdomains",
  gives: { accountId: text, label: text },
});
export const addSubdomain = statement({
  sql: `INSERT INTO script_subdomains (account_id, label) VALUES (:accountId, :label)
        ON CONFLICT (account_id) DO NOTHING`,
  takes: { accountId: text, label: text },
});
export const setSubdomain = statement({
  sql: `INSERT INTO script_subdomains (account_id, label) VALUES (:accountId, :label)
        ON CONFLICT (account_id) DO UPDATE SET label = excluded.label`,
  takes: { accountId: text, label: text },
});
