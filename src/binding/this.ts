/** A method that lost its object. */
export function illegalInvocation(): TypeError {
  return new TypeError(
    "Illegal invocation: function called with incorrect `this` reference. Call it on the object that it belongs to.",
  );
}
