/** A DNS server that is managed over HTTP, as the bench of records sees it; ours as one. */
import { join } from "node:path";
import { EMAIL, KEY, runSelvedge } from "../../test/support/server.ts";
import { type Contender, launch, type Running } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";

export interface RecordServer extends Running {
  readonly name: string;
  /** What every request carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its SQLite database. */
  readonly database: string;
  makeZone(name: string): Promise<RecordZone>;
}

export interface RecordZone {
  /** Adds the record with a number that stands where the body has `NUMBER`. */
  readonly create: { readonly method: string; readonly path: string; readonly body: string };
  /** All records; of us, the first 1000. */
  readonly list: string;
  readonly exported: string;
  /** Adds many records with one request. */
  fillWith(records: readonly AddressRecord[]): {
    readonly method: string;
    readonly path: string;
    readonly body: string | FormData;
  };
}

export interface RecordContender extends Contender {
  start(): Promise<RecordServer>;
}

/** An A record; the name has no last dot. */
export interface AddressRecord {
  readonly name: string;
  readonly content: string;
}

/** Stands for a record's number in the body of a request. */
export const NUMBER = "{number}";

export const TTL_SECONDS = 300;
export const ADDRESS = "192.0.2.1";

/** A zone file of 100 000 records is some 4 MB, and the default 1 MiB. */
export const BODY_BYTES = 64 * 1024 ** 2;

const BASE = "/client/v4";

export function selvedgeRecords(leftovers: Leftovers): RecordContender {
  return {
    name: "selvedge",
    async start() {
      const data = await leftovers.folder();
      const env = {
        SELVEDGE_BOOTSTRAP_KEY: KEY,
        SELVEDGE_LIMITS_API_BODY_BYTES: String(BODY_BYTES),
      };
      const args = ["serve", "--data", data, "--api", "127.0.0.1:0"];
      const running = await launch(leftovers, {
        spawn: () => runSelvedge(args, env),
        door: "api",
        folders: [data],
      });
      const headers = { "X-Auth-Email": EMAIL, "X-Auth-Key": KEY };
      return {
        ...running,
        name: this.name,
        headers,
        database: join(data, "selvedge.db"),
        async makeZone(name) {
          const response = await fetch(`${running.address}${BASE}/zones`, {
            method: "POST",
            headers: { ...headers, "Content-Type": "application/json" },
            body: JSON.stringify({ name }),
          });
          const text = await response.text();
          if (!response.ok) throw new Error(`Cannot make the zone ${name}: ${text}`);
          const { result } = JSON.parse(text) as { result: { id: string } };
          return zoneAt(`${BASE}/zones/${result.id}/dns_records`, name);
        },
      };
    },
  };
}

function zoneAt(path: string, zone: string): RecordZone {
  return {
    create: {
      method: "POST",
      path,
      body: JSON.stringify({
        type: "A",
        name: `r${NUMBER}.${zone}`,
        content: ADDRESS,
        ttl: TTL_SECONDS,
      }),
    },
    list: `${path}?per_page=1000`,
    exported: `${path}/export`,
    fillWith(records) {
      const lines = records.map(({ name, content }) => `${name}. ${TTL_SECONDS} IN A ${content}\n`);
      const body = new FormData();
      // Joined: a blob of many parts would be sent in as many pieces.
      body.append("file", new Blob([lines.join("")]), "zone.txt");
      return { method: "POST", path: `${path}/import`, body };
    },
  };
}
