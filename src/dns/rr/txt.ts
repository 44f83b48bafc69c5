/** TXT: free text, in one or more strings. RFC 1035 §3.3.14. */
import { contentOf } from "../api.ts";
import { acceptText, characterStrings, showStrings } from "../character-strings.ts";
import { defineRecord } from "../record.ts";

export const TXT = defineRecord({
  type: "TXT",
  code: 16,
  rdata: characterStrings,
  api: {
    show: (data) => ({ content: showStrings(data) }),
    accept: (input) => acceptText(contentOf(input)),
  },
});
