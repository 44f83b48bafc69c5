/** URI: where a service is found, as a URI. RFC 7553. */
import { dataApi, missingPriority, priorityOf } from "../api.ts";
import { stringToEnd, u16 } from "../fields.ts";
import { defineRecord } from "../record.ts";

const fields = { priority: u16, weight: u16, target: stringToEnd };

export const URI = defineRecord({
  type: "URI",
  code: 256,
  fields,
  check: (data) => (data.target.length === 0 ? "The target of a URI record cannot be empty" : null),
  api: dataApi(fields, {
    content: (data) => `${data.weight} ${stringToEnd.print(data.target)}`,
    parse: (text, input) => {
      const priority = text.left > 2 ? u16.parse(text, "priority") : priorityOf(input);
      if (priority === null) throw missingPriority();
      return {
        priority,
        weight: u16.parse(text, "weight"),
        target: stringToEnd.parse(text, "target"),
      };
    },
    defaults: { weight: 0 },
    beside: (data) => ({ priority: data.priority }),
    hidden: ["priority"],
  }),
});
