/** Which operation a request asks for: by method, place, and the sub-resource that its query names. */
import { S3Fault } from "./fault.ts";
import type { Operation } from "./operation.ts";
import type { Target } from "./target.ts";

/** Query names that make a request about something else, whether or not it is offered here. */
const RESOURCES: ReadonlySet<string> = new Set([
  "abac",
  "accelerate",
  "acl",
  "analytics",
  "attributes",
  "cors",
  "delete",
  "encryption",
  "intelligent-tiering",
  "inventory",
  "legal-hold",
  "lifecycle",
  "list-type",
  "location",
  "logging",
  "metadataConfiguration",
  "metadataInventoryTable",
  "metadataJournalTable",
  "metadataTable",
  "metrics",
  "notification",
  "object-lock",
  "ownershipControls",
  "policy",
  "policyStatus",
  "publicAccessBlock",
  "renameObject",
  "replication",
  "requestPayment",
  "restore",
  "retention",
  "select",
  "session",
  "tagging",
  "torrent",
  "uploadId",
  "uploads",
  "versioning",
  "versions",
  "website",
]);

/** Names that any request may carry: the SDKs' note of the operation, the console's of its purpose. */
const UNHEARD: ReadonlySet<string> = new Set(["x-id", "x-purpose"]);

/** What an older signature has in its URL, among headers of all sorts. It is refused in its own words. */
const OLDER_SIGNATURE = ["AWSAccessKeyId", "Signature"];

const COPY_SOURCE = "x-amz-copy-source";

export class Routes {
  readonly #operations = new Map<string, Operation>();
  /** What each takes, as a set. */
  readonly #takes = new Map<Operation, ReadonlySet<string>>();

  constructor(operations: readonly Operation[]) {
    for (const operation of operations) {
      const { method, on, resource = "", copies = false } = operation;
      const place = placeOf(method, on, resource, copies);
      if (this.#operations.has(place)) throw new Error(`Two operations are at ${place}`);
      this.#operations.set(place, operation);
      this.#takes.set(operation, new Set([resource, ...(operation.takes ?? [])]));
    }
  }

  find(method: string, { bucket, key, query }: Target, copies: boolean): Operation {
    const on = bucket === "" ? "service" : key === "" ? "bucket" : "object";
    const resource = query.length === 0 ? "" : resourceOf(query);
    const isCopy = method === "PUT" && on === "object" && (copies || query.some(isCopySource));
    const operation = this.#operations.get(placeOf(method, on, resource, isCopy));
    if (operation === undefined) throw notOffered(method, on, resource);
    if (query.length > 0) this.#check(operation, query);
    return operation;
  }

  #check(operation: Operation, query: Target["query"]): void {
    // Links to objects carry all sorts of marks, and nothing goes wrong where they are not heard.
    if (operation.name === "GetObject" || operation.name === "HeadObject") return;
    const takes = this.#takes.get(operation)!;
    for (const [name] of query) {
      const isHeard = takes.has(name) || UNHEARD.has(name) || /^x-amz-/i.test(name);
      if (!isHeard && !isOfOlderSignature(query)) {
        const message = `The query parameter ${name.slice(0, 80)} is not implemented.`;
        throw new S3Fault("NotImplemented", message);
      }
    }
  }
}

function isOfOlderSignature(query: Target["query"]): boolean {
  return OLDER_SIGNATURE.every((name) => query.some(([given]) => given === name));
}

/** Heard where a URL was presigned: one for a copy must not take whatever is sent instead. */
function isCopySource([name]: Target["query"][number]): boolean {
  return name.length === COPY_SOURCE.length && name.toLowerCase() === COPY_SOURCE;
}

function placeOf(method: string, on: string, resource: string, copies: boolean): string {
  return `${method} ${on} ${resource}${copies ? " copy" : ""}`;
}

function resourceOf(query: Target["query"]): string {
  let found = "";
  for (const [name] of query) {
    if (name === found || !RESOURCES.has(name)) continue;
    if (found !== "") {
      const message = `Conflicting query string parameters: ${found}, ${name}`;
      throw new S3Fault("InvalidArgument", message, { extra: { ArgumentName: "ResourceType" } });
    }
    found = name;
  }
  return found;
}

function notOffered(method: string, on: string, resource: string): S3Fault {
  if (resource === "" && on !== "service") return new S3Fault("MethodNotAllowed");
  const what = resource === "" ? "the account" : `?${resource}`;
  const message = `${method.slice(0, 20)} of ${what} is not implemented here.`;
  return new S3Fault("NotImplemented", message);
}
