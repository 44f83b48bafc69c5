/** Where scripts are, and where tools of the original look for them under other names. */

export const SCRIPTS = "/accounts/:account_id/workers/scripts";
export const SCRIPT = `${SCRIPTS}/:script_name` as const;
/** The original's services have environments, of which there is one here. */
export const SERVICE = "/accounts/:account_id/workers/services/:script_name";
export const ENVIRONMENT = `${SERVICE}/environments/:environment` as const;
export const WORKER = "/accounts/:account_id/workers/workers/:script_name";
