/** Versions and deployments in the API's spelling. */
import type { Deployment, VersionDetail, VersionInfo } from "#scripts";
import { showBinding } from "../scripts/bindings.ts";
import { showStart, SOURCE } from "../scripts/shape.ts";
import { showTime } from "../shapes.ts";

export function showVersion(version: VersionInfo): object {
  const { id, number, createdAt, author, message, tag, trigger } = version;
  const time = showTime(createdAt);
  return {
    id,
    number,
    metadata: {
      created_on: time,
      modified_on: time,
      source: SOURCE,
      author_email: author,
      has_preview: false,
      hasPreview: false, // Lists of the original spell it so.
    },
    annotations: annotations(trigger, message, tag),
  };
}

export function showVersionDetail(version: VersionDetail): object {
  return {
    ...showVersion(version),
    ...showStart(version),
    resources: {
      bindings: version.bindings.map(showBinding),
      script: {
        etag: version.codeHash,
        last_deployed_from: SOURCE,
        modules: version.modules, // Not of the original: names, types and sizes.
      },
      script_runtime: {
        compatibility_date: version.compatibilityDate,
        compatibility_flags: version.compatibilityFlags,
        usage_model: "standard",
        limits: {},
      },
    },
  };
}

export function showDeployment(deployment: Deployment): object {
  const { id, versionId, createdAt, author, message, trigger } = deployment;
  return {
    id,
    source: SOURCE,
    strategy: "percentage",
    author_email: author,
    annotations: annotations(trigger, message, null),
    created_on: showTime(createdAt),
    versions: [{ version_id: versionId, percentage: 100 }],
  };
}

function annotations(trigger: string, message: string | null, tag: string | null): object {
  return {
    "workers/triggered_by": trigger,
    ...(message !== null && { "workers/message": message }),
    ...(tag !== null && { "workers/tag": tag }),
  };
}
