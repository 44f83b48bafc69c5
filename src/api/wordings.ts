/** From what went wrong to the status, code and text that clients of the API know: one table for each core. */
import type { AccountFaultKind } from "#accounts";
import type { CertificateFaultKind } from "#certificates";
import type { RecordFaultKind } from "#dns";
import type { JsonFaultKind } from "#kit/json-input.ts";
import type { ObjectFaultKind } from "#objects";
import type { ScriptFaultKind } from "#scripts";
import type { ZoneFaultKind } from "#zones";

export interface Wording {
  readonly status: number;
  readonly code: number;
  /** Clients compare some texts; where none is given the fault's own is shown. */
  readonly message?: string;
  readonly chain?: { readonly code: number; readonly message: string };
}

export const badHeader = (code: number, message: string): Wording => ({
  status: 400,
  code: 6003,
  message: "Invalid request headers",
  chain: { code, message },
});

export const THROTTLE = "Please wait and consider throttling your request speed";
/** Ours: a field of a body or a query that cannot be. The message names it. */
export const INVALID_FIELD = 1001;
/** Ours: a feature of the original that there is not here. No 501, which clients repeat. */
export const NOT_OFFERED = 1002;

export const accountWordings = {
  "no-credentials": {
    status: 400,
    code: 9106,
    message: "Missing X-Auth-Key, X-Auth-Email or Authorization headers",
  },
  "malformed-email": badHeader(6102, "Invalid format for X-Auth-Email header"),
  "malformed-key": badHeader(6103, "Invalid format for X-Auth-Key header"),
  "malformed-token": badHeader(6111, "Invalid format for Authorization header"),
  "unknown-key": { status: 400, code: 9103, message: "Unknown X-Auth-Key or X-Auth-Email" },
  "unknown-token": { status: 403, code: 9109, message: "Invalid access token" },
  "wrong-place": { status: 403, code: 9109 },
  "too-many-failures": {
    status: 429,
    code: 971,
    message: `Too many authentication failures. ${THROTTLE}`,
  },
  forbidden: { status: 403, code: 9109, message: "Unauthorized to access requested resource" },
  "forbidden-records": { status: 403, code: 10_000, message: "Authentication error" },
  "no-such-account": { status: 404, code: 7003 },
  "no-such-token": { status: 404, code: 1003 },
  "too-many-tokens": { status: 400, code: 1010 },
  "too-many-accounts": { status: 400, code: 1011 },
  "bad-policy": { status: 400, code: INVALID_FIELD },
  "no-such-key": { status: 404, code: 1003 },
  "too-many-keys": { status: 400, code: 1010 },
  "bad-key": { status: 400, code: INVALID_FIELD },
  "bad-session": { status: 400, code: INVALID_FIELD },
  "expired-session": { status: 400, code: INVALID_FIELD },
} as const satisfies Record<AccountFaultKind, Wording>;

export const zoneWordings = {
  "no-such-zone": { status: 404, code: 7003 },
  "zone-exists": { status: 400, code: 1061 },
  "bad-zone-name": { status: 400, code: 1049 },
  "bad-setting": { status: 400, code: 1007 },
  "no-such-setting": { status: 400, code: 1006 },
  "no-such-record": { status: 404, code: 81_044 },
  "bad-name": { status: 400, code: 9000 },
  "bad-type": { status: 400, code: 9001 },
  "bad-ttl": { status: 400, code: 9021 },
  "not-proxiable": { status: 400, code: 9004 },
  "platform-address": { status: 400, code: 9008 },
  "own-target": { status: 400, code: 9007 },
  "bad-comment": { status: 400, code: 9102 },
  "bad-tag": { status: 400, code: 9104 },
  "bad-record-setting": { status: 400, code: 9105 },
  "identical-record": { status: 400, code: 81_058 },
  "host-exists": { status: 400, code: 81_053 },
  "cname-exists": { status: 400, code: 81_054 },
  "ns-exists": { status: 400, code: 81_056 },
  "ns-needs-name-alone": { status: 400, code: 81_056 },
  "ds-needs-ns": { status: 400, code: 81_059 },
  "own-nameserver": { status: 400, code: 81_057 },
  "too-large": { status: 400, code: 9022 },
  "too-many-records": { status: 400, code: 81_045 },
  "too-many-changes": { status: 400, code: 81_046 },
  "no-such-serial": { status: 400, code: 81_060 },
  "bad-zone-file": { status: 400, code: 9207 },
} as const satisfies Record<ZoneFaultKind, Wording>;

export const recordWordings = {
  "bad-address-v4": {
    status: 400,
    code: 9005,
    message: "Content for A record must be a valid IPv4 address.",
  },
  "bad-address-v6": {
    status: 400,
    code: 9006,
    message: "Content for AAAA record must be a valid IPv6 address.",
  },
  "bad-target": { status: 400, code: 9007 },
  "missing-field": { status: 400, code: 9101 },
  "missing-data-field": { status: 400, code: 9101 },
  "bad-field": { status: 400, code: 9020 },
  "bad-text": { status: 400, code: 9023 },
  "too-long": { status: 400, code: 9022 },
  "bad-type": { status: 400, code: 9001 },
} as const satisfies Record<RecordFaultKind, Wording>;

/** No 409, which the original has for what exists and for what is not empty: clients repeat it. */
export const objectWordings = {
  "no-such-bucket": { status: 404, code: 10_006, message: "The specified bucket does not exist." },
  "bad-bucket-name": { status: 400, code: 10_005 },
  "bucket-exists": {
    status: 400,
    code: 10_004,
    message: "The bucket you tried to create already exists, and you own it.",
  },
  "bucket-not-empty": {
    status: 400,
    code: 10_008,
    message: "The bucket you tried to delete is not empty.",
  },
  "too-many-buckets": { status: 400, code: 10_009 },
  "bad-storage-class": { status: 400, code: INVALID_FIELD },
  "bad-key": { status: 400, code: 10_020 },
  "bad-key-count": { status: 400, code: 10_027 },
  "bad-limit": { status: 400, code: 10_022 },
  "bad-cursor": { status: 400, code: 10_029 },
  "bad-range": { status: 416, code: 10_039 },
  "bad-digest": { status: 400, code: 10_037 },
  "incomplete-body": { status: 400, code: 10_013 },
  "metadata-too-large": { status: 400, code: 10_012 },
  "too-large": { status: 400, code: 100_100 },
  "no-such-upload": { status: 404, code: 10_024 },
  "no-such-part": { status: 400, code: 10_025 },
  "duplicate-part": { status: 400, code: 10_048 },
  "part-too-small": { status: 400, code: 10_011 },
  "uneven-parts": { status: 400, code: 10_048 },
  "bad-checksum-type": { status: 400, code: 10_029 },
  "key-required": { status: 400, code: 10_029 },
  "bad-key-for-object": { status: 403, code: 10_003 },
  "bad-cors": { status: 400, code: INVALID_FIELD },
  "bad-lifecycle": { status: 400, code: INVALID_FIELD },
  "bad-tags": { status: 400, code: INVALID_FIELD },
  "bad-domain": { status: 400, code: INVALID_FIELD },
  "domain-taken": { status: 400, code: 10_056 },
  "no-such-domain": { status: 404, code: 10_057 },
  "bad-notification": { status: 400, code: INVALID_FIELD },
  "too-many-notifications": { status: 400, code: 1010 },
  "no-such-notification": { status: 404, code: 1003 },
  unavailable: { status: 503, code: 10_043 },
} as const satisfies Record<ObjectFaultKind, Wording>;

/** What the runtime says of an upload has the code by which wrangler finds places in the source. */
export const scriptWordings = {
  "not-found": { status: 404, code: 10_007 },
  exists: { status: 400, code: 10_020 },
  "in-use": { status: 400, code: 10_064 },
  invalid: { status: 400, code: 10_021 },
  "too-large": { status: 400, code: 10_027 },
  "does-not-start": { status: 400, code: 10_021 },
  crashed: { status: 400, code: 10_021 },
  "over-cpu": { status: 400, code: 10_021 },
  "over-memory": { status: 400, code: 10_021 },
  unavailable: { status: 503, code: 10_013 },
} as const satisfies Record<ScriptFaultKind, Wording>;

export const certificateWordings = {
  "not-found": { status: 404, code: 1003 },
  "bad-certificate": { status: 400, code: 2110 },
  "bad-key": { status: 400, code: 2111 },
  "key-mismatch": { status: 400, code: 2106 },
  expired: { status: 400, code: 2105 },
  "bad-hosts": { status: 400, code: 1464 },
  "too-many": { status: 400, code: 1012 },
  "not-available": { status: 400, code: 1450 },
} as const satisfies Record<CertificateFaultKind, Wording>;

export const jsonWordings = {
  malformed: { status: 400, code: 6007 },
  "too-deep": { status: 400, code: 6008 },
  "bad-text": { status: 400, code: 6009 },
} as const satisfies Record<JsonFaultKind, Wording>;
