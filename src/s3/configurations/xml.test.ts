import assert from "node:assert/strict";
import { test } from "node:test";
import { parseXml } from "#kit/xml.ts";
import type { S3Code } from "../codes.ts";
import { S3Fault } from "../fault.ts";
import { readCors, writeCors } from "./cors-xml.ts";
import { writeLifecycle } from "./lifecycle-write.ts";
import { readLifecycle } from "./lifecycle-xml.ts";
import { readTagging, writeTagging } from "./tagging-xml.ts";

const is = (code: S3Code) => (error: unknown) => error instanceof S3Fault && error.code === code;

/** Without what every document has. */
const inner = (xml: string) => xml.replace(/^.*\n<(\w+) xmlns="[^"]*">(.*)<\/\1>$/s, "$2");

const corsRules = (rules: string) => parseXml(`<CORSConfiguration>${rules}</CORSConfiguration>`);
const lifecycle = (rules: string) =>
  parseXml(`<LifecycleConfiguration>${rules}</LifecycleConfiguration>`);

test("CORS rules are read, and written as they were", () => {
  const written =
    "<CORSRule><ID>a</ID><AllowedOrigin>https://a.example</AllowedOrigin>" +
    "<AllowedOrigin>https://b.example</AllowedOrigin><AllowedMethod>GET</AllowedMethod>" +
    "<AllowedMethod>PUT</AllowedMethod><AllowedHeader>x-amz-*</AllowedHeader>" +
    "<ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule>" +
    "<CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>HEAD</AllowedMethod></CORSRule>";
  const rules = readCors(corsRules(written));
  assert.deepEqual(rules[0], {
    id: "a",
    origins: ["https://a.example", "https://b.example"],
    methods: ["GET", "PUT"],
    headers: ["x-amz-*"],
    exposed: ["ETag"],
    maxAgeSeconds: 60,
  });
  assert.equal(inner(writeCors(rules)), written);
});

test("CORS rules with elements that are not known, twice there or no number are malformed", () => {
  const rule = "<AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>";
  for (const more of [
    "<Allowed>*</Allowed>",
    "<ID>a</ID><ID>b</ID>",
    "<MaxAgeSeconds>long</MaxAgeSeconds>",
    "<AllowedHeader><a/></AllowedHeader>",
  ]) {
    const root = corsRules(`<CORSRule>${rule}${more}</CORSRule>`);
    assert.throws(() => readCors(root), is("MalformedXML"), more);
  }
  assert.throws(() => readCors(corsRules("<Rule/>")), is("MalformedXML"));
  assert.throws(() => readCors(corsRules("text")), is("MalformedXML"));
});

const EXPIRE = "<Expiration><Days>1</Days></Expiration>";
const ON = "<Status>Enabled</Status>";

test("lifecycle rules are read, and written as they were", () => {
  for (const rule of [
    `<ID>old style</ID><Prefix>logs/</Prefix>${ON}${EXPIRE}`,
    `<ID>all</ID><Filter></Filter>${ON}${EXPIRE}`,
    `<ID>prefix</ID><Filter><Prefix>a&amp;b</Prefix></Filter><Status>Disabled</Status>${EXPIRE}`,
    `<ID>tag</ID><Filter><Tag><Key>k</Key><Value></Value></Tag></Filter>${ON}${EXPIRE}`,
    `<ID>size</ID><Filter><ObjectSizeGreaterThan>500</ObjectSizeGreaterThan></Filter>${ON}${EXPIRE}`,
    `<ID>one under and</ID><Filter><And><Prefix>p</Prefix></And></Filter>${ON}${EXPIRE}`,
    `<ID>many</ID><Filter><And><Prefix>p</Prefix><Tag><Key>a</Key><Value>1</Value></Tag>` +
      `<Tag><Key>b</Key><Value>2</Value></Tag><ObjectSizeGreaterThan>1</ObjectSizeGreaterThan>` +
      `<ObjectSizeLessThan>9</ObjectSizeLessThan></And></Filter>${ON}${EXPIRE}`,
    `<ID>date</ID><Prefix></Prefix>${ON}` +
      "<Transition><Days>30</Days><StorageClass>STANDARD_IA</StorageClass></Transition>" +
      "<Expiration><Date>2026-11-15T00:00:00.000Z</Date></Expiration>" +
      "<AbortIncompleteMultipartUpload><DaysAfterInitiation>3</DaysAfterInitiation></AbortIncompleteMultipartUpload>",
    `<ID>versions</ID><Prefix></Prefix>${ON}` +
      "<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>" +
      "<NoncurrentVersionExpiration><NoncurrentDays>2</NoncurrentDays>" +
      "<NewerNoncurrentVersions>5</NewerNoncurrentVersions></NoncurrentVersionExpiration>" +
      "<NoncurrentVersionTransition><NoncurrentDays>1</NoncurrentDays>" +
      "<StorageClass>STANDARD_IA</StorageClass></NoncurrentVersionTransition>",
  ]) {
    const written = `<Rule>${rule}</Rule>`;
    assert.equal(inner(writeLifecycle(readLifecycle(lifecycle(written)))), written);
  }
});

test("a lifecycle rule without an ID is given one", () => {
  const rule = `<Rule><Prefix/>${ON}${EXPIRE}</Rule>`;
  const [a, b] = readLifecycle(lifecycle(rule + rule.replace("<Prefix/>", "<ID/><Prefix/>")));
  assert.match(a!.id, /^[0-9a-f]{32}$/);
  assert.notEqual(a!.id, b!.id);
});

test("dates are days of ISO 8601, or moments", () => {
  const of = (date: string) => {
    const rule = `<Rule><Prefix/>${ON}<Expiration><Date>${date}</Date></Expiration></Rule>`;
    return readLifecycle(lifecycle(rule))[0]!.expiration as { date: number };
  };
  assert.equal(of("2017-09-27").date, Date.UTC(2017, 8, 27));
  assert.equal(of("2017-09-27T02:00:00+02:00").date, Date.UTC(2017, 8, 27));
  for (const bad of ["20200101", "tomorrow", "2017-13-40", "1"]) {
    assert.ok(Number.isNaN(of(bad).date), bad);
  }
});

test("lifecycle rules that do not follow their schema are malformed", () => {
  for (const rule of [
    `${ON}${EXPIRE}`,
    `<Prefix/><Filter/>${ON}${EXPIRE}`,
    `<Prefix/>${EXPIRE}`,
    `<Prefix/><Status>enabled</Status>${EXPIRE}`,
    `<Prefix/>${ON}<Expiration/>`,
    `<Prefix/>${ON}<Expiration><Days>1</Days><Date>2026-11-15</Date></Expiration>`,
    `<Prefix/>${ON}<Expiration><Days>soon</Days></Expiration>`,
    `<Prefix/>${ON}<Expiration><Days>1</Days><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>`,
    `<Prefix/>${ON}<Transition><Days>1</Days></Transition>`,
    `<Prefix/>${ON}<AbortIncompleteMultipartUpload/>`,
    `<Prefix/>${ON}${EXPIRE}${EXPIRE}`,
    `<Filter><Prefix>a</Prefix><Tag><Key>a</Key><Value>b</Value></Tag></Filter>${ON}${EXPIRE}`,
    `<Filter><Tag><Key>a</Key></Tag></Filter>${ON}${EXPIRE}`,
    `<Filter><Suffix>a</Suffix></Filter>${ON}${EXPIRE}`,
  ]) {
    const root = lifecycle(`<Rule>${rule}</Rule>`);
    assert.throws(() => readLifecycle(root), is("MalformedXML"), rule);
  }
});

test("objects move to STANDARD_IA only", () => {
  const rule = `<Prefix/>${ON}<Transition><Days>1</Days><StorageClass>GLACIER</StorageClass></Transition>`;
  assert.throws(() => readLifecycle(lifecycle(`<Rule>${rule}</Rule>`)), is("InvalidStorageClass"));
});

test("tags are read and written, each key once", () => {
  const tagging = (tags: string) => parseXml(`<Tagging><TagSet>${tags}</TagSet></Tagging>`);
  const written = "<Tag><Key>a</Key><Value>1</Value></Tag><Tag><Key>b</Key><Value></Value></Tag>";
  const tags = readTagging(tagging(written));
  assert.deepEqual(tags, { a: "1", b: "" });
  assert.equal(inner(writeTagging(tags)), `<TagSet>${written}</TagSet>`);
  assert.deepEqual(readTagging(tagging("")), {});
  assert.throws(() => readTagging(tagging(written + written)), is("InvalidTag"));
  assert.throws(() => readTagging(parseXml("<Tagging/>")), is("MalformedXML"));
  assert.throws(() => readTagging(tagging("<Tag><Key>a</Key></Tag>")), is("MalformedXML"));
});
