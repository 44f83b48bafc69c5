/** Makes an S3 key and shows its secret, this once. */
import { arg, choice, command, type Option, texts } from "../command.ts";
import { keyPath, permissions, readBuckets, type S3Key, showBuckets, showMoment } from "./key.ts";

const UNIT_SECONDS = { m: 60, h: 3_600, d: 86_400 } as const;

const expires: Option<number | undefined> = {
  placeholder: "WHEN",
  help: "30m, 12h, 90d, or a day: 2027-01-31",
  read: (given) => {
    const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(given) ?? [];
    if (count !== undefined) {
      return Date.now() + Number(count) * UNIT_SECONDS[unit as keyof typeof UNIT_SECONDS] * 1_000;
    }
    const day = /^\d{4}-\d\d-\d\d(?:T|$)/.test(given) ? Date.parse(given) : Number.NaN;
    if (!Number.isNaN(day)) return day;
    throw new Error("Write a span such as 12h or 90d, or a day such as 2027-01-31.");
  },
};

export const createKey = command({
  path: "key create",
  summary: "make an S3 access key",
  description: "The secret is shown this once, and cannot be had again.",
  args: { name: arg("what it is for") },
  options: {
    permission: choice(permissions, "what it may do; read-write unless told"),
    bucket: texts("BUCKET[/PREFIX]", "what it opens; all buckets without it, may be given again"),
    expires,
  },
  examples: [
    ["selvedge key create backup --bucket backups", "reads and writes one bucket"],
    [
      "selvedge key create www --permission read-only --bucket site/public/ --expires 90d",
      "reads what begins with public/, for so long",
    ],
  ],
  json: "the key with its secret",
  async run({ args, options }, context) {
    const { out } = context;
    const body = {
      name: args.name,
      permission: options.permission ?? "read-write",
      buckets: readBuckets(options.bucket),
      ...(options.expires !== undefined && { expires_on: new Date(options.expires).toISOString() }),
    };
    const path = await keyPath(context);
    const made = await context.api.post<S3Key & { secret_access_key: string }>(path, body);
    out.result(made, () =>
      out.fields([
        ["Access key id", made.access_key_id],
        ["Secret access key", made.secret_access_key],
        ["May", made.permission],
        ["Buckets", showBuckets(made)],
        ["Expires", showMoment(made.expires_on)],
      ]),
    );
    if (!out.json) out.note("The secret is not shown again.");
  },
});
