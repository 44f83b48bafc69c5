/** Requests to an ACME server: HTTPS only, bounded in size and time. RFC 8555 §6.1. */
import { request } from "node:https";
import { getCACertificates } from "node:tls";
import { AcmeFault } from "./fault.ts";

export interface AcmeResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export type AcmeHttp = (
  method: "GET" | "HEAD" | "POST",
  url: string,
  body?: string,
) => Promise<AcmeResponse>;

/** Finalizing takes some seconds with some authorities. */
const TIMEOUT_MS = 60_000;
/** A chain has some kilobytes, a directory less. */
const MAX_BYTES = 1024 ** 2;

/** @param authorities Roots in PEM that are trusted beside the usual ones. */
export function acmeHttp(authorities: string | null, stop: AbortSignal): AcmeHttp {
  const ca = authorities === null ? [] : [...getCACertificates("default"), authorities];
  return (method, url, body) => {
    if (!url.startsWith("https://")) {
      throw new AcmeFault("refused", `The authority names an address that is not HTTPS: ${url}`);
    }
    const { promise, resolve, reject } = Promise.withResolvers<AcmeResponse>();
    const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
    const headers = {
      "User-Agent": "selvedge",
      ...(body !== undefined && {
        "Content-Type": "application/jose+json",
        "Content-Length": Buffer.byteLength(body),
      }),
    };
    const options = { method, headers, signal, ...(ca.length > 0 && { ca }) };
    const call = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      let length = 0;
      response.on("data", (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        if (length > MAX_BYTES) call.destroy(new Error(`its answer is over ${MAX_BYTES} bytes`));
      });
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
      response.on("error", (cause) => reject(unreachable(url, cause)));
    });
    call.on("error", (cause) => reject(unreachable(url, cause)));
    call.end(body);
    return promise;
  };
}

function unreachable(url: string, cause: Error): AcmeFault {
  const { host } = new URL(url);
  const why = cause.name === "TimeoutError" ? "it does not answer" : cause.message;
  return new AcmeFault("unreachable", `Cannot reach ${host}: ${why}`, { cause });
}
