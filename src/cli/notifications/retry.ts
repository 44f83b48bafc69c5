/** Tries again at once what a notification could not deliver. */
import { arg, command } from "../command.ts";
import { notificationPath } from "./notification.ts";

export const retryNotification = command({
  path: "bucket notification retry",
  summary: "try at once what waits, and what was given up",
  args: { bucket: arg("the bucket's name"), id: arg("the notification's id") },
  examples: [
    [
      "selvedge bucket notification retry photos 0123456789abcdef0123456789abcdef",
      "when a webhook is back",
    ],
  ],
  json: "how many were given up: retried",
  async run({ args: { bucket, id } }, context) {
    const path = `${await notificationPath(context, bucket, id)}/retry`;
    const done = await context.api.post<{ retried: number }>(path, {});
    context.out.result(done, `Tries again, with ${done.retried} that were given up.`);
  },
});
