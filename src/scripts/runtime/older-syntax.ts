/**
 * Scripts in service-worker syntax that bind buckets, as modules: workerd puts an object of our own on `env` only
 * there. The script itself runs as it is, as a CommonJS module: its bindings are globals, and the events that it
 * listens for are made of the calls that modules get.
 */
import type { RunnableScript, ScriptModule } from "../model.ts";

const MAIN = "selvedge-main.js";
const EVENTS = "selvedge-events.js";
const SCRIPT = "selvedge-script.js";

export function asModules(script: RunnableScript): RunnableScript {
  const { main, modules, bindings } = script;
  if (main !== null || !bindings.some(({ type }) => type === "bucket")) return script;
  // A module on `env` is for the older syntax alone; here it is imported.
  const compiled = bindings.filter((binding) => binding.type === "wasm");
  return {
    ...script,
    main: MAIN,
    modules: [
      module(
        MAIN,
        `import { main } from "./${EVENTS}";\nimport "./${SCRIPT}";\nexport default main;\n`,
      ),
      module(EVENTS, eventsSource(compiled.map(({ name }) => name))),
      { name: SCRIPT, type: "commonjs", content: modules[0]!.content },
      ...compiled.map(({ name, data }) => ({
        name: wasmName(name),
        type: "wasm" as const,
        content: data,
      })),
    ],
    bindings: bindings.filter((binding) => binding.type !== "wasm"),
  };
}

function module(name: string, source: string): ScriptModule {
  return { name, type: "esm", content: Buffer.from(source) };
}

function wasmName(binding: string): string {
  return `selvedge-${binding}.wasm`;
}

/** Binding names are globals of the script, but no names here: they could be the same as ours. */
function eventsSource(compiled: readonly string[]): string {
  const imports = compiled.map((name, i) => `import wasm${i} from "./${wasmName(name)}";\n`);
  const globals = compiled.map((name, i) => `${name}: wasm${i}`);
  return `import { env } from "cloudflare:workers";
${imports.join("")}Object.assign(globalThis, env, { ${globals.join(", ")} });

const listeners = new Map();
globalThis.addEventListener = (type, listener) => {
  if (!listeners.has(type)) listeners.set(type, new Set());
  listeners.get(type).add(listener);
};
globalThis.removeEventListener = (type, listener) => void listeners.get(type)?.delete(listener);

class ScriptEvent extends Event {
  #context;
  constructor(type, context, fields) {
    super(type);
    this.#context = context;
    Object.assign(this, fields);
  }
  waitUntil(promise) { this.#context.waitUntil(promise); }
  passThroughOnException() { this.#context.passThroughOnException(); }
}

function dispatch(event) {
  for (const listener of listeners.get(event.type) ?? []) {
    if (typeof listener === "function") listener.call(globalThis, event);
    else listener.handleEvent(event);
  }
}

export const main = {
  fetch(request, _env, context) {
    let response;
    const event = new ScriptEvent("fetch", context, { request });
    event.respondWith = (promise) => {
      if (response !== undefined) throw new Error("FetchEvent.respondWith() has already been called.");
      response = Promise.resolve(promise);
    };
    dispatch(event);
    if (response === undefined) return fetch(request);
    return response;
  },
  scheduled({ cron, scheduledTime, noRetry }, _env, context) {
    dispatch(new ScriptEvent("scheduled", context, { cron, scheduledTime, noRetry }));
  },
};
`;
}
