/** The hostnames that a certificate may be asked for. */
import { domainToASCII } from "node:url";
import { shorten } from "#kit/shorten.ts";
import { CertificateFault } from "./fault.ts";

/** As the original and most authorities have it. */
const MAX_HOSTS = 50;
/** RFC 1035 §2.3.4. */
const MAX_NAME = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/** Whether a name or wildcard is the zone's name or lies below it. */
export function isWithin(host: string, zoneName: string): boolean {
  return host === zoneName || host.endsWith(`.${zoneName}`);
}

/** Whether a name without a dot at its end could be one of a host. */
export function isHostname(name: string): boolean {
  return name.length <= MAX_NAME && name.split(".").every((label) => LABEL.test(label));
}

/** In one form and each once; throws a fault for a name that cannot be. */
export function checkHosts(given: readonly string[], zoneName: string): string[] {
  const hosts = [...new Set(given.map((host) => checkHost(host, zoneName)))];
  if (hosts.length === 0 || hosts.length > MAX_HOSTS) {
    throw new CertificateFault("bad-hosts", `hosts must have 1 to ${MAX_HOSTS} names`, "/hosts");
  }
  return hosts;
}

function checkHost(given: string, zoneName: string): string {
  const isWildcard = given.startsWith("*.");
  const name = domainToASCII(isWildcard ? given.slice(2) : given).replace(/\.$/, "");
  const host = isWildcard ? `*.${name}` : name;
  if (!isHostname(name) || host.length > MAX_NAME) {
    throw badHost(given, "is not a hostname");
  }
  if (!isWithin(name, zoneName)) throw badHost(given, `does not lie in the zone ${zoneName}`);
  return host;
}

function badHost(given: string, why: string): CertificateFault {
  return new CertificateFault("bad-hosts", `${JSON.stringify(shorten(given))} ${why}`, "/hosts");
}
