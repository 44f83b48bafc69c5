/**
 * The parts that both ways to sign a request have in common: the scope of a credential, times, lists of headers.
 * A client sends the same ones over and over, so they are read once.
 */
import { remember } from "#kit/remember.ts";
import { basicTime } from "#kit/sigv4.ts";

export interface CredentialScope {
  readonly accessKeyId: string;
  /** `date/region/s3/aws4_request`. */
  readonly scope: string;
  readonly date: string;
  readonly region: string;
}

/** `key/20130524/us-east-1/s3/aws4_request`; returns the reason when it cannot be one. */
export function readCredential(text: string, time: string): CredentialScope | string {
  const credential = partsOf(text);
  if (typeof credential === "string" || time.startsWith(credential.date)) return credential;
  return `The date in the Credential must be that of the request, ${time.slice(0, 8)}.`;
}

const partsOf = remember((text): CredentialScope | string => {
  // Keys chosen by an operator may have slashes themselves. Any region will do: there is only one place
  // here, and clients that were not told of it sign with what they think it is. It is kept with what is
  // derived for it, also for strangers, so it has an end.
  const match = /^(.+)\/(([^/]*)\/([^/]{0,64})\/([^/]*)\/([^/]*))$/.exec(text);
  if (match === null) {
    return 'The Credential must have the form "<access key>/YYYYMMDD/REGION/s3/aws4_request".';
  }
  const [, accessKeyId = "", scope = "", date = "", region = "", service, end] = match;
  if (!/^\d{8}$/.test(date)) return "The date in the Credential must be YYYYMMDD.";
  if (service !== "s3") return 'The service in the Credential must be "s3".';
  if (end !== "aws4_request") return 'The Credential must end in "aws4_request".';
  return { accessKeyId, scope, date, region };
});

/** The moment that a basic ISO 8601 time names; null when it is none. */
export const readBasicTime = remember((time): number | null => {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(time);
  if (match === null) return null;
  const [year, month, day, hours, minutes, seconds] = match.slice(1).map(Number);
  const at = Date.UTC(year!, month! - 1, day, hours, minutes, seconds);
  return basicTime(at) === time ? at : null;
});

const NAME = /^[!#$%&'*+.^_`|~0-9a-z-]+$/;

/** The names in their order; null when they cannot be headers. */
export const readSignedHeaders = remember((text): readonly string[] | null => {
  const names = text.toLowerCase().split(";");
  return names.every((name) => NAME.test(name)) ? names.sort() : null;
});

export const SIGNATURE_FORM = /^[0-9a-f]{64}$/;
