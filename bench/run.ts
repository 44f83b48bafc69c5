/** Runs the benches: `node bench/run.ts [name…]`, see `--help`. A new one is a file and a line here. */
import { api } from "./api.ts";
import { dns } from "./dns.ts";
import { edge } from "./edge.ts";
import { idle } from "./idle.ts";
import { runBenches } from "./kit/command.ts";
import { objects } from "./objects.ts";
import { records } from "./records.ts";
import { s3 } from "./s3.ts";
import { scripts } from "./scripts.ts";
import { start } from "./start.ts";

await runBenches([start, idle, api, records, dns, objects, scripts, edge, s3]);
