/** MX: the hosts that take mail for a name, lowest preference first. RFC 1035 §3.3.9. */
import { contentOf, missingPriority, priorityOf } from "../api.ts";
import { domainName, hostField, u16 } from "../fields.ts";
import { withoutDot } from "../name.ts";
import { defineRecord } from "../record.ts";
import { addressAsTarget } from "../target.ts";

export const MX = defineRecord({
  type: "MX",
  code: 15,
  fields: { preference: u16, exchange: domainName({ compress: true }) },
  // Its addresses belong in the additional section.
  additional: (data) => (data.exchange === "." ? [] : [data.exchange]),
  // RFC 7505: the root as exchange means "no mail here", and only preference 0 may say so.
  check: (data) =>
    data.exchange === "." && data.preference !== 0
      ? "A null MX must have preference 0"
      : addressAsTarget(data.exchange, "exchange"),
  // The management API has the preference beside the content, and names without their last dot.
  api: {
    show: (data) => ({ content: withoutDot(data.exchange), priority: data.preference }),
    accept: (input) => {
      const exchange = hostField(contentOf(input), "content");
      const preference = priorityOf(input);
      if (preference === null) throw missingPriority();
      return { preference, exchange };
    },
  },
});
