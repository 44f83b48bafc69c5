/** The parts of a form. RFC 7578. */
import { JsonFault } from "#kit/json-input.ts";

export interface FormPart {
  readonly name: string;
  /** Null for a plain field. */
  readonly filename: string | null;
  /** Its content type in lower case, without parameters; empty for a plain field. */
  readonly type: string;
  readonly content: Uint8Array;
}

export async function formParts(bytes: Buffer<ArrayBuffer>, type: string): Promise<FormPart[]> {
  const whole = new Response(bytes, { headers: { "Content-Type": type } });
  const form = await whole.formData().catch((cause: unknown) => {
    throw new JsonFault("malformed", "Malformed form in request body", { cause });
  });
  const parts: FormPart[] = [];
  for (const [name, value] of form) {
    if (typeof value === "string") {
      parts.push({ name, filename: null, type: "", content: Buffer.from(value) });
    } else {
      const [mediaType = ""] = value.type.split(";", 1);
      const content = await value.bytes();
      parts.push({ name, filename: value.name, type: mediaType.trim().toLowerCase(), content });
    }
  }
  return parts;
}
