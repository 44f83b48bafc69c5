/** Writes WebAssembly modules, as far as programs that only compute need it. WebAssembly Core Specification §5. */

/** Octets of a module, nested as they were put together. */
export type Code = readonly (number | Code)[];
/** The number of a function's argument or variable: the arguments come first. */
export type Local = number;

export interface WasmFunction {
  readonly name: string;
  /** Of 32 bits each. It gives nothing back. */
  readonly argumentCount: number;
  /** All variables are of this type. */
  readonly variableType: number;
  readonly variableCount: number;
  readonly instructions: Code;
}

export const I32 = 0x7f;
export const V128 = 0x7b;

const HEADER: Code = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
const SECTION = { type: 1, import: 2, function: 3, export: 7, code: 10 } as const;
const FUNCTION_TYPE = 0x60;
const END = 0x0b;

const IMPORTED_MEMORY = 0x02;
/** Memory that threads share has a maximum; a module takes what has no more than it says, so it says the most. */
const SHARED_WITH_MAXIMUM = 0x03;
const MOST_PAGES = 65_536;

/** A module that works on shared memory, which it imports as `env.memory`, and exports its functions. */
export function wasmModule(functions: readonly WasmFunction[]): Uint8Array<ArrayBuffer> {
  const memory = [IMPORTED_MEMORY, SHARED_WITH_MAXIMUM, unsigned(1), unsigned(MOST_PAGES)];
  const octets = flattened([
    HEADER,
    section(
      SECTION.type,
      functions.map(({ argumentCount }) => [FUNCTION_TYPE, words(argumentCount), words(0)]),
    ),
    section(SECTION.import, [[text("env"), text("memory"), memory]]),
    section(
      SECTION.function,
      functions.map((_, i) => unsigned(i)),
    ),
    section(
      SECTION.export,
      functions.map(({ name }, i) => [text(name), 0, unsigned(i)]),
    ),
    section(SECTION.code, functions.map(functionCode)),
  ]);
  return Uint8Array.from(octets);
}

/** So many types of 32-bit words. */
function words(count: number): Code {
  return list(Array.from({ length: count }, () => [I32]));
}

function functionCode({ variableType, variableCount, instructions }: WasmFunction): Code {
  const variables = list([[unsigned(variableCount), variableType]]);
  return sized([variables, instructions, END]);
}

function section(id: number, items: readonly Code[]): Code {
  return [id, sized(list(items))];
}

function list(items: readonly Code[]): Code {
  return [unsigned(items.length), items];
}

function text(value: string): Code {
  return sized([...Buffer.from(value)]);
}

function sized(code: Code): Code {
  const octets = flattened(code);
  return [unsigned(octets.length), octets];
}

function flattened(code: Code, into: number[] = []): number[] {
  for (const item of code) {
    if (typeof item === "number") into.push(item);
    else flattened(item, into);
  }
  return into;
}

export function get(local: Local): Code {
  return [0x20, unsigned(local)];
}

export function set(local: Local): Code {
  return [0x21, unsigned(local)];
}

export function i32(value: number): Code {
  return [0x41, signed(value | 0)];
}

/** Adds to a variable. */
export function advance(local: Local, by: number): Code {
  return [get(local), i32(by), 0x6a, set(local)];
}

/** As often as the variable says, and at least once; it counts down. */
export function repeat(times: Local, instructions: Code): Code {
  const [loop, noResult, branchIf] = [0x03, 0x40, 0x0d];
  return [loop, noResult, instructions, advance(times, -1), get(times), branchIf, 0, END];
}

/** An instruction for vectors, by its number. */
export function vector(number: number): Code {
  return [0xfd, unsigned(number)];
}

/** What follows a load or a store: how far on from the address, of which no alignment is promised. */
export function further(octets: number): Code {
  return [0, unsigned(octets)];
}

/** LEB128: seven bits in each octet, the lowest first. */
function unsigned(value: number): Code {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const isLast = value >= -0x40 && value < 0x40;
  return isLast ? [value & 0x7f] : [(value & 0x7f) | 0x80, signed(value >> 7)];
}
