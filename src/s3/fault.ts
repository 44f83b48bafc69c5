/** Something asked of the S3 door that it will not do, in S3's own words. */
import { codes, type S3Code } from "./codes.ts";

export interface S3FaultDetails extends ErrorOptions {
  /** Further elements of the error document, in their order. */
  readonly extra?: Readonly<Record<string, string>>;
  /** Where another than the code's own is right. */
  readonly status?: number;
  /** Of the answer, names and values in turn. */
  readonly headers?: readonly string[];
}

export class S3Fault extends Error {
  override readonly name = "S3Fault";
  readonly code: S3Code;
  readonly status: number;
  readonly extra: Readonly<Record<string, string>>;
  readonly headers: readonly string[];

  constructor(
    code: S3Code,
    message: string = codes[code][1],
    { extra = {}, status = codes[code][0], headers = [], ...options }: S3FaultDetails = {},
  ) {
    super(message, options);
    this.code = code;
    this.status = status;
    this.extra = extra;
    this.headers = headers;
  }
}
