/** Answers that are not from the cache. */
import { withoutFields } from "./headers.ts";
import {
  type CachedResponse,
  type CacheStatus,
  type FetchOrigin,
  type OriginResponse,
  STATUS_FIELD,
} from "./messages.ts";

export async function passOn(
  fetchOrigin: FetchOrigin,
  status: CacheStatus,
): Promise<CachedResponse> {
  return passed(await fetchOrigin(null), status);
}

export function passed(
  { status, headers, body }: OriginResponse,
  cacheStatus: CacheStatus,
): CachedResponse {
  return {
    status,
    headers: [...withoutFields(headers, OWN_STATUS), STATUS_FIELD, cacheStatus],
    body,
    cacheStatus,
  };
}

const OWN_STATUS: ReadonlySet<string> = new Set([STATUS_FIELD.toLowerCase()]);

/** RFC 9111 §5.2.1.7. */
export const NOT_CACHED: CachedResponse = {
  status: 504,
  headers: ["Content-Length", "0", STATUS_FIELD, "MISS"],
  body: null,
  cacheStatus: "MISS",
};
