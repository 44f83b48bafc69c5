/** The body of a script's upload as the parts of a form, however it is sent. */
import { boundaryOf, type FormPart, formParts } from "./form.ts";

/** What the one part of a body is called that is the script itself. */
const SCRIPT = "script";
const MODULE = "worker.js";

/** A form begins so; RFC 2046 §5.1.1 has the length of a boundary. */
const FORM_START = /^--([\w'()+,./:=? -]{1,70})\r\nContent-Disposition:/i;
const FORM_START_BYTES = 100;

export function isJavaScript(type: string): boolean {
  return /^(?:application|text)\/javascript(?:\+module)?\s*(?:;|$)/i.test(type);
}

/** The SDK calls a form JavaScript. What is JavaScript indeed is the whole script. */
export function uploadParts(body: Buffer, type: string): FormPart[] {
  if (!isJavaScript(type)) return formParts(body, boundaryOf(type));
  const boundary = FORM_START.exec(body.toString("latin1", 0, FORM_START_BYTES))?.[1];
  if (boundary !== undefined) return formParts(body, boundary);
  const [essence = ""] = type.toLowerCase().split(";", 1);
  const name = essence.includes("+module") ? MODULE : SCRIPT;
  return [{ name, filename: null, type: essence.trim(), content: body }];
}
