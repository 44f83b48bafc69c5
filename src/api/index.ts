/**
 * The management API (v4): endpoints are declared, `app.ts` walks each request through identity,
 * permission and input checks, and a handler calls one core and shows the result.
 */
export { apiDoor } from "./app.ts";
export { identifier } from "./credentials.ts";
export { TailSessions } from "./script-tails/sessions.ts";
export { UploadBudget } from "./upload-budget.ts";
