/** Runs a project on this machine, with buckets of its own, and again after every change. */
import { command, text, whole } from "../command.ts";
import { projectOptions } from "./project-options.ts";

export const devScript = command({
  path: "dev",
  summary: "run the script of this project here, and again after every change",
  description:
    "Runs the script in the same runtime as the server's, with its buckets in .selvedge beside the project file and its secrets from .dev.vars or .env. A change of a source or of the project file takes effect at once, without dropping a request; what does not build is shown, and the last version that did goes on. GET /cdn-cgi/handler/scheduled?cron=… calls its cron trigger.",
  options: {
    ...projectOptions,
    port: whole("N", "listen here (default: the project file's, else 8787)", {
      least: 0,
      most: 65_535,
    }),
    host: text("HOST", "listen here (default: the project file's, else 127.0.0.1)"),
  },
  examples: [
    ["selvedge dev", "until Ctrl-C"],
    ["selvedge dev --env staging --port 0", "its environment staging, on a free port"],
  ],
  offline: true,
  json: "a line for each event: ready, built, failed, request, log, exception",
  async run({ options }, context) {
    const { runDev } = await import("./dev/session.ts"); // It brings the store and the runtime.
    await runDev(options, context);
  },
});
