/** The object store with its figures: what was asked of it, how much came in and went out, what was swept. */
import type { Counter, Metrics } from "#kit/metrics.ts";
import {
  type CarriedOut,
  ObjectFault,
  ObjectStore,
  type ObjectStoreOptions,
  type Swept,
} from "#objects";

type Args<Method extends keyof ObjectStore> = ObjectStore[Method] extends (
  ...args: infer A
) => unknown
  ? A
  : never;

export class MeteredObjects extends ObjectStore {
  readonly #operations: Counter;
  readonly #octets: Counter;
  readonly #swept = { uploads: 0, blobs: 0, orphans: 0 };
  readonly #carriedOut = { expired: 0, transitioned: 0, aborted: 0 };

  constructor(options: ObjectStoreOptions, metrics: Metrics) {
    super(options);
    this.#operations = metrics.counter(
      "selvedge_objects_operations_total",
      "Operations on objects, by what came of them.",
      ["operation", "result"],
    );
    this.#octets = metrics.counter(
      "selvedge_objects_octets_total",
      "Octets that were put, and that gets have opened.",
      ["direction"],
    );
    metrics.totals(
      "selvedge_objects_swept_total",
      "Uploads that lapsed, blobs that nothing named any more, and blobs that nothing ever named.",
      ["what"],
      () => Object.entries(this.#swept).map(([what, total]) => [[what], total]),
    );
    metrics.totals(
      "selvedge_objects_lifecycle_total",
      "Objects that lifecycle rules have expired or moved, and uploads that they have aborted.",
      ["what"],
      () => Object.entries(this.#carriedOut).map(([what, total]) => [[what], total]),
    );
  }

  /** Hears what a sweep has done. */
  noteSwept({ uploads, blobs, orphans }: Swept): void {
    this.#swept.uploads += uploads;
    this.#swept.blobs += blobs;
    this.#swept.orphans += orphans;
  }

  /** Hears what lifecycle rules have done. */
  noteCarriedOut({ expired, transitioned, aborted }: CarriedOut): void {
    this.#carriedOut.expired += expired;
    this.#carriedOut.transitioned += transitioned;
    this.#carriedOut.aborted += aborted;
  }

  override head(...args: Args<"head">) {
    return this.#counted("head", super.head(...args));
  }

  override async get(...args: Args<"get">) {
    const result = await this.#counted("get", super.get(...args));
    if (result.kind === "found") this.#octets.add(result.range.length, "out");
    return result;
  }

  override async put(...args: Args<"put">) {
    const object = await this.#counted("put", super.put(...args));
    this.#octets.add(object?.size ?? 0, "in");
    return object;
  }

  override delete(...args: Args<"delete">) {
    return this.#counted("delete", super.delete(...args));
  }

  override deleteIf(...args: Args<"deleteIf">) {
    return this.#counted("delete", super.deleteIf(...args));
  }

  override setTags(...args: Args<"setTags">) {
    return this.#counted("setTags", super.setTags(...args));
  }

  override partsOf(...args: Args<"partsOf">) {
    return this.#counted("partsOf", super.partsOf(...args));
  }

  override list(...args: Args<"list">) {
    return this.#counted("list", super.list(...args));
  }

  override createUpload(...args: Args<"createUpload">) {
    return this.#counted("createUpload", super.createUpload(...args));
  }

  override uploadPart(...args: Args<"uploadPart">) {
    return this.#counted("uploadPart", super.uploadPart(...args));
  }

  override async completeUpload(...args: Args<"completeUpload">) {
    const object = await this.#counted("completeUpload", super.completeUpload(...args));
    this.#octets.add(object?.size ?? 0, "in");
    return object;
  }

  override listUploads(...args: Args<"listUploads">) {
    return this.#counted("listUploads", super.listUploads(...args));
  }

  override listParts(...args: Args<"listParts">) {
    return this.#counted("listParts", super.listParts(...args));
  }

  override abortUpload(...args: Args<"abortUpload">) {
    return this.#counted("abortUpload", super.abortUpload(...args));
  }

  async #counted<T>(operation: string, work: Promise<T>): Promise<T> {
    try {
      const result = await work;
      this.#operations.count(operation, "ok");
      return result;
    } catch (error) {
      this.#operations.count(operation, error instanceof ObjectFault ? error.kind : "error");
      throw error;
    }
  }
}
