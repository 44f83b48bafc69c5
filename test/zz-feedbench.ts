import { startPostgres, freshDatabase } from "/work/main/test/support/postgres.ts";
import { startNode, until, ACCOUNT, by, record, intercepted } from "/work/main/src/zones/nodes.contract.ts";
import { importZoneFile } from "/work/main/src/zones/zone-transfer.ts";
import { monitorEventLoopDelay } from "node:perf_hooks";
await using pgs = await startPostgres();
const url = await freshDatabase(pgs.socketDir);
const mode = process.argv[2];
await using one = await startNode({ url, ...(mode === "nolog" ? { through: (db: any) => intercepted(db, { shared: false }) } : {}) });
// lean recorder: do not snapshot views
const lean = (r: any) => { r.changed = (zone: any, names: any) => { r.zones.set(zone.id, { zone, names: new Map() }); }; };
lean(one.recorder);
await using two = mode === "nolog" ? one : await startNode({ url });
lean(two.recorder);
const zone = await one.zones.create(ACCOUNT, "bench.test", "full");
await until(() => two.recorder.serialOf(zone) === zone.serial);
// sequential small changes, throughput of writer
for (const par of [1, 16]) {
  const zones = await Promise.all(Array.from({ length: par }, (_, i) => one.zones.create(ACCOUNT, `p${par}x${i}.test`, "full")));
  const cpu0 = process.cpuUsage(); const t0 = performance.now(); const N = 2000;
  let i = 0;
  await Promise.all(zones.map(async (z) => { while (i < N) { const k = i++; await one.records.create(z.id, record("A", `n${k}`, "192.0.2.1"), by); } }));
  const t1 = performance.now();
  await until(() => zones.every((z) => two.recorder.serialOf(z) >= z.serial));
  for (const z of zones) { const s = (await one.zones.get(z.id)).serial; await until(() => two.recorder.serialOf(z) === s); }
  const cpu = process.cpuUsage(cpu0);
  console.log(`${mode} par ${par}: ${Math.round(N / (t1 - t0) * 1000)} changes/s; follower done ${Math.round(performance.now() - t1)} ms after; cpu both ${Math.round((cpu.user + cpu.system) / N)} us/change`);
}
if (mode !== "nolog") for (const n of [5000, 100_000]) {
  const z = await one.zones.create(ACCOUNT, `imp${n}.test`, "full");
  await until(() => two.recorder.serialOf(z) === z.serial);
  const file = Buffer.from(Array.from({ length: n }, (_, i) => `n${i} 300 IN A 192.0.2.${i % 250}`).join("\n"));
  const t = performance.now();
  const { zone: f } = await one.records.change(z.id, by, (d, r) => importZoneFile(d, r, file, false));
  const h = monitorEventLoopDelay({ resolution: 5 }); h.enable();
  const s = performance.now();
  await until(() => two.recorder.serialOf(f) === f.serial);
  console.log(`import ${n}: written in ${Math.round(s - t)} ms, followed after ${Math.round(performance.now() - s)} ms, longest block ${Math.round(h.max / 1e6)} ms`);
}
