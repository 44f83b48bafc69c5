/** Removes a notification of a bucket. */
import { arg, command, yes } from "../command.ts";
import { notificationPath } from "./notification.ts";

export const removeNotification = command({
  path: "bucket notification remove",
  summary: "remove a notification, with what it has not told yet",
  args: { bucket: arg("the bucket's name"), id: arg("the notification's id") },
  options: { yes },
  examples: [
    [
      "selvedge bucket notification remove photos 0123456789abcdef0123456789abcdef",
      "asks first; --yes does not",
    ],
  ],
  json: "the removed notification's id",
  async run({ args: { bucket, id }, options }, context) {
    const path = await notificationPath(context, bucket, id);
    if (!options.yes) {
      await context.confirm(`Remove the notification ${id}?`, "Nothing was removed.");
    }
    await context.api.delete(path);
    context.out.result({ id }, `Removed the notification ${id}.`);
  },
});
