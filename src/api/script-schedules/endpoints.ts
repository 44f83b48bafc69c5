/** When a script runs by itself. */
import { z } from "zod";
import type { Schedule } from "#scripts";
import { endpoint } from "../endpoint.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { showTime } from "../shapes.ts";

const path = `${SCRIPT}/schedules` as const;

const show = (schedules: readonly Schedule[]) => ({
  schedules: schedules.map(({ cron, createdAt, modifiedAt }) => ({
    cron,
    created_on: showTime(createdAt),
    modified_on: showTime(modifiedAt),
  })),
});

export const listSchedules = endpoint({
  method: "GET",
  path,
  summary: "List a script's cron triggers",
  permission: "scripts.read",
  handle: async ({ params }, { schedules }) =>
    show(await schedules.list(params.account_id, params.script_name)),
});

export const setSchedules = endpoint({
  method: "PUT",
  path,
  summary: "Set all of a script's cron triggers",
  permission: "scripts.edit",
  body: z.array(z.object({ cron: z.string() })),
  handle: async ({ params, body }, { schedules }) => {
    const crons = body.map(({ cron }) => cron);
    return show(await schedules.set(params.account_id, params.script_name, crons));
  },
});
