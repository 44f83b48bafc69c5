/**
 * How the management API shows record data and takes it: some types as `content` alone, others as a
 * `data` object of which `content` is the summary; MX, SRV and URI with their `priority` beside it.
 */
import { apiName, type DataOf, type Fields, inOrder } from "./codec.ts";
import { RecordFault } from "./fault.ts";
import { stringField, u16 } from "./fields.ts";
import { contentReader, type TextReader } from "./text.ts";

/** What of a request's body concerns the data. */
export interface RecordInput {
  readonly content?: string;
  readonly data?: Readonly<Record<string, unknown>>;
  readonly priority?: number;
}

/** What of a response concerns the data. */
export interface ShownRecord {
  readonly content: string;
  readonly priority?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface ApiForm<Data> {
  readonly show: (data: Data) => ShownRecord;
  readonly accept: (input: RecordInput) => Data;
}

/** The form of a type that is one field: `content` is it. */
export function contentApi<K extends string, T>(
  key: K,
  take: (content: string, name: string) => T,
  show: (value: T) => string,
): ApiForm<{ readonly [P in K]: T }> {
  return {
    show: (data) => ({ content: show(data[key]) }),
    accept: (input) => {
      return { [key]: take(contentOf(input), "content") } as { readonly [P in K]: T };
    },
  };
}

export function contentOf(input: RecordInput): string {
  if (isAbsent(input.content)) {
    throw new RecordFault("missing-field", "content", "content is a required field");
  }
  return stringField(input.content, "content");
}

/** The priority that stands beside the content or in `data`; null when in neither. */
export function priorityOf(input: RecordInput): number | null {
  const given = ownValue(input.data, "priority") ?? input.priority;
  return isAbsent(given) ? null : u16.take(given, "priority");
}

export function missingPriority(): RecordFault {
  return new RecordFault("missing-field", "priority", "priority is a required field");
}

export interface DataApiOptions<F extends Fields> {
  /** The content, where it is not simply the presentation text. */
  readonly content?: (data: DataOf<F>) => string;
  /** Reads such a content. */
  readonly parse?: (text: TextReader, input: RecordInput) => DataOf<F>;
  /** For keys that clients leave out. */
  readonly defaults?: { readonly [K in keyof F]?: DataOf<F>[K] };
  /** Keys that `data` does not have, because they stand beside it. */
  readonly beside?: (data: DataOf<F>) => { priority: number };
  readonly hidden?: readonly (keyof F)[];
  /** Fields that `data` shows otherwise than a field of their kind does. */
  readonly give?: { readonly [K in keyof F]?: (value: DataOf<F>[K]) => unknown };
}

/** The form of a structured type: a `data` object with a key for each field. */
export function dataApi<F extends Fields>(
  fields: F,
  options: DataApiOptions<F> = {},
): ApiForm<DataOf<F>> {
  const codec = inOrder(fields);
  const keys = Object.keys(fields) as (keyof F & string)[];
  const content = options.content ?? codec.print;
  const parse = options.parse ?? codec.parse;

  const show = (data: DataOf<F>): ShownRecord => {
    const shown = keys.filter((key) => options.hidden?.includes(key) !== true);
    const give = (key: keyof F & string) => (options.give?.[key] ?? fields[key]!.give)(data[key]);
    const json = Object.fromEntries(shown.map((key) => [apiName(key), give(key)]));
    return { content: content(data), ...options.beside?.(data), data: json };
  };

  const accept = (input: RecordInput): DataOf<F> => {
    const given = (key: string) =>
      ownValue(input.data, apiName(key)) ?? (key === "priority" ? input.priority : undefined);
    // libdns sends `{"tag":""}` with every type: a key counts when it says something.
    const hasData = keys.some((key) => isTelling(ownValue(input.data, apiName(key))));
    if (!hasData && isTelling(input.content)) {
      const text = contentReader(contentOf(input));
      const data = parse(text, input);
      text.end();
      return data;
    }
    const missing = keys.filter(
      (key) => isAbsent(given(key)) && options.defaults?.[key] === undefined,
    );
    if (missing.length > 0) throw missingKeys(missing.map(apiName), options.hidden);
    const entries = keys.map((key) => {
      const value = given(key);
      const name = apiName(key);
      return [key, isAbsent(value) ? options.defaults![key] : fields[key]!.take(value, name)];
    });
    return Object.fromEntries(entries) as DataOf<F>;
  };

  return { show, accept };
}

function missingKeys(names: readonly string[], hidden: readonly PropertyKey[] = []): RecordFault {
  if (names.every((name) => hidden.includes(name))) return missingPriority();
  const verb = names.length === 1 ? "is a required data field" : "are required data fields";
  return new RecordFault("missing-data-field", names, `${names.join(", ")} ${verb}`);
}

/** What a PATCH asks for, filled up with what is there. */
export function changeInput(shown: ShownRecord, input: RecordInput): RecordInput {
  const priority = input.priority ?? shown.priority;
  const beside = priority === undefined ? {} : { priority };
  const own = Object.entries(input.data ?? {}).filter(([key, value]) => {
    return value !== undefined && shown.data !== undefined && Object.hasOwn(shown.data, key);
  });
  if (shown.data === undefined) return { content: shown.content, ...input, ...beside };
  if (own.length === 0 && isTelling(input.content)) return { content: input.content!, ...beside };
  const moved =
    input.priority !== undefined && "priority" in shown.data ? { priority: input.priority } : {};
  return { content: shown.content, ...beside, data: { ...shown.data, ...moved, ...input.data } };
}

/** A key of an object that a stranger sent: never one that the object inherits. */
export function ownValue(data: RecordInput["data"], key: string): unknown {
  return typeof data === "object" && data !== null && Object.hasOwn(data, key)
    ? data[key]
    : undefined;
}

export function isAbsent(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

export function isTelling(value: unknown): boolean {
  return !isAbsent(value) && value !== "";
}
