/** The account that owns what lists show. */
import { group, tag } from "../xml/write.ts";

export function ownerElement(accountId: string, name: "Owner" | "Initiator" = "Owner"): string {
  return group(name, tag("ID", accountId) + tag("DisplayName", accountId));
}
