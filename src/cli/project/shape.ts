/** What a project file may hold, key by key; the rules that look at several keys are in `project.ts`. */
import { z } from "zod";

/** Of the original's tools, which make the same names. */
const SCRIPT_NAME = /^[a-z0-9_][a-z0-9_-]*$/;
const BUCKET_NAME = /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/;
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*$/u;

/** ECMA-262 §12.7.2, with what strict code reserves: no variable can have these names. */
const RESERVED = new Set(
  `await break case catch class const continue debugger default delete do else enum export extends false
   finally for function if implements import in instanceof interface let new null package private protected
   public return static super switch this throw true try typeof var void while with yield arguments eval`.split(
    /\s+/,
  ),
);

const text = z.string().min(1, "must not be empty");

const binding = text
  .regex(
    IDENTIFIER,
    "must be a JavaScript identifier, such as MY_BUCKET: the script finds it as env.MY_BUCKET",
  )
  .refine((name) => !RESERVED.has(name), "is a reserved word of JavaScript; choose another name");

const bucketName = text.regex(
  BUCKET_NAME,
  "must be 3 to 63 of a-z, 0-9 and hyphens, with a letter or digit at both ends",
);

const bucket = z.object({
  binding,
  bucket_name: bucketName,
  preview_bucket_name: bucketName.optional(),
  jurisdiction: z.string().optional(),
  remote: z.boolean().optional(),
});

const service = z.object({
  binding,
  service: text,
  entrypoint: text.optional(),
  environment: text.optional(),
});

const date = z
  .string()
  .refine((day) => !/[\u2013\u2014]/.test(day), {
    error: "has a dash in it; write plain hyphens, as in 2026-11-04",
    abort: true,
  })
  .refine((day) => isDay(day), "must be a day such as 2026-11-04");

const route = z.union(
  [
    text,
    z.object({
      pattern: text,
      zone_name: text.optional(),
      zone_id: text.optional(),
      custom_domain: z.boolean().optional(),
    }),
  ],
  {
    error:
      'must be a pattern such as "example.com/*", or a table with pattern and zone_name, zone_id or custom_domain',
  },
);

const cron = text.refine(
  (expression) => expression.trim().split(/\s+/).length === 5,
  'must have five fields (minute, hour, day of month, month, day of week), as in "*/15 * * * *"',
);

const MODULE_RULES = ["ESModule", "CommonJS", "CompiledWasm", "Text", "Data"] as const;

const rule = z.object({
  type: z.enum(MODULE_RULES, `must be one of ${MODULE_RULES.join(", ")}`),
  globs: z.array(text),
  fallthrough: z.boolean().optional(),
});

const json: z.ZodType = z.unknown().refine(isJson, {
  error:
    "must be text, a number, true or false, a list or a table; write a date as text, in quotes",
});

/** An environment without these has those of the top level. */
const inheritable = {
  name: z
    .string()
    .regex(SCRIPT_NAME, "must be of a-z, 0-9, hyphens and underscores, and not begin with a hyphen")
    .optional(),
  main: text.optional(),
  account_id: text.optional(),
  compatibility_date: date.optional(),
  compatibility_flags: z.array(text).optional(),
  route: route.optional(),
  routes: z.array(route).optional(),
  workers_dev: z.boolean().optional(),
  triggers: z.object({ crons: z.array(cron).optional() }).optional(),
  rules: z.array(rule).optional(),
  no_bundle: z.boolean().optional(),
  minify: z.boolean().optional(),
  keep_vars: z.boolean().optional(),
  tsconfig: text.optional(),
};

/** Each environment has its own, or none. */
const own = {
  vars: z.record(z.string().min(1), json).optional(),
  define: z.record(z.string().min(1), z.string()).optional(),
  store_buckets: z.array(bucket).optional(),
  r2_buckets: z.array(bucket).optional(),
  services: z.array(service).optional(),
  version_metadata: z.object({ binding }).optional(),
};

const environment = z.object({ ...inheritable, ...own });

export const projectShape = z.object({
  $schema: z.string().optional(),
  ...inheritable,
  ...own,
  dev: z
    .object({
      ip: text.optional(),
      host: text.optional(),
      port: z.number().int().min(0).max(65_535).optional(),
    })
    .optional(),
  env: z.record(z.string().min(1), environment).optional(),
});

export type ProjectFile = z.output<typeof projectShape>;
export type EnvironmentFile = z.output<typeof environment>;
export type RouteFile = z.output<typeof route>;
export type ModuleRule = z.output<typeof rule>;

/** Keys of the original's files that ask for what is not here: the script would miss them. */
export const missingHere = new Set([
  "ai",
  "analytics_engine_datasets",
  "assets",
  "browser",
  "d1_databases",
  "dispatch_namespaces",
  "durable_objects",
  "hyperdrive",
  "images",
  "kv_namespaces",
  "mtls_certificates",
  "pipelines",
  "queues",
  "ratelimits",
  "secrets_store_secrets",
  "send_email",
  "site",
  "tail_consumers",
  "unsafe",
  "vectorize",
  "workflows",
]);

/** Keys of the original's files that change nothing here and harm nothing. */
export const harmless = new Set([
  "find_additional_modules",
  "first_party_worker",
  "legacy_env",
  "limits",
  "logpush",
  "observability",
  "placement",
  "preview_urls",
  "send_metrics",
  "upload_source_maps",
  "usage_model",
]);

function isDay(text: string): boolean {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(text) ? new Date(`${text}T00:00:00Z`) : null;
  return day !== null && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

function isJson(value: unknown): boolean {
  if (Array.isArray(value)) return value.every(isJson);
  if (value instanceof Date) return false;
  if (typeof value === "object" && value !== null) return Object.values(value).every(isJson);
  return typeof value !== "undefined" && typeof value !== "bigint";
}
