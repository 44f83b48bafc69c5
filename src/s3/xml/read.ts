/** XML that a request brings: read whole, up to a limit, and held against its checksums. */
import { parseXml, type XmlElement } from "#kit/xml.ts";
import type { S3Call } from "../call.ts";
import { S3Fault } from "../fault.ts";
import { readWhole } from "../whole-body.ts";

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

export interface XmlOptions {
  /** Checksums of the head are not the body's. */
  readonly apart?: boolean;
}

/** Throws without a body. */
export async function readXml(
  call: S3Call,
  limit: number,
  options: XmlOptions = {},
): Promise<XmlElement> {
  const root = await readXmlIfAny(call, limit, options);
  if (root === null) throw new S3Fault("MissingRequestBodyError");
  return root;
}

export async function readXmlIfAny(
  call: S3Call,
  limit: number,
  options: XmlOptions = {},
): Promise<XmlElement | null> {
  const octets = await readWhole(call, limit, options);
  return octets.length === 0 ? null : parseXml(textOf(octets));
}

function textOf(octets: Uint8Array): string {
  try {
    return strictUtf8.decode(octets);
  } catch {
    throw new S3Fault("MalformedXML", "The XML you provided is not UTF-8.");
  }
}
