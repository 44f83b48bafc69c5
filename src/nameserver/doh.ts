/** DNS over HTTPS: a message in a request, its response in the answer. RFC 8484. */
import type { IncomingMessage } from "node:http";
import { clientAddress, readBody, type Reply } from "#http";
import type { Ranges } from "#kit/cidr.ts";
import { type Client, STREAM_OCTETS, TRANSPORT } from "./client.ts";
import { freshSeconds } from "./freshness.ts";
import { clientOf } from "./streams/client.ts";

export interface DohOptions {
  /** Null when the message deserves no response, as when it is itself one. */
  readonly respond: (
    query: Uint8Array,
    client: Client,
  ) => Promise<Uint8Array | null> | Uint8Array | null;
  /** Whose `X-Forwarded-For` is believed. */
  readonly trustedProxies: Ranges | null;
}

/** What it needs of a request with GET, HEAD or POST. */
export interface DohCall {
  readonly request: IncomingMessage;
  /** What follows the question mark. */
  readonly query: string;
}

const DNS_MESSAGE = "application/dns-message";
/** A header; what is shorter is no message. */
const MIN_MESSAGE = 12;

export function dohHandler({ respond, trustedProxies }: DohOptions) {
  return async ({ request, query }: DohCall): Promise<Reply> => {
    const message = request.method === "POST" ? await posted(request) : asked(query);
    if ("status" in message) return message;
    if (message.length < MIN_MESSAGE) return refusal(400, "The DNS message is cut short");
    const response = await respond(message, clientBehind(request, trustedProxies));
    if (response === null) return refusal(400, "The DNS message is not a query");
    const seconds = freshSeconds(response);
    return {
      status: 200,
      type: DNS_MESSAGE,
      body: response,
      headers: { "Cache-Control": seconds === null ? "no-store" : `max-age=${seconds}` },
    };
  };
}

/** Throws what `readBody` throws when it is too large or breaks off. */
async function posted(request: IncomingMessage): Promise<Uint8Array | Reply> {
  const [type = ""] = (request.headers["content-type"] ?? "").split(";");
  if (type.trim().toLowerCase() === DNS_MESSAGE) return readBody(request, STREAM_OCTETS);
  return refusal(415, `The Content-Type must be ${DNS_MESSAGE}`);
}

/** Base64url without padding. RFC 8484 §6. */
function asked(query: string): Uint8Array | Reply {
  const given = new URLSearchParams(query).getAll("dns");
  if (given.length !== 1) return refusal(400, "The query must have one parameter dns");
  const [text = ""] = given;
  if (!/^[\w-]+$/.test(text) || text.length % 4 === 1) {
    return refusal(400, "The parameter dns must be base64url without padding");
  }
  const message = Buffer.from(text, "base64url");
  return message.length <= STREAM_OCTETS ? message : refusal(413, "The DNS message is too large");
}

function clientBehind(request: IncomingMessage, trustedProxies: Ranges | null): Client {
  const forwarded = request.headers["x-forwarded-for"];
  const chain = Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
  const { remoteAddress = "", remotePort = 0 } = request.socket;
  const address = clientAddress(remoteAddress, chain, trustedProxies);
  return clientOf(TRANSPORT.https, address, remotePort);
}

function refusal(status: number, sentence: string): Reply {
  return {
    status,
    type: "text/plain; charset=utf-8",
    body: `${sentence}.\n`,
    headers: { "Cache-Control": "no-store" },
  };
}
