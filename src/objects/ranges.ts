/** Which octets of an object a range asks for. */
import { ObjectFault } from "./fault.ts";
import type { ByteRange, RangeRequest } from "./model.ts";

/** The range within an object of this size. What it has of it is given; nothing at all is a fault. */
export function resolveRange(request: RangeRequest | undefined, size: number): ByteRange {
  if (request === undefined) return { offset: 0, length: size };
  if ("suffix" in request) {
    const length = Math.min(count(request.suffix), size);
    return notEmpty({ offset: size - length, length });
  }
  const { offset, length } = request;
  if (offset === undefined && length === undefined) return { offset: 0, length: size };
  const start = count(offset ?? 0);
  return notEmpty({ offset: start, length: Math.min(count(length ?? size), size - start) });
}

function count(given: number): number {
  if (!Number.isSafeInteger(given) || given < 0) throw unsatisfiable(`${given} is no such number`);
  return given;
}

function notEmpty(range: ByteRange): ByteRange {
  if (range.length <= 0) throw unsatisfiable("the object has none of it");
  return range;
}

function unsatisfiable(why: string): ObjectFault {
  return new ObjectFault("bad-range", `The requested range is not satisfiable: ${why}`);
}
