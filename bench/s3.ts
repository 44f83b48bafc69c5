/** Objects over S3: our door beside nginx with plain files, s3rver, radosgw, the disk, and a server of one's own. */
import type { Bench, BenchContext } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import { RADOSGW_PACKAGES, radosgw } from "./kit/radosgw.ts";
import {
  nginxFiles,
  otherServer,
  type S3Contender,
  s3rver,
  selvedgeS3,
} from "./kit/s3-contenders.ts";
import { measureDisk, measureS3, type S3Figures, s3Parameters } from "./kit/s3-measure.ts";
import { DISK, s3Rows } from "./kit/s3-rows.ts";
import { scalingRows } from "./kit/s3-scaling.ts";
import { type S3Sdk, workloads } from "./kit/s3-site.ts";
import { hasWrk, WRK_PACKAGE } from "./kit/wrk.ts";

export const s3: Bench = {
  name: "s3",
  summary: "objects over S3, beside nginx, s3rver, radosgw and the disk",
  defaults: { rounds: 3, seconds: 3 },
  pinned: true,
  parameters: { ...s3Parameters, durable: "ours and radosgw sync every put, s3rver does not" },
  flags: {
    endpoint: {
      value: "URL",
      help: "an S3 server that runs already, whose key AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY hold",
      check(value) {
        if (!URL.canParse(value)) throw new Error(`--endpoint takes an address, not "${value}".`);
      },
    },
    pid: {
      value: "N",
      help: "the process of that server, for its CPU time",
      check(value) {
        if (!/^\d+$/.test(value)) throw new Error(`--pid takes a number, not "${value}".`);
      },
    },
  },
  async run(context) {
    if (!hasWrk()) throw new Error(`wrk is needed: apt-get install ${WRK_PACKAGE}`);
    const { note, rounds } = context;
    await import("../test/clients/install.ts");
    const sdk: S3Sdk = await import("../test/clients/s3.ts");
    const contenders = contendersOf(context, sdk);
    const measured = contenders.map((): S3Figures[] => []);
    const disk: S3Figures[] = [];
    for (let round = 0; round < rounds; round++) {
      // Whoever went last goes first in the next round, and so back through all.
      const order = [...contenders.entries()];
      if (round % 2 === 1) order.reverse();
      for (const [index, contender] of order) {
        note(`round ${round + 1} of ${rounds}, ${contender.name}`);
        measured[index]!.push(await measureS3(context, contender, workloads));
      }
      disk.push(await measureDisk(context));
    }
    const servers = contenders.map((one, index) => ({ ...one, rounds: measured[index]! }));
    return [
      ...s3Rows([...servers, { key: DISK, name: "the disk", rounds: disk }]),
      ...(await scalingRows(context, sdk)),
    ];
  },
};

function contendersOf({ leftovers, note, flags }: BenchContext, sdk: S3Sdk): S3Contender[] {
  const nginx = nginxFiles(leftovers);
  if (nginx === null) note("nginx is not installed (apt-get install nginx-light) and is left out");
  const ceph = radosgw(leftovers, sdk);
  if (ceph === null) {
    note(`radosgw is not installed (apt-get install ${RADOSGW_PACKAGES}) and is left out`);
  }
  const { endpoint, pid } = flags;
  return [
    selvedgeS3(leftovers, sdk),
    ...(nginx === null ? [] : [nginx]),
    s3rver(leftovers, sdk),
    ...(ceph === null ? [] : [ceph]),
    ...(endpoint === undefined
      ? []
      : [otherServer(sdk, String(endpoint), pid === undefined ? null : Number(pid))]),
  ];
}

if (import.meta.main) await runBenches([s3]);
