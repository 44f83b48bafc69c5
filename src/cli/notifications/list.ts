/** Lists who is told of a bucket's changes. */
import { arg, command } from "../command.ts";
import { type Notification, notificationColumns, notificationPath } from "./notification.ts";

export const listNotifications = command({
  path: "bucket notification list",
  summary: "list who is told of a bucket's changes",
  args: { bucket: arg("the bucket's name") },
  examples: [["selvedge bucket notification list photos", "and what is not delivered yet"]],
  json: "one array of notifications",
  async run({ args }, context) {
    const all = await context.api.get<Notification[]>(await notificationPath(context, args.bucket));
    const none = `Nobody is told of ${args.bucket}'s changes. "selvedge bucket notification add" has someone told.`;
    context.out.list(all, notificationColumns, none);
  },
});
