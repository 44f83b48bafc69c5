/** The buckets of the account, in pages where the client asks for them: in S3's words, or in R2's. */
import type { Bucket } from "#objects";
import type { S3Call } from "../call.ts";
import { S3Fault } from "../fault.ts";
import { type Operation, xmlAnswer } from "../operation.ts";
import { group, isoTime, tag, xmlDocument } from "../xml/write.ts";
import { REGION } from "./buckets.ts";
import { ownerElement } from "./owner.ts";

/** Buckets of one page when none is asked for; S3's own limit. */
const MAX_PAGE = 10_000;

export const listBuckets: Operation = {
  name: "ListBuckets",
  method: "GET",
  on: "service",
  action: "list-buckets",
  takes: [
    "prefix",
    "max-buckets",
    "continuation-token",
    "bucket-region",
    "start-after",
    "max-keys",
  ],
  async handle(call, { store }) {
    const { caller } = call;
    const prefix = asked(call, "prefix") ?? "";
    const token = asked(call, "continuation-token");
    const startAfter = asked(call, "start-after");
    const most = pageSize(call);
    const from = token === undefined ? (startAfter ?? "") : nameOf(token);
    const region = call.query("bucket-region") ?? REGION;
    const all = region === REGION ? await store.buckets([caller!.accountId]) : [];
    const seen = all.filter(({ name }) => caller!.may("list-buckets", name, "", listBuckets.name));
    const behind = seen.filter(({ name }) => name.startsWith(prefix) && name > from);
    const page = behind.slice(0, most);
    const isTruncated = behind.length > page.length;
    const next = isTruncated ? tokenOf(page.at(-1)?.name ?? from) : undefined;
    const paging =
      tag("IsTruncated", isTruncated) +
      tag("MaxKeys", most) +
      tag("KeyCount", page.length) +
      tag("StartAfter", startAfter) +
      tag("NextContinuationToken", next) +
      tag("ContinuationToken", next ?? token) +
      (prefix === "" ? "" : tag("Prefix", prefix));
    const document = xmlDocument(
      "ListAllMyBucketsResult",
      ownerElement(caller!.accountId) + group("Buckets", page.map(bucketElement).join("")) + paging,
    );
    const headers = ["cf-is-truncated", String(isTruncated)];
    return xmlAnswer(
      document,
      next === undefined ? headers : [...headers, "cf-next-continuation-token", next],
    );
  },
};

function bucketElement({ name, createdAt }: Bucket): string {
  return group(
    "Bucket",
    tag("Name", name) + tag("CreationDate", isoTime(createdAt)) + tag("BucketRegion", REGION),
  );
}

/** R2 takes its extensions from headers too, and those count more. */
function asked(call: S3Call, name: string): string | undefined {
  const header = call.request.headers[`cf-${name}`];
  return typeof header === "string" ? header : call.query(name);
}

function pageSize(call: S3Call): number {
  const text = call.query("max-buckets") ?? asked(call, "max-keys");
  if (text === undefined) return MAX_PAGE;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (number >= 1) return Math.min(number, MAX_PAGE);
  throw new S3Fault("InvalidArgument", `The page must have from 1 to ${MAX_PAGE} buckets.`, {
    extra: { ArgumentName: "max-buckets", ArgumentValue: text.slice(0, 80) },
  });
}

function tokenOf(name: string): string {
  return Buffer.from(name).toString("base64url");
}

function nameOf(token: string): string {
  const name = Buffer.from(token, "base64url").toString();
  if (token !== "" && tokenOf(name) === token) return name;
  throw new S3Fault("InvalidArgument", "The continuation token is none that a list has given.", {
    extra: { ArgumentName: "continuation-token" },
  });
}
