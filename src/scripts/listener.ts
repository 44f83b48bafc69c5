/** Who hears of every change of a script: what runs them, and what leads requests to them. */
import type { Script } from "./model.ts";

/**
 * Called when a change is on disk and before whoever asked for it hears so: what the listener has done
 * by its return is done for everyone who knows of the change.
 */
export interface ScriptListener {
  /** A script is new, is deployed, or is changed otherwise. */
  changed(script: Script): void;
  removed(script: Script): void;
  /** The labels that accounts' scripts answer under are others. */
  relabelled?(): void;
}
