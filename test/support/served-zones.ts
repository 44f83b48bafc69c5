/** Zones served in this process, without sockets and without a database: for tests of the answer path. */
import { recordType } from "#dns";
import type { Zone } from "#zones";
import { parseZoneFile } from "../../src/dns/zone-file/parse.ts";
import { type Client, TRANSPORT } from "../../src/nameserver/client.ts";
import { Publisher } from "../../src/nameserver/publisher.ts";
import type { RateLimitSettings } from "../../src/nameserver/rate-limit.ts";
import { connect, type Responder } from "../../src/nameserver/responder.ts";
import { RESPONSE_COUNTERS } from "../../src/nameserver/response-counters.ts";
import type { ServedRecord } from "../../src/nameserver/snapshot/served.ts";
import { defaultDnsSettings } from "../../src/zones/dns-settings.ts";

const READERS = 4;

export interface ServedZones {
  readonly publisher: Publisher;
  readonly responder: Responder;
  /** The response's octets, null for none, "deferred" when it needs a name outside. */
  ask(query: Uint8Array, client?: Partial<Client>, nowMs?: number): Uint8Array | null | "deferred";
}

/** Serves zone files: the text after each zone's name, relative to it. */
export function serveZones(
  files: Readonly<Record<string, string>>,
  options: {
    readonly rateLimit?: RateLimitSettings;
    readonly identity?: string;
    readonly onBadRecord?: (name: string) => void;
  } = {},
): ServedZones {
  const publisher = new Publisher({
    facts: {
      nameservers: ["ns1.selvedge.test", "ns2.selvedge.test"],
      edgeAddresses: ["203.0.113.7", "2001:db8::7"],
      edgeProtocols: ["h2"],
    },
    readers: READERS,
    onBadRecord: (name, type, cause) => {
      if (options.onBadRecord !== undefined) return options.onBadRecord(name);
      throw new Error(`Cannot serve the ${type} record of ${name}`, { cause });
    },
    onFault: (zone, cause) => {
      throw new Error(`Cannot publish ${zone}`, { cause });
    },
  });
  let number = 0;
  for (const [name, text] of Object.entries(files)) {
    publisher.changed(zoneNamed(name, ++number), namesOf(name, text));
  }
  const connectResponder = connect(publisher.memory.connect(), (cause) => {
    throw cause;
  });
  const responder = connectResponder({
    cookieSecret: new Uint8Array(16).fill(7),
    identity: options.identity ?? null,
    version: null,
    rateLimit: options.rateLimit ?? null,
    counters: new SharedArrayBuffer(RESPONSE_COUNTERS * READERS * Float64Array.BYTES_PER_ELEMENT),
  });
  const reply = new Uint8Array(0x10000);
  return {
    publisher,
    responder,
    ask(query, client = {}, nowMs = Date.now()) {
      responder.begin(nowMs);
      const length = responder.respond(
        query,
        0,
        query.length,
        { ...anyone(), ...client },
        reply,
        0,
      );
      responder.end();
      if (length < 0) return "deferred";
      return length === 0 ? null : reply.slice(0, length);
    },
  };
}

export function zoneNamed(name: string, number: number): Zone {
  return {
    id: `zone-${number}`,
    number,
    accountId: "account",
    name,
    status: "active",
    type: "full",
    paused: false,
    vanityNameServers: [],
    settings: {},
    dnsSettings: defaultDnsSettings,
    serial: 1,
    firstSerial: 1,
    records: 0,
    createdAt: 0,
    modifiedAt: 0,
    activatedAt: null,
  };
}

function anyone(): Client {
  const address = new Uint8Array(16);
  address.set([192, 0, 2, 1]);
  return { transport: TRANSPORT.udp, address, addressLength: 4, port: 4242 };
}

function namesOf(zone: string, text: string): Map<string, never[]> {
  const { records, errors } = parseZoneFile(Buffer.from(text), { origin: `${zone}.` });
  if (errors.length > 0) throw new Error(`Bad zone: ${JSON.stringify(errors)}`);
  const names = new Map<string, ServedRecord[]>();
  for (const { owner, type, ttl, data } of records) {
    const { content, priority } = recordType(type)!.api.show(data);
    const name = owner.slice(0, -1).toLowerCase();
    const record = {
      type,
      content: content,
      priority: priority ?? null,
      ttl: ttl ?? 1,
      proxied: false,
      extra: null,
    };
    names.set(name, [...(names.get(name) ?? []), record]);
  }
  return names as Map<string, never[]>;
}
