import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { afterEach, suite, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { selfSigned } from "#kit/self-signed.ts";
import { httpLimits } from "../../test/support/http-limits.ts";
import { type HttpListener, listenHttp } from "./server.ts";
import type { CertifiedKey, TlsOptions } from "./tls-front.ts";

const HOUR_MS = 3_600_000;

let listener: HttpListener;
afterEach(() => listener[Symbol.asyncDispose]());

async function listen(tls: Pick<TlsOptions, "fallback">): Promise<void> {
  listener = await listenHttp({
    address: { host: "127.0.0.1", port: 0 },
    flag: "--test",
    limits: httpLimits,
    handle: (_request, response) => response.end(),
    answerRejected: () => ({ type: "text/plain", body: "", requestId: "" }),
    unlimited: null,
    onTurnedAway: assert.fail,
    tls: { contextFor: async () => null, ticketKeys: new Uint8Array(48), ...tls },
  });
}

function pairFor(name: string): CertifiedKey {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = selfSigned({
    privateKey,
    names: [name],
    addresses: [],
    validFrom: Date.now() - HOUR_MS,
    validUntil: Date.now() + HOUR_MS,
    serial: Buffer.from([1]),
  });
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

/** Without a name: by an address, as health checks and scanners do. */
async function shake(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ ...listener.address, rejectUnauthorized: false, ...options });
  await once(socket, "secureConnect");
  return socket;
}

async function nameShown(): Promise<string> {
  const socket = await shake();
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return String(subject.CN);
}

suite("a client that names no host", () => {
  const [one, other] = [pairFor("one.test"), pairFor("other.test")];

  test("is shown what stands in, and what stands in for that from then on", async () => {
    let pair = one;
    await listen({ fallback: () => pair });
    assert.equal(await nameShown(), "one.test");
    pair = other;
    assert.equal(await nameShown(), "other.test");
  });

  test("waits for it where it is asked for first, also when the client is quick", async () => {
    let pair = one;
    await listen({
      fallback: () => setTimeout(100).then(() => pair),
    });
    assert.equal(await nameShown(), "one.test");
    pair = other;
    assert.equal(await nameShown(), "other.test");
  });

  test("may leave meanwhile", async () => {
    const asked = Promise.withResolvers<() => void>();
    let isFirst = true;
    await listen({
      fallback: () => {
        if (!isFirst) return one;
        isFirst = false;
        return new Promise((resolve) => asked.resolve(() => resolve(one)));
      },
    });
    const leaving = connectTcp(listener.address.port, listener.address.host);
    const goOn = await asked.promise;
    await once(leaving.resetAndDestroy(), "close");
    await setTimeout(20); // Nothing here tells when the other side has seen it.
    goOn();
    assert.equal(await nameShown(), "one.test");
  });

  test("is refused where nothing stands in", async () => {
    let pair: CertifiedKey | null = null;
    await listen({ fallback: () => pair });
    await assert.rejects(shake());
    pair = one;
    assert.equal(await nameShown(), "one.test");
    pair = null;
    await assert.rejects(shake());
  });

  test("goes on with its session when the certificate has changed", async () => {
    let pair = one;
    await listen({ fallback: () => pair });
    const first = await shake({ maxVersion: "TLSv1.2" });
    const session = first.getSession()!;
    first.destroy();
    pair = other;
    const again = await shake({ maxVersion: "TLSv1.2", session });
    assert.equal(again.isSessionReused(), true);
    again.destroy();
  });
});
