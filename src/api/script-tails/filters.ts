/** Which events of a script a tail shows: all filters must hold. */
import { z } from "zod";
import type { TailEvent } from "#scripts";

/** A client's own address, whichever it is. */
const SELF = "self";
/** Few are in use; each event is held against all of them. */
const MAX_FILTERS = 20;

const filter = z.union([
  z.strictObject({ sampling_rate: z.number().min(0).max(1) }),
  z.strictObject({ outcome: z.array(z.string()) }),
  z.strictObject({ method: z.array(z.string().toUpperCase()) }),
  z.strictObject({
    header: z.object({ key: z.string().toLowerCase(), query: z.string().optional() }),
  }),
  z.strictObject({ client_ip: z.array(z.string()) }),
  z.strictObject({ query: z.string() }),
]);

export type TailFilter = z.output<typeof filter>;

export const tailInput = z
  .object({ filters: z.array(filter).max(MAX_FILTERS).default([]) })
  .default({ filters: [] });

/** What an event's request has, as far as filters look at it. */
interface SeenRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `client` is the address of whoever made the tail, `random` gives numbers from 0 to 1. */
export function shows(
  event: TailEvent,
  filters: readonly TailFilter[],
  client: string,
  random: () => number,
): boolean {
  const request = event.event?.["request"] as SeenRequest | undefined;
  return filters.every((filter) => {
    if ("sampling_rate" in filter) return random() < filter.sampling_rate;
    if ("outcome" in filter) return filter.outcome.includes(event.outcome);
    if ("method" in filter) return filter.method.includes(request?.method?.toUpperCase() ?? "");
    if ("header" in filter) return hasHeader(request, filter.header);
    if ("client_ip" in filter) {
      const from = request?.headers?.["cf-connecting-ip"];
      return filter.client_ip.some((ip) => from === (ip === SELF ? client : ip));
    }
    return event.logs.some(({ message }) => textOf(message).includes(filter.query));
  });
}

function hasHeader(
  request: SeenRequest | undefined,
  { key, query }: { key: string; query?: string | undefined },
): boolean {
  const value = request?.headers?.[key];
  return value !== undefined && (query === undefined || value.includes(query));
}

function textOf(message: readonly unknown[]): string {
  return message.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join(" ");
}
