/** From an order to a certificate, from whichever step it has reached. RFC 8555 §7.4, §7.5; DNS-01: §8.4. */
import { createPrivateKey } from "node:crypto";
import { z } from "zod";
import { makeRequest } from "#kit/x509.ts";
import { AcmeFault, problemShape, retryAfterMs, sentenceOf } from "./fault.ts";
import { dnsAnswer } from "./jws.ts";
import { type AcmeSession, locationOf, readAnswer } from "./session.ts";

/**
 * Puts TXT records with these values at a name, and takes them away when it is disposed of. The records of
 * an attempt that was cut short may still be there.
 */
export type PublishChallenge = (
  name: string,
  values: readonly string[],
) => Promise<AsyncDisposable>;

export interface OrderOptions {
  readonly session: AcmeSession;
  readonly publish: PublishChallenge;
  readonly now: () => number;
  /** Throws when the work is to end. */
  readonly sleep: (ms: number) => Promise<void>;
  /** How long after a record is published all of our servers answer it. */
  readonly settleMs: number;
}

const orderShape = z.object({
  status: z.enum(["pending", "ready", "processing", "valid", "invalid"]),
  authorizations: z.array(z.string()),
  finalize: z.string(),
  certificate: z.string().optional(),
  error: problemShape.optional(),
});
const authorizationShape = z.object({
  status: z.string(),
  identifier: z.object({ value: z.string() }),
  challenges: z.array(
    z.object({
      type: z.string(),
      url: z.string(),
      status: z.string(),
      token: z.string().optional(),
      error: problemShape.optional(),
    }),
  ),
});
type Authorization = z.output<typeof authorizationShape>;

/** Between looks when the server names no time; doubled up to the most. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 15_000;
/** Authorities that look from several places take up to minutes; then it is tried again another time. */
const PATIENCE_MS = 5 * 60_000;

/** Begins an order for these names and gives its address. */
export async function beginOrder(session: AcmeSession, hosts: readonly string[]): Promise<string> {
  const identifiers = hosts.map((value) => ({ type: "dns", value }));
  const { headers } = await session.post(session.newOrderUrl, { identifiers });
  return locationOf(headers);
}

/** Brings an order to its end and gives the chain in PEM. */
export async function completeOrder(
  url: string,
  { hosts, privateKey }: { readonly hosts: readonly string[]; readonly privateKey: string },
  options: OrderOptions,
): Promise<string> {
  const { session } = options;
  let order = readAnswer(await session.post(url, null), orderShape);
  if (order.status === "pending") {
    await authorize(order.authorizations, options);
    order = await readUntil(url, orderShape, ({ status }) => status !== "pending", options);
  }
  if (order.status === "ready") {
    const csr = makeRequest(createPrivateKey(privateKey), hosts).toString("base64url");
    await session.post(order.finalize, { csr });
  }
  if (order.status === "ready" || order.status === "processing") {
    const isOver = (status: string) => status === "valid" || status === "invalid";
    order = await readUntil(url, orderShape, ({ status }) => isOver(status), options);
  }
  if (order.certificate === undefined) {
    const why = order.error === undefined ? "" : `: ${sentenceOf(order.error)}`;
    throw new AcmeFault("refused", `The authority has ended the order as ${order.status}${why}`);
  }
  return (await session.post(order.certificate, null)).text;
}

/** A name that is still to be proven. */
interface OpenProof {
  /** Of the authorization. */
  readonly url: string;
  /** Where the record stands. */
  readonly name: string;
  readonly token: string;
  readonly challenge: string;
  /** Whether the server was told to look, before a crash perhaps: it may not be told again. */
  readonly isAsked: boolean;
}

/** Answers what is still to be proven, all together, and waits until the server has looked. */
async function authorize(urls: readonly string[], options: OrderOptions): Promise<void> {
  const { session, publish, sleep, settleMs } = options;
  const open: OpenProof[] = [];
  for (const url of urls) {
    const authorization = readAnswer(await session.post(url, null), authorizationShape);
    if (authorization.status === "pending") open.push(dnsProof(url, authorization));
    else if (authorization.status !== "valid") throw unproven(authorization);
  }
  await using published = new AsyncDisposableStack();
  // A name and its wildcard are proven at the same place.
  for (const [name, there] of Map.groupBy(open, (one) => one.name)) {
    const values = there.map(({ token }) => dnsAnswer(token, session.privateKey));
    published.use(await publish(name, values));
  }
  if (open.length > 0) await sleep(settleMs);
  for (const { challenge, isAsked } of open) if (!isAsked) await session.post(challenge, {});
  for (const { url } of open) {
    const isOver = ({ status }: Authorization) => status !== "pending" && status !== "processing";
    const seen = await readUntil(url, authorizationShape, isOver, options);
    if (seen.status !== "valid") throw unproven(seen);
  }
}

function dnsProof(url: string, { identifier, challenges }: Authorization): OpenProof {
  const found = challenges.find(({ type }) => type === "dns-01");
  if (found?.token === undefined) {
    const message = `The authority offers no proof by DNS for ${identifier.value}`;
    throw new AcmeFault("refused", message);
  }
  const name = `_acme-challenge.${identifier.value}`;
  const isAsked = found.status !== "pending";
  return { url, name, token: found.token, challenge: found.url, isAsked };
}

function unproven({ identifier, status, challenges }: Authorization): AcmeFault {
  const error = challenges.find((one) => one.error !== undefined)?.error;
  const why = error === undefined ? `it is ${status}` : sentenceOf(error);
  return new AcmeFault("refused", `The authority does not grant ${identifier.value}: ${why}`);
}

/** Reads until something has come of it, in the rhythm that the server asks for. */
async function readUntil<S extends z.ZodType>(
  url: string,
  shape: S,
  isDone: (value: z.output<S>) => boolean,
  { session, now, sleep }: OrderOptions,
): Promise<z.output<S>> {
  const deadline = now() + PATIENCE_MS;
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(2 * waitMs, MAX_WAIT_MS)) {
    const response = await session.post(url, null);
    const value = readAnswer(response, shape);
    if (isDone(value)) return value;
    const asked = retryAfterMs(response, now());
    const pause = Math.max(asked ?? waitMs, FIRST_WAIT_MS);
    if (now() + pause > deadline) {
      const message = "The authority has not decided in time";
      throw new AcmeFault("later", message, { retryAfterMs: asked });
    }
    await sleep(pause);
  }
}
