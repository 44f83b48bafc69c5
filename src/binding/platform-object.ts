/** What makes a class of ours look like one of the runtime's own: its tag, its methods, its fields. */

/**
 * `structuredClone` copies ordinary objects and refuses all others, among them those that the runtime
 * makes for a bucket. What began its life as an iterator is refused, too.
 */
// oxlint-disable-next-line no-extraneous-class -- others extend it
export class Uncloneable {
  constructor() {
    // oxlint-disable-next-line no-constructor-return -- there is no other way to begin as one
    return Object.setPrototypeOf([][Symbol.iterator](), new.target.prototype) as Uncloneable;
  }
}

/** Gives a class its tag, and shows its methods to `for … in`. */
export function dress(type: { readonly prototype: object }, tag: string): void {
  const { prototype } = type;
  for (const name of Object.getOwnPropertyNames(prototype)) {
    if (name !== "constructor") Object.defineProperty(prototype, name, { enumerable: true });
  }
  Object.defineProperty(prototype, Symbol.toStringTag, { value: tag, configurable: true });
}

/** One for all fields of all objects: a list has thousands, and a new one for each would be as much garbage. */
const field = { value: undefined as unknown, enumerable: true, configurable: true };

/** Sets fields that can be read and listed, and not assigned to. */
export function setFields(object: object, fields: Readonly<Record<string, unknown>>): void {
  for (const name in fields) {
    field.value = fields[name];
    Object.defineProperty(object, name, field);
  }
  field.value = undefined;
}

/** A method that lost its object. */
export function illegalInvocation(): TypeError {
  return new TypeError(
    "Illegal invocation: function called with incorrect `this` reference. Call it on the object that it belongs to.",
  );
}
