/** The envelope around every answer. Compact, all four keys always there: shell clients grep it. */
import type { Reply } from "#http";

export interface ApiMessage {
  readonly code: number;
  readonly message: string;
  readonly type?: null;
  readonly error_chain?: readonly { readonly code: number; readonly message: string }[];
  readonly source?: { readonly pointer: string };
}

/** How a list is paged. `count` must not stand last: one client cuts it out up to a comma. */
export interface ResultInfo {
  readonly page: number;
  readonly per_page: number;
  readonly count: number;
  readonly total_count: number;
  readonly total_pages: number;
}

/** How a list is gone on with that has no numbers of pages. */
export interface CursorInfo {
  /** There only when something remains. */
  readonly cursor?: string;
  readonly per_page: number;
  /** Of a list of objects. */
  readonly is_truncated?: boolean;
  readonly delimited?: readonly string[];
}

/** A result with more to say than itself. */
export class Answer {
  readonly result: unknown;
  readonly messages: readonly ApiMessage[];
  readonly resultInfo: ResultInfo | CursorInfo | null;
  /** Keys that stand beside the result. */
  readonly beside: Readonly<Record<string, unknown>>;
  constructor(
    result: unknown,
    more: {
      messages?: readonly ApiMessage[];
      resultInfo?: ResultInfo | CursorInfo;
      beside?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    this.result = result;
    this.messages = more.messages ?? [];
    this.resultInfo = more.resultInfo ?? null;
    this.beside = more.beside ?? {};
  }
}

/** A result that is text, not JSON. */
export class TextAnswer {
  readonly text: string;
  readonly filename: string;
  constructor(text: string, filename: string) {
    this.text = text;
    this.filename = filename;
  }
}

/** An answer without an envelope: octets, or what else is not JSON. */
export class PlainAnswer {
  readonly reply: Reply;
  constructor(reply: Reply) {
    this.reply = reply;
  }
}

export function successBody(value: unknown): string {
  if (!(value instanceof Answer)) return wrap(JSON.stringify(value), "", "[]");
  const { result, resultInfo, messages } = value;
  const more = { ...(resultInfo !== null && { result_info: resultInfo }), ...value.beside };
  const info = Object.entries(more).map(([name, one]) => `"${name}":${JSON.stringify(one)},`);
  return wrap(JSON.stringify(result), info.join(""), JSON.stringify(messages));
}

function wrap(result: string, info: string, messages: string): string {
  return `{"result":${result},${info}"success":true,"errors":[],"messages":${messages}}`;
}

export function failureBody(errors: readonly ApiMessage[]): string {
  return JSON.stringify({ result: null, success: false, errors, messages: [] });
}
