/** The statements that read and write routes and custom domains. */
import { maybe, statement, text } from "#db";

const route = { id: text, zoneId: text, pattern: text, key: text, scriptId: maybe(text) };
const ROUTE = "id, zone_id, pattern, pattern_key, script_id";

/** With the name of the script. */
const shownRoute = { id: text, zoneId: text, pattern: text, script: maybe(text) };
const SHOWN_ROUTE = `SELECT r.id, r.zone_id, r.pattern, s.name FROM script_routes r
  LEFT JOIN scripts s ON s.id = r.script_id`;

export const everyRoute = statement({ sql: `SELECT ${ROUTE} FROM script_routes`, gives: route });
export const routesOfZone = statement({
  sql: `SELECT ${ROUTE} FROM script_routes WHERE zone_id = :zoneId`,
  takes: { zoneId: text },
  gives: route,
});
export const routeByKey = statement({
  sql: `${SHOWN_ROUTE} WHERE r.zone_id = :zoneId AND r.pattern_key = :key`,
  takes: { zoneId: text, key: text },
  gives: shownRoute,
});
export const shownRoutesOfZone = statement({
  sql: `${SHOWN_ROUTE} WHERE r.zone_id = :zoneId ORDER BY r.pattern_key`,
  takes: { zoneId: text },
  gives: shownRoute,
});
export const shownRoutesOfScript = statement({
  sql: `${SHOWN_ROUTE} WHERE r.script_id = :scriptId ORDER BY r.zone_id, r.pattern_key`,
  takes: { scriptId: text },
  gives: shownRoute,
});
export const shownRouteById = statement({
  sql: `${SHOWN_ROUTE} WHERE r.zone_id = :zoneId AND r.id = :id`,
  takes: { zoneId: text, id: text },
  gives: shownRoute,
});
export const addRoute = statement({
  sql: `INSERT INTO script_routes (${ROUTE}) VALUES (:id, :zoneId, :pattern, :key, :scriptId)`,
  takes: route,
});
export const setRoute = statement({
  sql: `UPDATE script_routes SET pattern = :pattern, pattern_key = :key, script_id = :scriptId
        WHERE zone_id = :zoneId AND id = :id`,
  takes: route,
});
export const removeRoute = statement({
  sql: "DELETE FROM script_routes WHERE zone_id = :zoneId AND id = :id",
  takes: { zoneId: text, id: text },
});

const domain = { id: text, zoneId: text, hostname: text, scriptId: text, environment: text };
const DOMAIN = "id, zone_id, hostname, script_id, environment";

const shownDomain = {
  id: text,
  zoneId: text,
  hostname: text,
  environment: text,
  accountId: text,
  service: text,
};
const SHOWN_DOMAIN = `SELECT d.id, d.zone_id, d.hostname, d.environment, s.account_id, s.name
  FROM script_domains d JOIN scripts s ON s.id = d.script_id WHERE s.account_id = :accountId`;

export const everyDomain = statement({
  sql: `SELECT ${DOMAIN} FROM script_domains`,
  gives: domain,
});
export const shownDomainsOfAccount = statement({
  sql: `${SHOWN_DOMAIN} ORDER BY d.hostname`,
  takes: { accountId: text },
  gives: shownDomain,
});
export const shownDomainById = statement({
  sql: `${SHOWN_DOMAIN} AND d.id = :id`,
  takes: { accountId: text, id: text },
  gives: shownDomain,
});
/** What another account has stays as it is. */
export const putDomain = statement({
  sql: `INSERT INTO script_domains (${DOMAIN}) VALUES (:id, :zoneId, :hostname, :scriptId, :environment)
        ON CONFLICT (hostname) DO UPDATE SET zone_id = excluded.zone_id,
        script_id = excluded.script_id, environment = excluded.environment
        WHERE (SELECT account_id FROM scripts WHERE id = script_domains.script_id) =
              (SELECT account_id FROM scripts WHERE id = excluded.script_id)
        RETURNING id`,
  takes: domain,
  gives: { id: text },
});
export const removeDomain = statement({
  sql: "DELETE FROM script_domains WHERE id = :id",
  takes: { id: text },
});
