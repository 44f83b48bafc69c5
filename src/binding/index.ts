/**
 * The bucket that scripts and programs hold (`store-bucket.ts`), how its requests travel (`local.ts` within
 * a process, `remote.ts` over HTTP), and the side that answers them (`service.ts`, `http-door.ts`). What a
 * script's runtime loads uses only what the web platform has.
 */
export { type Access, apiAccess, type Authorize } from "./access.ts";
export { bindingModule } from "./binding-module.ts";
export { storeErrors } from "./codes.ts";
export { storeDoor } from "./http-door.ts";
export { LentBodies } from "./lent-bodies.ts";
export { localTransport } from "./local.ts";
export { scriptAccess } from "./script-access.ts";
export { bucketOver, type Compatibility } from "./store-bucket.ts";
export { listenStoreSocket } from "./store-socket.ts";
export type * from "./types.ts";
