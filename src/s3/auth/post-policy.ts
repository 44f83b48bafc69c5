/** Who signed an upload by form: the signature covers its policy, and the policy the rest. */
import { createHmac } from "node:crypto";
import { sameDigest } from "#kit/secrets.ts";
import { ALGORITHM, sign } from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import { type Authentication, type Signer, signingKeyOf } from "./authentication.ts";
import type { Caller } from "./caller.ts";
import { readBasicTime, readCredential } from "./credential-scope.ts";
import { holdAgainst, readPolicy } from "./policy-conditions.ts";

export interface PostGrant {
  readonly caller: Caller;
  /** Of the file. */
  readonly leastOctets: number;
  readonly mostOctets: number;
}

/**
 * Throws unless the form carries a policy that was signed by a key and lets all its fields through. Names in
 * lower case; `key` with the name of the file put in.
 */
export async function authenticatePost(
  authentication: Authentication,
  fields: ReadonlyMap<string, string>,
  bucket: string,
): Promise<PostGrant> {
  const policy = fields.get("policy");
  if (policy === undefined) throw new S3Fault("AccessDenied", "The form has no signed policy.");
  const isVersion2 = fields.has("awsaccesskeyid") && !fields.has("x-amz-algorithm");
  const open = isVersion2 ? openVersion2 : openVersion4;
  const { signer, isSigned } = await open(authentication, fields, policy);
  const { key, caller } = signer;
  if (!isSigned) {
    throw new S3Fault("SignatureDoesNotMatch", undefined, {
      extra: { AWSAccessKeyId: key.accessKeyId, StringToSign: policy },
    });
  }
  authentication.noteUse(key);
  const { leastOctets, mostOctets, ...read } = readPolicy(policy);
  const held = new Map(fields).set("bucket", bucket);
  holdAgainst({ leastOctets, mostOctets, ...read }, held, authentication.now());
  return { caller, leastOctets, mostOctets };
}

interface Opened {
  readonly signer: Signer;
  /** Whether the signature is that of the policy. */
  readonly isSigned: boolean;
}

async function openVersion4(
  authentication: Authentication,
  fields: ReadonlyMap<string, string>,
  policy: string,
): Promise<Opened> {
  if (needed(fields, "x-amz-algorithm") !== ALGORITHM) {
    throw badField("x-amz-algorithm", `It must be ${ALGORITHM}.`);
  }
  const time = needed(fields, "x-amz-date");
  if (readBasicTime(time) === null) throw badField("x-amz-date", "It must be YYYYMMDDThhmmssZ.");
  const scope = readCredential(needed(fields, "x-amz-credential"), time);
  if (typeof scope === "string") throw badField("x-amz-credential", scope);
  const signature = needed(fields, "x-amz-signature");
  const token = fields.get("x-amz-security-token") ?? null;
  const signer = await authentication.open(scope.accessKeyId, token);
  return { signer, isSigned: sameDigest(sign(signingKeyOf(signer, scope), policy), signature) };
}

/** The older way, which forms in use and the compatibility tests still have. */
async function openVersion2(
  authentication: Authentication,
  fields: ReadonlyMap<string, string>,
  policy: string,
): Promise<Opened> {
  const signature = needed(fields, "signature");
  const token = fields.get("x-amz-security-token") ?? null;
  const id = needed(fields, "awsaccesskeyid");
  const signer = await authentication.open(id, token);
  const { secretAccessKey } = signer.session ?? signer.key;
  const own = createHmac("sha1", secretAccessKey).update(policy).digest("base64");
  return { signer, isSigned: sameDigest(own, signature) };
}

function needed(fields: ReadonlyMap<string, string>, name: string): string {
  const value = fields.get(name);
  if (value !== undefined) return value;
  throw badField(name, "Bucket POST must contain a field of this name beside a policy.");
}

function badField(name: string, why: string): S3Fault {
  return new S3Fault("InvalidArgument", `The field ${name} cannot be used. ${why}`, {
    extra: { ArgumentName: name },
  });
}
