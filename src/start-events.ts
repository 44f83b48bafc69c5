/** Who is told of changes in buckets, and the work of telling them. */
import type { Database } from "#db";
import { ranges } from "#kit/cidr.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import { EventDelivery, Notifications, type ObjectStore, type QueueMessage } from "#objects";
import type { ScriptRuntime, Scripts } from "#scripts";
import type { Config } from "./config.ts";

export interface EventParts {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly objects: ObjectStore;
  readonly scripts: Scripts;
  readonly runtime: ScriptRuntime;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

/** What a script finds as the name of the queue: its notifications come through none. */
const QUEUE = "bucket-notifications";

export function startEvents(
  { webhooks }: Pick<Config, "webhooks">,
  { db, sealKey, objects, scripts, runtime, log: whole, metrics, now }: EventParts,
  started: AsyncDisposableStack,
): Notifications {
  const log = whole.with({ part: "events" });
  const policy = { allowed: ranges(webhooks) };
  const notifications = new Notifications({ db, store: objects, sealKey, policy, now });
  const outcomes = metrics.counter(
    "selvedge_bucket_events_total",
    "Events of buckets, by what came of an attempt to tell them.",
    ["outcome"],
  );
  const delivery = started.use(
    new EventDelivery({
      db,
      sealKey,
      policy,
      now,
      random: Math.random,
      toScript: async (accountId, name, message, signal) => {
        const { id } = await scripts.get(accountId, name);
        await tellScript(runtime, id, message, signal);
      },
      onError: (cause) => log.warn("events not delivered", { cause }),
      onOutcome: (outcome, events) => {
        for (let i = 0; i < events; i++) outcomes.count(outcome);
      },
    }),
  );
  objects.onEvents(() => delivery.wake());
  notifications.onHurry = () => delivery.wake();
  delivery.start();
  return notifications;
}

/** Throws unless the script has taken it: by its own word, or by an end without fault. */
async function tellScript(
  runtime: ScriptRuntime,
  scriptId: string,
  message: QueueMessage,
  signal: AbortSignal,
): Promise<void> {
  const result = await runtime.queue(scriptId, { queue: QUEUE, messages: [message] }, signal);
  const { outcome, ackAll, retryBatch, explicitAcks, retryMessages } = result;
  if (ackAll || explicitAcks.includes(message.id)) return;
  if (retryBatch.retry || retryMessages.some(({ msgId }) => msgId === message.id)) {
    throw new Error("The script asked for it to come again");
  }
  if (outcome === "ok") return;
  throw new Error(`The script has no queue handler, or it failed: ${outcome}`);
}
