/** From what was measured of S3 servers to rows: what is shown of each, and what is aimed at. */
import type { Aim, Condition, Figures, Row, ShownFigure, Side } from "./bench.ts";
import { quiet } from "./dns-rows.ts";
import { RADOSGW } from "./radosgw.ts";
import { NGINX, OTHER, OURS } from "./s3-contenders.ts";
import { type S3Figures, sdkWorkloads } from "./s3-measure.ts";
import { type S3Workload, SIZES, workloads } from "./s3-site.ts";

/** A server with its figures, a set for each round; the order turned with every round. */
export interface MeasuredS3 {
  readonly key: string;
  readonly name: string;
  readonly rounds: readonly S3Figures[];
}

export const DISK = "disk";

const LARGE_GET_RATIO = 0.7;
const SMALL_GET_RATIO = 0.4;
const PUT_RATIO = 0.7;
const OTHER_RATIO = 3;
/** Up to here an object is a small one. */
const SMALL_OCTETS = SIZES[0]!.octets;

const diskFigures: readonly ShownFigure[] = [
  { key: "rate", label: "requests/s", digits: 0 },
  { key: "megabytes", label: "MB/s", digits: 1 },
];
export const s3Figures: readonly ShownFigure[] = [
  ...diskFigures,
  { key: "perCore", label: "requests per CPU second", digits: 0 },
  { key: "cpuMicros", label: "server CPU µs/request", digits: 1 },
  { key: "p50Micros", label: "p50 µs", digits: 0 },
  { key: "p99Micros", label: "p99 µs", digits: 0 },
  { key: "serverShare", label: "server's use of a core", digits: 2 },
  { key: "loadShare", label: "generator's use of a core", digits: 2 },
  { key: "othersShare", label: "others' use of a core", digits: 2 },
];

/** A row for each workload and each peer that was asked for it. */
export function s3Rows(servers: readonly MeasuredS3[]): Row[] {
  const ours = servers.find(({ key }) => key === OURS)!;
  const peers = servers.filter(({ key }) => key !== OURS);
  return [...workloads, ...sdkWorkloads].flatMap((workload) =>
    peers
      .filter(({ rounds }) => rounds[0]?.[workload.key] !== undefined)
      .map((peer): Row => {
        const isDisk = peer.key === DISK;
        return {
          name: isDisk ? `${workload.name}, beside files that are synced` : workload.name,
          names: { ours: ours.name, peer: peer.name },
          shown: isDisk ? diskFigures : s3Figures,
          aims: aimsOf(workload, peer.key),
          conditions: isDisk ? [] : [quiet satisfies Condition],
          rounds: ours.rounds.map((round, index) => ({
            first: (index % 2 === 0 ? "ours" : "peer") satisfies Side,
            ours: round[workload.key]!,
            peer: peer.rounds[index]![workload.key] as Figures,
          })),
        };
      }),
  );
}

function aimsOf({ action, size }: S3Workload, peer: string): Aim[] {
  if (peer === NGINX) {
    const ratioAtLeast = size.octets <= SMALL_OCTETS ? SMALL_GET_RATIO : LARGE_GET_RATIO;
    const text = `at least ${ratioAtLeast * 100} % of nginx's requests per CPU second`;
    return [{ text, key: "perCore", ratioAtLeast }];
  }
  if (peer === DISK) {
    const text = `at least ${PUT_RATIO * 100} % of what the disk allows`;
    return [{ text, key: "megabytes", ratioAtLeast: PUT_RATIO }];
  }
  if (action === "list" || size.octets > SMALL_OCTETS) return [];
  if (peer === RADOSGW) {
    const text = `at least ${OTHER_RATIO} times radosgw's requests per CPU second`;
    return [{ text, key: "perCore", ratioAtLeast: OTHER_RATIO }];
  }
  if (peer === OTHER) {
    const text = `at least ${OTHER_RATIO} times as many requests a second`;
    return [{ text, key: "rate", ratioAtLeast: OTHER_RATIO }];
  }
  return [];
}
