/** A thread of the edge that dies when the test says so. */
import { crashWhenTold } from "../../../test/support/crash-when-told.ts";

await import("./edge-thread.ts");
crashWhenTold();
