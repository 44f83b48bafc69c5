/** Shows one version of a script. */
import { arg, command } from "../command.ts";
import { showSize, showTime } from "../units.ts";
import { showBinding } from "./changes.ts";
import { scriptOf, scriptOptions } from "./project-options.ts";
import { allVersions, findVersion, madeBy, messageOf, tagOf, type VersionView } from "./version.ts";

export const viewVersion = command({
  path: "versions view",
  summary: "show what a version of a script holds",
  args: { version: arg("its number, its id, or the beginning of that") },
  options: scriptOptions,
  examples: [["selvedge versions view 3", "the third version of this project's script"]],
  json: "the version",
  async run({ args, options }, context) {
    const { path } = await scriptOf(options, context);
    const { id } = findVersion(await allVersions(context, path), args.version);
    const version = await context.api.get<VersionView>(`${path}/versions/${id}`);
    context.out.result(version, () => context.out.fields(fieldsOf(version)));
  },
});

function fieldsOf(version: VersionView): (readonly [string, string])[] {
  const { metadata, resources } = version;
  const { compatibility_date: date = "", compatibility_flags: flags = [] } =
    resources.script_runtime;
  return [
    ["version", version.id],
    ["number", String(version.number)],
    ["made", `${showTime(metadata.created_on)} ${metadata.author_email ?? ""}`.trimEnd()],
    ["by", madeBy(version)],
    ["tag", tagOf(version)],
    ["message", messageOf(version)],
    ["compatibility", [date, ...flags].join(" ")],
    ...(resources.script.modules ?? []).map(
      ({ name, type, size }) => ["module", `${name} (${type}, ${showSize(size)})`] as const,
    ),
    ...resources.bindings.map((one) => ["binding", `${one.name}: ${showBinding(one)}`] as const),
  ];
}
