/** Text around DER. RFC 7468. */

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

export function toPem(label: string, octets: Buffer): string {
  const lines = octets.toString("base64").replaceAll(/.{1,64}/g, "$&\n");
  return `-----BEGIN ${label}-----\n${lines}-----END ${label}-----\n`;
}

/** The certificates of a chain one by one, without what stands between them. */
export function certificatesIn(text: string): string[] {
  return [...text.matchAll(CERTIFICATE)].map(([block]) => `${block}\n`);
}
