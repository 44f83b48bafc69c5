/** One record of every type: as `data` and as `content`, what it is shown as, and a change of it. */

export interface TypeCase {
  readonly type: string;
  /** Relative to the zone. */
  readonly name: string;
  /** What a client sends, in each of the forms that the API knows. */
  readonly sent: readonly Readonly<Record<string, unknown>>[];
  /** What of the data comes back. */
  readonly shown: Readonly<Record<string, unknown>>;
  /** A PATCH of part of the data, and what it makes of it. */
  readonly patch: Readonly<Record<string, unknown>>;
  readonly patched: Readonly<Record<string, unknown>>;
}

const SHA1 = "2bb183af5f22588179a53b0a98631fad1a292118";
const SHA256 = "d4b7d520e7bb5f0f67674a0cceb1e3e0614b93c4f9e99b8383f6a1e4469da50a";
const KEY =
  "mdsswUyr3DPW132mOi8V9xESWE8jTo0dxCjjnopKl+GqJxpVXckHAeF+KkxLbxILfDLUT0rAK9iUzy1L53eKGQ==";
const LOCATION = {
  lat_degrees: 37,
  lat_minutes: 46,
  lat_seconds: 46,
  lat_direction: "N",
  long_degrees: 122,
  long_minutes: 23,
  long_seconds: 35,
  long_direction: "W",
  altitude: 0,
  size: 100,
  precision_horz: 0,
  precision_vert: 0,
};

/** A type that is its content alone. */
function content(
  type: string,
  name: string,
  [sent, shown]: readonly [sent: string, shown: string],
  [change, changed]: readonly [sent: string, shown: string],
): TypeCase {
  return {
    type,
    name,
    sent: [{ content: sent }],
    shown: { content: shown },
    patch: { content: change },
    patched: { content: changed },
  };
}

/** A structured type: the patch gives some keys of `data`, the others stay. */
function structured(
  type: string,
  name: string,
  data: Readonly<Record<string, unknown>>,
  shown: string,
  change: Readonly<Record<string, unknown>>,
  changed: string,
): TypeCase {
  return {
    type,
    name,
    sent: [{ data }, { content: shown }],
    shown: { content: shown, data },
    patch: { data: change },
    patched: { content: changed, data: { ...data, ...change } },
  };
}

export const typeCases: readonly TypeCase[] = [
  content("A", "a", ["192.0.2.1", "192.0.2.1"], ["192.0.2.2", "192.0.2.2"]),
  content("AAAA", "aaaa", ["2001:DB8::0:1", "2001:db8::1"], ["2001:db8::2", "2001:db8::2"]),
  content(
    "CNAME",
    "cname",
    ["Target.Example.net.", "target.example.net"],
    ["other.example.net", "other.example.net"],
  ),
  {
    type: "MX",
    name: "mx",
    sent: [{ content: "mail.example.net.", priority: 10 }],
    shown: { content: "mail.example.net", priority: 10 },
    patch: { priority: 20 },
    patched: { content: "mail.example.net", priority: 20 },
  },
  content("TXT", "txt", ["some text", '"some text"'], ['"a" "b"', '"a" "b"']),
  structured(
    "SPF",
    "spf",
    { version: "spf1", terms: ["mx", "ip4:192.0.2.0/24", "-all"] },
    '"v=spf1 mx ip4:192.0.2.0/24 -all"',
    { terms: ["-all"] },
    '"v=spf1 -all"',
  ),
  structured(
    "DKIM",
    "s1._domainkey",
    { v: "DKIM1", k: "rsa", p: "MIIBIjANBgkq" },
    '"v=DKIM1; k=rsa; p=MIIBIjANBgkq"',
    { p: "" },
    '"v=DKIM1; k=rsa; p="',
  ),
  structured(
    "DMARC",
    "_dmarc",
    { v: "DMARC1", p: "none", pct: 100, rua: "mailto:dmarc@example.net" },
    '"v=DMARC1; p=none; pct=100; rua=mailto:dmarc@example.net"',
    { p: "reject" },
    '"v=DMARC1; p=reject; pct=100; rua=mailto:dmarc@example.net"',
  ),
  structured(
    "CAA",
    "caa",
    { flags: 0, tag: "issue", value: "letsencrypt.org" },
    '0 issue "letsencrypt.org"',
    { flags: 128 },
    '128 issue "letsencrypt.org"',
  ),
  {
    type: "SRV",
    name: "_sip._tcp",
    sent: [
      { data: { priority: 10, weight: 60, port: 5060, target: "sip.example.net." } },
      { content: "60 5060 sip.example.net", priority: 10 },
    ],
    shown: {
      content: "60 5060 sip.example.net",
      priority: 10,
      data: { priority: 10, weight: 60, port: 5060, target: "sip.example.net" },
    },
    patch: { data: { weight: 5 } },
    patched: {
      content: "5 5060 sip.example.net",
      priority: 10,
      data: { priority: 10, weight: 5, port: 5060, target: "sip.example.net" },
    },
  },
  structured(
    "SVCB",
    "_dns",
    { priority: 1, target: "dns.example.net.", value: 'alpn="dot" port="8530"' },
    '1 dns.example.net. alpn="dot" port="8530"',
    { priority: 3 },
    '3 dns.example.net. alpn="dot" port="8530"',
  ),
  structured(
    "HTTPS",
    "https",
    { priority: 1, target: ".", value: 'alpn="h3,h2" ipv4hint="192.0.2.1"' },
    '1 . alpn="h3,h2" ipv4hint="192.0.2.1"',
    { value: 'alpn="h2"' },
    '1 . alpn="h2"',
  ),
  content(
    "PTR",
    "4.3.2.1",
    ["host.example.net.", "host.example.net"],
    ["host2.example.net", "host2.example.net"],
  ),
  content(
    "NS",
    "delegated",
    ["ns1.example.net.", "ns1.example.net"],
    ["ns9.example.net", "ns9.example.net"],
  ),
  structured(
    "DS",
    "delegated",
    { key_tag: 60485, algorithm: 5, digest_type: 1, digest: SHA1 },
    `60485 5 1 ${SHA1}`,
    { key_tag: 1 },
    `1 5 1 ${SHA1}`,
  ),
  structured(
    "DNSKEY",
    "dnskey",
    { flags: 257, protocol: 3, algorithm: 13, public_key: KEY },
    `257 3 13 ${KEY}`,
    { flags: 256 },
    `256 3 13 ${KEY}`,
  ),
  {
    type: "URI",
    name: "_http._tcp",
    sent: [
      { data: { weight: 5, target: "https://example.net/a" }, priority: 10 },
      { content: '5 "https://example.net/a"', priority: 10 },
    ],
    shown: {
      content: '5 "https://example.net/a"',
      priority: 10,
      data: { weight: 5, target: "https://example.net/a" },
    },
    patch: { data: { weight: 6 } },
    patched: {
      content: '6 "https://example.net/a"',
      priority: 10,
      data: { weight: 6, target: "https://example.net/a" },
    },
  },
  structured(
    "NAPTR",
    "naptr",
    {
      order: 100,
      preference: 10,
      flags: "u",
      service: "E2U+sip",
      regex: "!^.*$!sip:info@example.net!",
      replacement: ".",
    },
    '100 10 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .',
    { preference: 50 },
    '100 50 "u" "E2U+sip" "!^.*$!sip:info@example.net!" .',
  ),
  structured(
    "SSHFP",
    "sshfp",
    { algorithm: 2, type: 1, fingerprint: SHA1 },
    `2 1 ${SHA1}`,
    { algorithm: 4 },
    `4 1 ${SHA1}`,
  ),
  structured(
    "TLSA",
    "_443._tcp",
    { usage: 3, selector: 1, matching_type: 1, certificate: SHA256 },
    `3 1 1 ${SHA256}`,
    { usage: 2 },
    `2 1 1 ${SHA256}`,
  ),
  structured(
    "SMIMEA",
    "hash._smimecert",
    { usage: 3, selector: 0, matching_type: 1, certificate: SHA256 },
    `3 0 1 ${SHA256}`,
    { selector: 1 },
    `3 1 1 ${SHA256}`,
  ),
  structured(
    "CERT",
    "cert",
    { type: 1, key_tag: 2, algorithm: 8, certificate: "MIIBIjANBgkq" },
    "1 2 8 MIIBIjANBgkq",
    { key_tag: 3 },
    "1 3 8 MIIBIjANBgkq",
  ),
  structured(
    "LOC",
    "loc",
    LOCATION,
    "37 46 46.000 N 122 23 35.000 W 0.00 100.00 0.00 0.00",
    { lat_seconds: 47.5, altitude: 12.5 },
    "37 46 47.500 N 122 23 35.000 W 12.50 100.00 0.00 0.00",
  ),
  content(
    "OPENPGPKEY",
    "hash._openpgpkey",
    ["mQINBFit2jsBEADrbl5vjVxY", "mQINBFit2jsBEADrbl5vjVxY"],
    ["mQINBFit", "mQINBFit"],
  ),
];
