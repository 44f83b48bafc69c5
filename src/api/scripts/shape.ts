/** A script in the API's spelling. */
import type { Script, VersionDetail } from "#scripts";
import { showTime } from "../shapes.ts";

/** There is one environment, and one price. */
export const ENVIRONMENT_NAME = "production";
const COMMON = { usage_model: "standard", tail_consumers: null, has_assets: false } as const;
/** Where changes come from. Of any other place wrangler warns before it deploys. */
export const SOURCE = "wrangler";

export function showScript(script: Script, version: VersionDetail | null = null): object {
  const { id, name, createdAt, modifiedAt, settings } = script;
  return {
    id: name,
    tag: id,
    tags: settings.tags,
    logpush: settings.logpush,
    observability: settings.observability,
    created_on: showTime(createdAt),
    modified_on: showTime(modifiedAt),
    last_deployed_from: SOURCE,
    available_on_subdomain: script.onSubdomain,
    ...COMMON,
    ...(version !== null && showCode(version)),
  };
}

function showCode(version: VersionDetail): object {
  return {
    etag: version.codeHash,
    has_modules: version.main !== null,
    compatibility_date: version.compatibilityDate,
    compatibility_flags: version.compatibilityFlags,
  };
}

/** Versions of old did not note it. */
export function showStart({ startMs }: VersionDetail): object {
  return startMs === null ? {} : { startup_time_ms: startMs };
}

export function showSettings({ settings }: Script): object {
  const { tags, logpush, observability } = settings;
  return { tags, logpush, observability, tail_consumers: null };
}
