/** What a notification may not be. */
import { isIP } from "node:net";
import type { Ranges } from "#kit/cidr.ts";
import { INTERNAL_ADDRESSES } from "#kit/internal-addresses.ts";
import { ObjectFault } from "../fault.ts";
import type { NewNotification } from "./model.ts";
import { isSecret } from "./signature.ts";

const MAX_DESCRIPTION_CHARACTERS = 500;
/** That of a key. */
const MAX_FILTER_OCTETS = 1_024;
const MAX_URL_CHARACTERS = 2_048;

/** Where webhooks may go beside the public internet. */
export interface WebhookPolicy {
  readonly allowed: Ranges;
}

/** Null when one may connect there, else why not. */
export function whyNotTo(address: string, { allowed }: WebhookPolicy): string | null {
  if (allowed.has(address) || !INTERNAL_ADDRESSES.has(address)) return null;
  return `${address} is an internal address, and not among the server's events.webhooks`;
}

/** Throws unless it can be kept. */
export function checkNotification(given: NewNotification, policy: WebhookPolicy): void {
  const { description, events, prefix, suffix, target, secret } = given;
  if (description.length > MAX_DESCRIPTION_CHARACTERS) {
    throw bad(`A description has at most ${MAX_DESCRIPTION_CHARACTERS} characters`);
  }
  if (events.length === 0) throw bad("A notification needs events: object-create, object-delete");
  for (const [name, filter] of Object.entries({ prefix, suffix })) {
    if (Buffer.byteLength(filter) > MAX_FILTER_OCTETS || !filter.isWellFormed()) {
      throw bad(`A ${name} has at most ${MAX_FILTER_OCTETS} octets of UTF-8`);
    }
  }
  if (target.kind === "webhook") checkUrl(target.url, policy);
  if (secret === undefined) return;
  if (target.kind !== "webhook") throw bad("Only a webhook has a secret");
  if (!isSecret(secret)) throw bad("A secret is whsec_ and the base64 of 24 to 64 octets");
}

function checkUrl(text: string, policy: WebhookPolicy): void {
  const shown = JSON.stringify(text.slice(0, 80));
  const url = text.length <= MAX_URL_CHARACTERS ? URL.parse(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw bad(`${shown} is no URL of http or https, of at most ${MAX_URL_CHARACTERS} characters`);
  }
  if (url.username !== "" || url.password !== "") {
    throw bad("The URL of a webhook has no user or password: what is sent is signed");
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  const whyNot = isIP(host) === 0 ? null : whyNotTo(host, policy);
  if (whyNot !== null) throw bad(`A webhook cannot go to ${shown}: ${whyNot}`);
}

function bad(message: string): ObjectFault {
  return new ObjectFault("bad-notification", message);
}
