/** Has a webhook or a script told of a bucket's changes. */
import { arg, choice, command, text } from "../command.ts";
import { CliFault } from "../fault.ts";
import {
  type Notification,
  notificationPath,
  showEvents,
  showKeys,
  showTarget,
} from "./notification.ts";

const kinds = ["create", "delete"] as const;

export const addNotification = command({
  path: "bucket notification add",
  summary: "tell a webhook or a script of a bucket's changes",
  description: "The secret that a webhook's messages are signed with is shown this once.",
  args: { bucket: arg("the bucket's name") },
  options: {
    webhook: text("URL", "where each event is posted to"),
    script: text("NAME", "whose queue handler gets each event"),
    event: choice(kinds, "only of what comes, or of what goes; both unless told"),
    prefix: text("TEXT", "only of keys that begin so"),
    suffix: text("TEXT", "only of keys that end so"),
    description: text("TEXT", "what it is for"),
  },
  examples: [
    ["selvedge bucket notification add photos --webhook https://example.com/hook", "all changes"],
    [
      "selvedge bucket notification add photos --script thumbs --event create --suffix .jpg",
      "runs a script for each new picture",
    ],
  ],
  json: "the notification, with a webhook's secret",
  async run({ args, options }, context) {
    const { webhook, script, event, ...rest } = options;
    if ((webhook === undefined) === (script === undefined)) {
      throw new CliFault("usage", "Name one of --webhook URL and --script NAME.");
    }
    const target =
      webhook !== undefined ? { type: "webhook", url: webhook } : { type: "script", script };
    const events = (event === undefined ? kinds : [event]).map((kind) => `object-${kind}`);
    const path = await notificationPath(context, args.bucket);
    const made = await context.api.post<Notification>(path, { ...rest, events, target });
    const { out } = context;
    const secret = made.target.type === "webhook" ? made.target.secret : undefined;
    out.result(made, () =>
      out.fields([
        ["Id", made.id],
        ["Events", showEvents(made)],
        ["Keys", showKeys(made)],
        ["To", showTarget(made)],
        ...(secret === undefined ? [] : [["Secret", secret] as const]),
      ]),
    );
    if (secret !== undefined && !out.json) out.note("The secret is not shown again.");
  },
});
