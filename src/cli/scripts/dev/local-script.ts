/** A built project as the runtime takes it on this machine. */
import { randomUUID } from "node:crypto";
import type { Binding, RunnableScript } from "#scripts";
import type { Bundle } from "../../project/bundle.ts";
import type { RunnableProject } from "../project-options.ts";

/** There is one script here; its versions come and go. */
export const SCRIPT_ID = "d".repeat(32);

export interface LocalScript {
  readonly project: RunnableProject;
  readonly bundle: Bundle;
  /** From `.dev.vars`: these win over vars of the same name. */
  readonly secrets: Readonly<Record<string, string>>;
}

export function runnableScript(local: LocalScript, accountId: string, now: number): RunnableScript {
  const { project, bundle } = local;
  return {
    id: SCRIPT_ID,
    accountId,
    name: project.name,
    versionId: randomUUID(),
    tag: null,
    versionCreatedAt: now,
    main: bundle.main,
    modules: bundle.modules,
    compatibilityDate: project.compatibilityDate,
    compatibilityFlags: project.compatibilityFlags,
    bindings: bindingsOf(local),
  };
}

function bindingsOf({ project, secrets }: LocalScript): Binding[] {
  const vars = Object.entries(project.vars).filter(([name]) => !Object.hasOwn(secrets, name));
  return [
    ...vars.map(([name, value]): Binding =>
      typeof value === "string"
        ? { type: "text", name, text: value }
        : { type: "json", name, json: value },
    ),
    ...Object.entries(secrets).map(([name, text]) => ({ type: "secret" as const, name, text })),
    ...project.buckets.map(({ binding, bucketName, keepsDelimiter }) => ({
      type: "bucket" as const,
      name: binding,
      bucketName,
      keepsDelimiter,
    })),
    ...project.services.map(({ binding, service, entrypoint }) => ({
      type: "service" as const,
      name: binding,
      service,
      entrypoint,
    })),
    ...(project.versionBinding === null
      ? []
      : [{ type: "version" as const, name: project.versionBinding }]),
  ];
}

/** Stands in for a script that does not run here, so that the one that binds it can. */
export function absentService(name: string, user: RunnableScript): RunnableScript {
  const entrypoints = user.bindings.flatMap((binding) =>
    binding.type === "service" && binding.service === name ? [binding.entrypoint] : [],
  );
  const said = JSON.stringify(`The service ${name} does not run here\n`);
  const source = [
    `const absent = { fetch: () => new Response(${said}, { status: 503 }) };`,
    "export default absent;",
    ...[...new Set(entrypoints)]
      .filter((one) => one !== null)
      .map((one) => `export { absent as ${one} };`),
  ].join("\n");
  return {
    ...user,
    id: `absent-${name}`,
    name,
    main: "absent.js",
    modules: [{ name: "absent.js", type: "esm", content: new TextEncoder().encode(source) }],
    compatibilityFlags: [],
    bindings: [],
  };
}
