/** Adds a lifecycle rule to those of a bucket. */
import { arg, command, type Option, text, whole, yes } from "../command.ts";
import { CliFault, wrongUsage } from "../fault.ts";
import {
  confirmDeletes,
  DAY_SECONDS,
  type LifecycleRule,
  lifecycleRules,
  putRules,
  showDeeds,
  showObjects,
  type When,
} from "./lifecycle.ts";

/** What the API takes. */
const MOST_DAYS = 90_000_000;

const days = (help: string) => whole("N", help, { least: 1, most: MOST_DAYS });
const day = (help: string): Option<string | undefined> => ({
  placeholder: "DAY",
  help,
  read: (given) => {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(given) && !Number.isNaN(Date.parse(given));
    // The 30th of February is read as a day of March.
    if (isDay && new Date(given).toISOString().startsWith(given)) return given;
    throw new Error("Write a day such as 2027-01-31.");
  },
});

export const addLifecycle = command({
  path: "bucket lifecycle add",
  summary: "add a rule: delete, move or abort with time",
  description:
    "Adds a rule to those that a bucket has. Rules are carried out when they change, then once a day; days end at midnight UTC. What is deleted cannot be had again.",
  args: { bucket: arg("the bucket's name") },
  options: {
    name: text("NAME", "the rule's name (default: rule-1, rule-2, …)"),
    prefix: text("TEXT", "only for keys that begin so; for all keys without it"),
    expireDays: days("delete objects so many days after they came"),
    expireDate: day("delete objects from this day on, such as 2027-01-31"),
    abortMultipartDays: days("abort uploads that were begun so many days ago"),
    iaTransitionDays: days("make objects InfrequentAccess so many days after they came"),
    iaTransitionDate: day("make objects InfrequentAccess from this day on"),
    yes,
  },
  examples: [
    ["selvedge bucket lifecycle add photos --prefix tmp/ --expire-days 7", "tmp/ is kept a week"],
    ["selvedge bucket lifecycle add photos --name uploads --abort-multipart-days 1", "of any key"],
  ],
  json: "the rule",
  async run({ args: { bucket }, options }, context) {
    const deeds = deedsOf(options); // What is wrong there needs no server.
    const before = await lifecycleRules(context, bucket);
    const { name: id = freeName(before), prefix = "" } = options;
    if (before.some((rule) => rule.id === id)) {
      const advice = `Choose another --name, or remove it with "selvedge bucket lifecycle remove ${bucket} ${id}".`;
      throw new CliFault("failed", `${bucket} has a rule ${id} already. ${advice}`);
    }
    const rule: LifecycleRule = { id, enabled: true, conditions: { prefix }, ...deeds };
    if (!options.yes) await confirmDeletes(context, bucket, [{ ...rule }]);
    await putRules(context, bucket, [...before, rule]);
    const { out } = context;
    out.result(rule, () =>
      out.fields([
        ["Name", id],
        ["Objects", showObjects(rule)],
        ["Does", showDeeds(rule)],
      ]),
    );
  },
});

interface GivenDeeds {
  readonly expireDays: number | undefined;
  readonly expireDate: string | undefined;
  readonly abortMultipartDays: number | undefined;
  readonly iaTransitionDays: number | undefined;
  readonly iaTransitionDate: string | undefined;
}

function deedsOf(given: GivenDeeds): Partial<LifecycleRule> {
  const expire = whenOf("expire", given.expireDays, given.expireDate);
  const move = whenOf("ia-transition", given.iaTransitionDays, given.iaTransitionDate);
  const abort = whenOf("abort-multipart", given.abortMultipartDays, undefined);
  if (expire === null && move === null && abort === null) {
    throw wrongUsage(
      "Say what the rule does: --expire-days, --expire-date, --abort-multipart-days, --ia-transition-days or --ia-transition-date.",
    );
  }
  return {
    ...(expire && { deleteObjectsTransition: { condition: expire } }),
    ...(move && {
      storageClassTransitions: [{ condition: move, storageClass: "InfrequentAccess" }],
    }),
    ...(abort && { abortMultipartUploadsTransition: { condition: abort } }),
  };
}

function whenOf(what: string, days: number | undefined, date: string | undefined): When | null {
  if (days !== undefined && date !== undefined) {
    throw wrongUsage(`Name one of --${what}-days and --${what}-date.`);
  }
  if (days !== undefined) return { type: "Age", maxAge: days * DAY_SECONDS };
  return date === undefined ? null : { type: "Date", date };
}

function freeName(rules: readonly LifecycleRule[]): string {
  const taken = new Set(rules.map(({ id }) => id));
  for (let number = 1; ; number++) {
    if (!taken.has(`rule-${number}`)) return `rule-${number}`;
  }
}
