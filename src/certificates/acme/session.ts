/** Speaks with an ACME server in the name of an account. RFC 8555 §6, §7.1 to §7.3. */
import type { KeyObject } from "node:crypto";
import { z } from "zod";
import { AcmeFault, faultOf } from "./fault.ts";
import type { AcmeHttp, AcmeResponse } from "./http.ts";
import { externalBinding, signedBody } from "./jws.ts";

export interface SessionOptions {
  readonly http: AcmeHttp;
  readonly directory: string;
  /** The account's key. */
  readonly privateKey: KeyObject;
  readonly now: () => number;
}

export interface AccountWishes {
  readonly email: string | null;
  readonly externalAccount: { readonly kid: string; readonly hmacKey: string } | null;
}

const directoryShape = z.object({
  newNonce: z.string(),
  newAccount: z.string(),
  newOrder: z.string(),
  meta: z.object({ externalAccountRequired: z.boolean().optional() }).optional(),
});
type Directory = z.output<typeof directoryShape>;

/** A server may forget nonces at any time; one that takes none of so many is broken. */
const MAX_NONCES = 5;
/** More than are ever under way. */
const NONCES_KEPT = 20;
const OK_BELOW = 300;

export class AcmeSession {
  readonly #options: SessionOptions;
  readonly #directory: Directory;
  readonly #nonces: string[] = [];
  #kid: string | null = null;

  private constructor(options: SessionOptions, directory: Directory) {
    this.#options = options;
    this.#directory = directory;
  }

  static async open(options: SessionOptions): Promise<AcmeSession> {
    const response = await options.http("GET", options.directory);
    if (response.status >= OK_BELOW) throw faultOf(response, options.now());
    return new AcmeSession(options, readAnswer(response, directoryShape));
  }

  get privateKey(): KeyObject {
    return this.#options.privateKey;
  }

  get newOrderUrl(): string {
    return this.#directory.newOrder;
  }

  /** Goes on with an account that was made before. */
  useAccount(kid: string): void {
    this.#kid = kid;
  }

  /** Registers the key, or finds the account that it has; gives the account's address. */
  async register({ email, externalAccount }: AccountWishes): Promise<string> {
    const { newAccount, meta } = this.#directory;
    if (meta?.externalAccountRequired === true && externalAccount === null) {
      throw new AcmeFault(
        "refused",
        "The authority takes only accounts it knows already: set acme.eab_kid and acme.eab_hmac_key",
      );
    }
    const binding =
      externalAccount && externalBinding(externalAccount, newAccount, this.#options.privateKey);
    const { headers } = await this.post(newAccount, {
      termsOfServiceAgreed: true,
      ...(email !== null && { contact: [`mailto:${email}`] }),
      ...(binding !== null && { externalAccountBinding: binding }),
    });
    this.#kid = locationOf(headers);
    return this.#kid;
  }

  /** A signed request; a payload of null reads. */
  async post(url: string, payload: object | null): Promise<AcmeResponse> {
    const { http, privateKey, now } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const nonce = this.#nonces.pop() ?? (await this.#freshNonce());
      const body = signedBody({ privateKey, kid: this.#kid }, { nonce, url }, payload);
      const response = await http("POST", url, body);
      this.#keepNonce(response);
      if (response.status < OK_BELOW) return response;
      const fault = faultOf(response, now());
      // The refusal itself brought a fresh one, which is the next to be used.
      if (fault.type !== "badNonce" || attempt === MAX_NONCES) throw fault;
    }
  }

  async #freshNonce(): Promise<string> {
    const response = await this.#options.http("HEAD", this.#directory.newNonce);
    const nonce = response.headers["replay-nonce"];
    if (typeof nonce === "string") return nonce;
    throw faultOf(response, this.#options.now());
  }

  #keepNonce({ headers }: AcmeResponse): void {
    const nonce = headers["replay-nonce"];
    if (typeof nonce === "string" && this.#nonces.length < NONCES_KEPT) this.#nonces.push(nonce);
  }
}

/** Reads an answer of which only the members that are needed count. */
export function readAnswer<S extends z.ZodType>({ text }: AcmeResponse, shape: S): z.output<S> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AcmeFault("refused", "The authority's answer is not JSON", { cause });
  }
  const checked = shape.safeParse(value);
  if (checked.success) return checked.data;
  const where = checked.error.issues[0]!.path.join(".");
  throw new AcmeFault("refused", `The authority's answer lacks what it must have: ${where}`);
}

export function locationOf(headers: AcmeResponse["headers"]): string {
  const { location } = headers;
  if (typeof location === "string") return location;
  throw new AcmeFault("refused", "The authority does not say where it keeps what it made");
}
