/** How large and how many scripts may be. */

export interface ScriptLimits {
  /** Of all modules and data of one version together. */
  readonly scriptBytes: number;
  readonly scriptsPerAccount: number;
  /** Older versions are dropped, but never the one that is deployed. */
  readonly versionsPerScript: number;
}

export const defaultScriptLimits: ScriptLimits = {
  /** As the original takes from those who pay, after compression. */
  scriptBytes: 10 * 1024 * 1024,
  scriptsPerAccount: 500,
  /** As far back as the original rolls back. */
  versionsPerScript: 100,
};
