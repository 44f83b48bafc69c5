/** What threads need that send octets which the main thread has open; they load nothing else of this part. */
export { octetsOfOpen } from "../drivers/open-file.ts";
