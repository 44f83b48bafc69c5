/** Writes ASN.1 in its distinguished encoding. X.690 §8, §10. */

export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tags that a structure gives a meaning of its own; constructed ones hold others. */
export const context = (number: number) => 0x80 | number;
export const constructed = (number: number) => 0xa0 | number;

/** Tag, length, value. A length from 128 on stands behind an octet that says how long it is. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const long = length < 0x100 ? [length] : [length >> 8, length & 0xff];
  const head = length < 0x80 ? [tag, length] : [tag, 0x80 | long.length, ...long];
  if (length > 0xffff) throw new RangeError(`A value of ${length} octets is more than is needed`);
  return Buffer.concat([Buffer.from(head), value]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts);
}

export function bitString(octets: Uint8Array): Buffer {
  return der(TAG.bitString, Buffer.from([0]), octets); // All bits of the last octet are used.
}

/** The first two numbers share an octet; each other is in groups of seven bits. X.690 §8.19. */
export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(TAG.objectIdentifier, Buffer.from(octets));
}
