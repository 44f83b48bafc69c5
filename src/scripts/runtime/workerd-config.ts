/**
 * The configuration that one workerd process runs on: a script, the scripts that it binds, and what stands
 * between them and the platform. A function of its arguments; every string of a script is a stranger's.
 */
import type { ModuleType, RunnableScript, ScriptModule } from "../model.ts";
import {
  BINDING_MODULE,
  bindingConfig,
  CONTROL,
  controlEntry,
  EDGE_MODULE,
} from "./binding-config.ts";
import { type CapnpText, list, PROXY, struct, text, TRUE } from "./capnp-text.ts";
import { compatibilityOf } from "./compatibility.ts";
import { Files } from "./config-files.ts";
import { EDGE_ENTRY, withEdgeEntry } from "./edge-entry.ts";
import { networkOf } from "./network.ts";
import { asModules } from "./older-syntax.ts";

/** A script in the process. Its store token opens its own buckets, not those of its neighbours. */
export interface Member {
  readonly script: RunnableScript;
  readonly storeToken: string;
}

export interface ProcessPlan {
  /** The first is the one that the process is for. They are of one account. */
  readonly members: readonly [Member, ...Member[]];
  /** Paths of unix sockets that workerd makes. */
  readonly httpSocket: string;
  readonly controlSocket: string;
  /** Paths of unix sockets of the platform. */
  readonly storeSocket: string;
  readonly cacheSocket?: string;
  readonly tailSocket: string;
  /** Keys of entrypoints that members bind and that are not there. */
  readonly absent: ReadonlySet<string>;
  /** Opens the tail socket. */
  readonly tailToken: string;
  /** Ids of members whose events are to be told. */
  readonly tailed: ReadonlySet<string>;
  /** Sources of the platform's own modules. */
  readonly bindingModule: string;
  readonly controlModule: string;
  readonly memoryMib: number;
  readonly outbound: readonly string[];
  /** Whoever asks takes bodies from the store that scripts pass on as they are. */
  readonly takesLent: boolean;
}

export interface WorkerdConfig {
  readonly text: string;
  /** Lie beside the text under these names. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** Headers of the process's HTTP socket that carry what the request line cannot. */
const SCHEME_HEADER = "X-Forwarded-Proto";
const CF_HEADER = "x-selvedge-cf";

const MAIN = "main";
/** How workerd introduces what it says of the script that the process is for. */
export const MAIN_PREFIX = `service ${MAIN}: `;

const MODULE_FIELDS: Readonly<Record<Exclude<ModuleType, "sourcemap">, string>> = {
  esm: "esModule",
  commonjs: "commonJsModule",
  text: "text",
  data: "data",
  wasm: "wasm",
  json: "json",
};

/** Throws a `ScriptFault` for what no configuration can be made of. */
export function workerdConfig(plan: ProcessPlan): WorkerdConfig {
  const files = new Files();
  const serviceNames = new Map(
    plan.members.map(({ script }, i) => [script.name, i === 0 ? MAIN : `script ${script.name}`]),
  );
  const context = { plan, files, serviceNames, absent: plan.absent };
  const [main, ...others] = plan.members.map((member) => ({
    ...member,
    script: asModules(member.script),
  }));
  const atEdge = plan.takesLent ? withEdgeEntry(main!.script) : null;
  const members = [{ ...main!, script: atEdge ?? main!.script }, ...others];
  const config = struct({
    services: list([
      ...members.map((member, i) => memberService(member, i, context)),
      ...plan.members.map((member, i) => storeService(member, i, plan)),
      ...plan.members.flatMap((member, i) => cacheService(member, i, plan)),
      controlService(plan, files),
      external("tail", plan.tailSocket, plan.tailToken),
      struct({ name: text("internet"), network: networkOf(plan.outbound) }),
    ]),
    sockets: list([
      socket("http", plan.httpSocket, atEdge === null ? text(MAIN) : edgeEntry(), {
        forwardedProtoHeader: text(SCHEME_HEADER),
        cfBlobHeader: text(CF_HEADER),
      }),
      socket("control", plan.controlSocket, text(CONTROL), {}),
    ]),
    extensions: list([extension(files, plan.bindingModule)]),
    v8Flags: list([text(`--max-heap-size=${plan.memoryMib}`)]),
    logging: struct({ structuredLogging: TRUE }),
  });
  const head = 'using Workerd = import "/workerd/workerd.capnp";\n';
  return { text: `${head}const config :Workerd.Config = ${config.capnp};\n`, files: files.all };
}

interface Context {
  readonly plan: ProcessPlan;
  readonly absent: ReadonlySet<string>;
  readonly files: Files;
  readonly serviceNames: ReadonlyMap<string, string>;
}

function memberService(member: Member, index: number, context: Context): CapnpText {
  const { files, plan, serviceNames } = context;
  const { script } = member;
  const compatibility = compatibilityOf(script);
  const store = storeName(index);
  return struct({
    name: text(serviceNames.get(script.name)!),
    worker: struct({
      ...codeOf(script, files),
      compatibilityDate: text(compatibility.date),
      compatibilityFlags: list(compatibility.flags.map(text)),
      bindings: list(
        script.bindings.map((binding) =>
          bindingConfig(binding, { ...context, script, store, ...compatibility }),
        ),
      ),
      cacheApiOutbound:
        plan.cacheSocket === undefined
          ? struct({ name: text(CONTROL), entrypoint: text("NoCache") })
          : text(cacheName(index)),
      ...(plan.tailed.has(script.id) && {
        tails: list([controlEntry("Tail", { scriptId: script.id })]),
      }),
    }),
  });
}

function codeOf({ main, modules }: RunnableScript, files: Files): Record<string, CapnpText> {
  if (main === null) return { serviceWorkerScript: files.add(modules[0]!.content) };
  const isMain = ({ name }: ScriptModule) => name === main;
  const inOrder = [...modules.filter(isMain), ...modules.filter((module) => !isMain(module))];
  const shown = inOrder.flatMap(({ name, type, content }) =>
    type === "sourcemap"
      ? [] // It is for whoever reads stack traces.
      : [struct({ name: text(name), [MODULE_FIELDS[type]]: files.add(content) })],
  );
  return { modules: list(shown) };
}

function storeName(index: number): string {
  return `store ${index}`;
}

function storeService({ storeToken }: Member, index: number, { storeSocket }: ProcessPlan) {
  return external(storeName(index), storeSocket, storeToken);
}

function cacheName(index: number): string {
  return `cache ${index}`;
}

/** Its requests name whole URLs. The token is the script's, whose cache is its own. */
function cacheService({ storeToken }: Member, index: number, { cacheSocket }: ProcessPlan) {
  if (cacheSocket === undefined) return [];
  return [external(cacheName(index), cacheSocket, storeToken, { style: PROXY })];
}

/** A door of the platform. workerd adds the token itself, so that no JavaScript can see or change it. */
function external(
  name: string,
  socketPath: string,
  token: string,
  options: Record<string, CapnpText> = {},
): CapnpText {
  const authorization = struct({
    name: text("Authorization"),
    value: text(`Bearer ${token}`),
  });
  const http = struct({ injectRequestHeaders: list([authorization]), ...options });
  return struct({ name: text(name), external: struct({ address: unix(socketPath), http }) });
}

function controlService({ controlModule }: ProcessPlan, files: Files): CapnpText {
  return struct({
    name: text(CONTROL),
    worker: struct({
      modules: list([
        struct({ name: text("control.js"), esModule: files.add(Buffer.from(controlModule)) }),
      ]),
      compatibilityDate: text("2026-11-01"),
      // `scheduled` of the script is called with it.
      compatibilityFlags: list([text("service_binding_extra_handlers")]),
      bindings: list([
        struct({ name: text("SCRIPT"), service: text(MAIN) }),
        struct({ name: text("TAIL"), service: text("tail") }),
      ]),
    }),
  });
}

function socket(
  name: string,
  path: string,
  service: CapnpText,
  http: Record<string, CapnpText>,
): CapnpText {
  return struct({
    name: text(name),
    address: unix(path),
    http: struct(http),
    service,
  });
}

function unix(path: string): CapnpText {
  return text(`unix:${path}`);
}

function edgeEntry(): CapnpText {
  return struct({ name: text(MAIN), entrypoint: text(EDGE_ENTRY) });
}

const EDGE_SOURCE = `export { atEdge } from "${BINDING_MODULE}";\n`;

function extension(files: Files, bindingModule: string): CapnpText {
  const [own, forScripts] = [bindingModule, EDGE_SOURCE].map((source) => ({
    esModule: files.add(Buffer.from(source)),
  }));
  return struct({
    modules: list([
      struct({ name: text(BINDING_MODULE), internal: TRUE, ...own }),
      struct({ name: text(EDGE_MODULE), ...forScripts }),
    ]),
  });
}
