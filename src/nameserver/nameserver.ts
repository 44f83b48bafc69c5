/** Starts the nameserver: the snapshot, the threads that answer from it, and what they need of the outside. */
import { type HostPort, printHostPort } from "#kit/address.ts";
import type { Log } from "#kit/log.ts";
import type { Metrics } from "#kit/metrics.ts";
import type { Records, Zones } from "#zones";
import type { Client } from "./client.ts";
import { LateResponder } from "./late-responder.ts";
import { addNameserverMetrics } from "./nameserver-metrics.ts";
import { OutsideNames } from "./outside/outside-names.ts";
import { resolverServers } from "./outside/servers.ts";
import { StubResolver } from "./outside/stub-resolver.ts";
import { Publisher } from "./publisher.ts";
import { rateLimitTable } from "./rate-limit.ts";
import { connect, type ResponderSettings } from "./responder.ts";
import { RESPONSE_COUNTERS } from "./response-counters.ts";
import { onSamePort } from "./same-port.ts";
import type { PlatformFacts } from "./snapshot/served.ts";
import { defaultStreamLimits } from "./streams/limits.ts";
import {
  type CertificateFiles,
  readCertificate,
  watchCertificate,
} from "./streams/certificate-files.ts";
import type { Certificate } from "./streams/messages.ts";
import { ownCertificate } from "./streams/own-certificate.ts";
import { startStreams } from "./streams/streams.ts";
import { startUdp } from "./udp/threads.ts";

export interface NameserverOptions {
  readonly zones: Zones;
  readonly records: Records;
  /** UDP and TCP. */
  readonly address: HostPort;
  readonly tlsAddress: HostPort | null;
  /** The operator's, for TLS; null has one made in the data folder. */
  readonly certificate: CertificateFiles | null;
  readonly dataDir: string;
  readonly threads: number;
  readonly facts: PlatformFacts;
  /** Resolvers for names outside; the system's when empty. */
  readonly resolvers: readonly string[];
  readonly cookieSecret: Uint8Array;
  readonly identity: string | null;
  readonly version: string | null;
  readonly rates: { readonly answers: number; readonly others: number };
  /** Ranges without limits. */
  readonly exempt: readonly string[];
  readonly connections: number;
  readonly connectionsPerSource: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly now: () => number;
}

export interface Nameserver extends AsyncDisposable {
  readonly address: HostPort;
  readonly tlsAddress: HostPort | null;
  /** Answers a query that came over another door. */
  readonly respond: (query: Uint8Array, client: Client) => Promise<Uint8Array | null>;
}

/** Beside the query threads: the stream thread, the main thread, and one of each that is being replaced. */
const OTHER_READERS = 4;

export async function startNameserver(options: NameserverOptions): Promise<Nameserver> {
  const { log, now, threads } = options;
  await using started = new AsyncDisposableStack();
  const readers = threads + OTHER_READERS;
  const publisher = new Publisher({
    facts: options.facts,
    readers,
    onBadRecord: (name, type, cause) => log.error("record not served", { name, type, cause }),
    onFault: (zone, cause) => log.error("zone not published", { zone, cause }),
  });
  await load(publisher, options);

  const settings = settingsFor(options, readers);
  const connectReader = () => publisher.memory.connect();
  const disconnectReader = (slot: number) => publisher.memory.disconnect(slot);
  const resolver = started.use(
    new StubResolver({ servers: resolverServers(options.resolvers, now) }),
  );
  const outside = started.use(
    new OutsideNames({
      store: publisher.targets,
      resolver,
      now,
      onError: (cause) => log.error("outside name not resolved", { cause }),
    }),
  );
  const onFault = (cause: unknown) => log.error("a query could not be answered", { cause });
  const late = new LateResponder(connect(connectReader(), onFault)(settings), outside, now);
  const answerLater = (query: Uint8Array, client: Client) => late.answer(query, client);

  const common = { connectReader, disconnectReader, settings, answerLater, log };
  const { address, tlsAddress } = options;
  const certificate = tlsAddress && (await certificateFor(tlsAddress, options));
  const onRestart = () => log.warn("a query thread was started anew");
  const { exempt, connections, connectionsPerSource } = options;
  const limits = { ...defaultStreamLimits, exempt, connections, connectionsPerSource };
  const { udp, tcp: streams } = await onSamePort(
    address,
    () => startUdp({ ...common, address, threads, onRestart }),
    (address) => startStreams({ ...common, address, tlsAddress, certificate, limits }),
  );
  started.use(udp);
  started.use(streams);
  if (certificate !== null && options.certificate !== null) {
    const use = (next: Certificate) => streams.setCertificate(next);
    started.use(watchCertificate(options.certificate, certificate, use, log));
  }
  addNameserverMetrics(options.metrics, { publisher, settings, udp, streams, outside });
  const all = started.move();
  return {
    address: udp.address,
    tlsAddress: streams.tlsAddress,
    respond: answerLater,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

function certificateFor({ host }: HostPort, options: NameserverOptions): Promise<Certificate> {
  const { certificate, dataDir, facts, now } = options;
  return certificate === null
    ? ownCertificate({ dataDir, names: facts.nameservers, host, now })
    : readCertificate(certificate);
}

async function load(publisher: Publisher, options: NameserverOptions): Promise<void> {
  const { zones, records, log } = options;
  const start = performance.now();
  const count = await publisher.load(await zones.follow(publisher), records.rows(null));
  log.info("zones loaded", {
    zones: publisher.zoneCount,
    records: count,
    ms: Math.round(performance.now() - start),
    bytes: publisher.memory.used,
    address: printHostPort(options.address),
  });
}

function settingsFor(options: NameserverOptions, readers: number): ResponderSettings {
  const { rates, exempt, cookieSecret, identity, version } = options;
  const isLimited = rates.answers > 0 || rates.others > 0;
  return {
    cookieSecret,
    identity,
    version,
    rateLimit: isLimited ? { ...rates, exempt, table: rateLimitTable() } : null,
    counters: new SharedArrayBuffer(RESPONSE_COUNTERS * readers * Float64Array.BYTES_PER_ELEMENT),
  };
}
