/** Files that a configuration embeds. */
import { type CapnpText, embed } from "./capnp-text.ts";

/** They lie under names of ours: those of modules could lead anywhere. */
export class Files {
  readonly all = new Map<string, Uint8Array>();

  add(content: Uint8Array): CapnpText {
    const name = `file-${this.all.size}`;
    this.all.set(name, content);
    return embed(name);
  }
}
