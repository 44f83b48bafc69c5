/** HTTPS: SVCB for web servers. RFC 9460 §9. */
import { defineRecord } from "../record.ts";
import { serviceBinding } from "./svcb.ts";

export const HTTPS = defineRecord({ type: "HTTPS", code: 65, ...serviceBinding });
