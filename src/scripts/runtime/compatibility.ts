/** What a script's compatibility date and flags mean for workerd, and for the buckets on its `env`. */
import { ScriptFault } from "../fault.ts";
import type { VersionContent } from "../model.ts";

/** What `bucketOver` takes beside the binding's own choice of delimiters. */
export interface BucketCompatibility {
  readonly honorsInclude: boolean;
  readonly keepsDelimiter: boolean;
  readonly showsAbsent: boolean;
}

export interface RunCompatibility {
  readonly date: string;
  readonly flags: readonly string[];
  readonly buckets: BucketCompatibility;
}

/** Flags of ours, which workerd does not know. */
const HONOR_INCLUDE = "store_list_honor_include";
const KEEP_DELIMITER = "store_list_prefix_keeps_delimiter";
const CAN_MAKE_STREAMS = "streams_enable_constructors";
const OURS: ReadonlySet<string> = new Set([HONOR_INCLUDE, KEEP_DELIMITER]);

/** From these dates on it is so without a flag. */
const INCLUDE_HONORED = "2022-08-04";
const ABSENT_SHOWN = "2025-12-03";
const STREAMS_MADE = "2022-11-30";

/** The newest date that our workerd knows; scripts of a later date get this one. */
export const NEWEST_DATE = "2026-11-11";

/**
 * Flags that workerd grants only with `--experimental`, which our control worker needs: they may open what
 * a script must not reach, and change without notice.
 */
export const EXPERIMENTAL_FLAGS: ReadonlySet<string> = new Set(
  `allow_insecure_inefficient_logged_eval auto_inject_python_workers cache_reload_enabled
  connect_handler_starttls connect_pass_through d1_binding_jsrpc durable_object_get_existing
  durable_object_rename durable_object_snapshots enable_abortsignal_rpc enable_ctx_version_metadata
  enable_d1_with_sessions_api enable_nodejs_inspector_local_dev enable_version_api enable_web_file_system
  experimental expose_draining_reader increase_websocket_message_size js_rpc kv_direct_binding
  memory_cache_delete offpeak_location_hint precise_timers python_workers_development
  python_workers_durable_objects python_zstd_snapshot r2_binding_jsrpc replica_routing rtti_api
  service_binding_extra_handlers spec_compliant_property_attributes streaming_tail_worker
  streams_no_default_auto_allocate_chunk_size tail_worker_user_spans typescript_implemented_streams
  typescript_strip_types unsafe_module unsupported_process_actual_platform wasm_memory_discard
  workflows_bindings_rpc workflows_step_rollback`.split(/\s+/),
);

/** Throws what the script's author is to hear about a flag that no script may have. */
export function compatibilityOf({
  compatibilityDate,
  compatibilityFlags,
}: VersionContent): RunCompatibility {
  const forbidden = compatibilityFlags.find((flag) => EXPERIMENTAL_FLAGS.has(flag));
  if (forbidden !== undefined) {
    const message = `The compatibility flag ${forbidden} is experimental and cannot be used here`;
    throw new ScriptFault("does-not-start", message);
  }
  const has = (flag: string) => compatibilityFlags.includes(flag);
  const shows = has("enable_fast_jsg_struct") || compatibilityDate >= ABSENT_SHOWN;
  return {
    date: compatibilityDate > NEWEST_DATE ? NEWEST_DATE : compatibilityDate,
    flags: [
      ...compatibilityFlags.filter((flag) => !OURS.has(flag)),
      // The bucket class makes streams, also for scripts that are older than that.
      ...(compatibilityDate < STREAMS_MADE && !has(CAN_MAKE_STREAMS) ? [CAN_MAKE_STREAMS] : []),
    ],
    buckets: {
      honorsInclude:
        has(HONOR_INCLUDE) || has("r2_list_honor_include") || compatibilityDate >= INCLUDE_HONORED,
      keepsDelimiter: has(KEEP_DELIMITER),
      showsAbsent: shows && !has("disable_fast_jsg_struct"),
    },
  };
}
