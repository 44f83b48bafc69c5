/** `encoding-type=url`: keys in lists that XML could not hold as they are. */
import type { S3Call } from "./call.ts";
import { S3Fault } from "./fault.ts";

export interface ListEncoding {
  readonly word: "url" | undefined;
  readonly show: (key: string) => string;
}

export function encodingOf(call: S3Call): ListEncoding {
  const word = call.query("encoding-type");
  if (word === undefined || word === "") return { word: undefined, show: (key) => key };
  if (word === "url") return { word, show: urlEncoded };
  throw new S3Fault("InvalidArgument", "Invalid Encoding Method specified in Request", {
    extra: { ArgumentName: "encoding-type", ArgumentValue: word.slice(0, 80) },
  });
}

/** A blank is %20 and a plus %2B: some clients read it as a form, where a plus is a blank. Slashes stay. */
function urlEncoded(key: string): string {
  return encodeURIComponent(key)
    .replaceAll("%2F", "/")
    .replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A number of entries in a query: capped, and refused when it is none. */
export function countOf(call: S3Call, name: string, most: number): number {
  const text = call.query(name);
  if (text === undefined || text === "") return most;
  if (/^\d{1,10}$/.test(text)) return Math.min(Number(text), most);
  const message = `Argument ${name} must be an integer between 0 and 2147483647`;
  throw new S3Fault("InvalidArgument", message, {
    extra: { ArgumentName: name, ArgumentValue: text.slice(0, 80) },
  });
}
