/** What a script is: its versions, what they hold, and what stands on their `env`. */

/** A script by its name within an account, and the version that serves it. */
export interface Script {
  /** 32 hex digits; stays when the script is uploaded again. */
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
  /** Null until a version is deployed. */
  readonly versionId: string | null;
  /** Whether it answers under the platform's domain for scripts. */
  readonly onSubdomain: boolean;
  readonly settings: ScriptSettings;
  /** Rises with every change of the script. */
  readonly revision: number;
}

/** What belongs to the script whatever version serves it. */
export interface ScriptSettings {
  readonly tags: readonly string[];
  readonly logpush: boolean;
  /** As it was given, for those who read it back. */
  readonly observability: unknown;
}

export type ModuleType = "esm" | "commonjs" | "text" | "data" | "wasm" | "json" | "sourcemap";

export interface ScriptModule {
  /** As other modules import it: `index.js`, `lib/a.wasm`. */
  readonly name: string;
  readonly type: ModuleType;
  readonly content: Uint8Array;
}

/** Something on `env` (a global, in service-worker syntax). */
export type Binding =
  | { readonly type: "text"; readonly name: string; readonly text: string }
  | { readonly type: "json"; readonly name: string; readonly json: unknown }
  | { readonly type: "secret"; readonly name: string; readonly text: string }
  | {
      readonly type: "bucket";
      readonly name: string;
      readonly bucketName: string;
      /** Prefixes of lists end in the delimiter, as scripts written for the original expect. */
      readonly keepsDelimiter: boolean;
    }
  | {
      readonly type: "service";
      readonly name: string;
      /** Name of a script of the same account; its own is allowed. */
      readonly service: string;
      readonly entrypoint: string | null;
    }
  | { readonly type: "data"; readonly name: string; readonly data: Uint8Array }
  | { readonly type: "wasm"; readonly name: string; readonly data: Uint8Array }
  | { readonly type: "version"; readonly name: string };

/** What makes a version: given once, never changed. */
export interface VersionContent {
  /** `null` is service-worker syntax: the one module is a script that adds event listeners. */
  readonly main: string | null;
  readonly modules: readonly ScriptModule[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: readonly Binding[];
}

export interface VersionInfo {
  /** A UUID. */
  readonly id: string;
  /** Counts up from 1 within the script. */
  readonly number: number;
  readonly createdAt: number;
  /** E-mail of the user, or what else is known of whoever made it. */
  readonly author: string;
  readonly message: string | null;
  readonly tag: string | null;
  /** What made it: `upload`, `secret`, … as the API tells it. */
  readonly trigger: string;
}

/** A binding as anyone may see it: what a secret or a file holds is left out. */
export type BindingInfo =
  | Exclude<Binding, { readonly type: HiddenBindingType }>
  | { readonly type: HiddenBindingType; readonly name: string };

export type HiddenBindingType = "secret" | "data" | "wasm";

/** A version without what its modules and secrets hold. */
export interface VersionDetail extends VersionInfo {
  readonly main: string | null;
  readonly modules: readonly ModuleInfo[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: readonly BindingInfo[];
  /** The same for the same code: 64 hex digits. */
  readonly codeHash: string;
  /** How long its first start took; null where nobody knows. */
  readonly startMs: number | null;
}

export interface ModuleInfo {
  readonly name: string;
  readonly type: ModuleType;
  readonly size: number;
}

/** One time that a version was put in place. */
export interface Deployment {
  /** A UUID. */
  readonly id: string;
  readonly versionId: string;
  readonly createdAt: number;
  readonly author: string;
  readonly message: string | null;
  readonly trigger: string;
}

/** Who does something, and by what: `upload`, `secret`, … as the API tells it. */
export interface By {
  readonly author: string;
  readonly trigger: string;
}

/** A new version, as it is given. */
export interface Upload {
  readonly content: VersionContent;
  /** Bindings of these kinds stay from the latest version, but for names that are given anew. */
  readonly keepBindings?: ReadonlySet<Binding["type"]>;
  /** Names of bindings that are to be as they are in the latest version. */
  readonly inherit?: readonly string[];
  /** What stays, stays from the version in place, where that is not the latest. */
  readonly isOfDeployed?: boolean;
  readonly message?: string | null;
  readonly tag?: string | null;
}

/** What of a script may be changed without an upload; what is not given stays. */
export interface ScriptEdit {
  readonly compatibilityDate?: string;
  readonly compatibilityFlags?: readonly string[];
  /** All there are to be, with those of `keepBindings` and `inherit`. */
  readonly bindings?: readonly Binding[];
  readonly keepBindings?: ReadonlySet<Binding["type"]>;
  readonly inherit?: readonly string[];
  readonly settings?: Partial<ScriptSettings>;
}

/** A version with all that a process needs to run it; secrets are open. */
export interface RunnableScript extends VersionContent {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly versionId: string;
  readonly tag: string | null;
  readonly versionCreatedAt: number;
}
