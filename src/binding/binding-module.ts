/** The source of the bucket class as workerd takes it: one module without imports. */
import { fileURLToPath } from "node:url";

let bundled: Promise<string> | null = null;

/** Bundled at first use, from TypeScript in a checkout and from JavaScript in the package. */
export function bindingModule(): Promise<string> {
  bundled ??= bundle();
  return bundled;
}

async function bundle(): Promise<string> {
  const { build } = await import("esbuild"); // Loaded where scripts run, and nowhere else.
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`./binding.worker.${extension}`, import.meta.url))],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    platform: "neutral", // Whatever is no web platform fails here, and not in a script.
    keepNames: true, // Scripts see the names of classes.
    legalComments: "none",
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}
