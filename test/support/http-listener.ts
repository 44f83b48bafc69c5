/** A listener of a test's own, in clear or over TLS, and connections to it. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, createSecureContext } from "node:tls";
import type { HttpLimits } from "../../src/http/limits.ts";
import { type HttpListener, listenHttp } from "../../src/http/server.ts";
import { selfSigned } from "../../src/kit/self-signed.ts";
import { httpLimits } from "./http-limits.ts";

const HOUR_MS = 3_600_000;

const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pair = {
  key: privateKey.export({ type: "pkcs8", format: "pem" }),
  cert: selfSigned({
    privateKey,
    names: ["x.test"],
    addresses: [],
    validFrom: Date.now() - HOUR_MS,
    validUntil: Date.now() + HOUR_MS,
    serial: Buffer.from([1]),
  }),
};

export interface TestListenerOptions {
  readonly isSecure: boolean;
  readonly handle: RequestListener;
  readonly limits?: Partial<HttpLimits>;
}

export function listenForTest(options: TestListenerOptions): Promise<HttpListener> {
  const { isSecure, handle, limits } = options;
  return listenHttp({
    address: { host: "127.0.0.1", port: 0 },
    flag: "--test",
    limits: { ...httpLimits, ...limits },
    handle,
    answerRejected: ({ status, isCutShort }) => ({
      type: "text/plain",
      body: `refused ${status}${isCutShort === true ? " cut short" : ""}`,
      requestId: "",
    }),
    unlimited: null,
    onTurnedAway: assert.fail,
    ...(isSecure && {
      tls: {
        contextFor: async () => createSecureContext(pair),
        fallback: () => pair,
        ticketKeys: new Uint8Array(48),
      },
    }),
  });
}

export async function connectTo({ address }: HttpListener, isSecure: boolean): Promise<Socket> {
  const socket = isSecure
    ? connectTls({ ...address, rejectUnauthorized: false, ALPNProtocols: ["http/1.1"] })
    : connectTcp(address);
  await once(socket, isSecure ? "secureConnect" : "connect");
  return socket;
}
