/**
 * DKIM: the public key that checks signatures of mail. RFC 6376 §3.6.1, RFC 8463. An API type; on the
 * wire it is TXT. Its `data` has a key for each tag: `{ "v": "DKIM1", "k": "rsa", "p": "MIIB…" }`, with
 * `h`, `s`, `t` as lists with colons and unknown tags under `other`. An empty `p` revokes the key.
 */
import { characterStrings } from "../character-strings.ts";
import { RecordFault } from "../fault.ts";
import { decodeBase64 } from "../fields.ts";
import {
  badTag,
  checkText,
  checkWord,
  checkWords,
  dataToTags,
  parseTags,
  policyApi,
  tagsToData,
} from "../mail-policy.ts";
import { defineRecord } from "../record.ts";

/** In the order in which they are written. */
const TAGS = ["v", "k", "h", "s", "t", "n", "p"] as const;

export const DKIM = defineRecord({
  type: "DKIM",
  code: 16,
  wireType: "TXT",
  rdata: characterStrings,
  check: checkText(checkKey),
  api: policyApi(
    TAGS,
    (text) => tagsToData(parseTags(text), TAGS),
    (data) => dataToTags(data, TAGS, ["p"]),
    { v: "DKIM1" },
  ),
});

function checkKey(text: string): void {
  const tags = parseTags(text);
  const version = tags.get("v");
  if (version !== undefined && (version !== "DKIM1" || [...tags.keys()][0] !== "v")) {
    throw badTag("v", "A DKIM key that has a version begins with v=DKIM1");
  }
  checkWord(tags, "k", ["rsa", "ed25519"]);
  checkWords(tags, "h", /^(?:sha1|sha256|[a-z][a-z0-9-]*)$/i);
  checkWords(tags, "s", /^(?:\*|[a-z][a-z0-9-]*)$/i);
  checkWords(tags, "t", /^[a-z][a-z0-9-]*$/i);
  checkPublicKey(tags.get("p"), tags.get("k") ?? "rsa");
}

function checkPublicKey(p: string | undefined, kind: string): void {
  if (p === undefined) {
    throw new RecordFault(
      "missing-data-field",
      "p",
      "A DKIM key needs the tag p, which may be empty",
    );
  }
  const key = decodeBase64(p.replaceAll(/\s+/g, ""));
  if (key === null) throw badTag("p", "The tag p of a DKIM key is not base64");
  // RFC 8463 §4: the bare 32 octets.
  if (kind.toLowerCase() === "ed25519" && key.length !== 0 && key.length !== 32) {
    throw badTag("p", `An Ed25519 key has 32 octets, not ${key.length}`);
  }
}
