/** The operations on a setting of a bucket: put as a document, got back as one, and deleted. */
import type { XmlElement } from "#kit/xml.ts";
import type { SettingName, SettingValue } from "#objects";
import type { S3Code } from "../codes.ts";
import { S3Fault } from "../fault.ts";
import { NO_CONTENT, type Operation, xmlAnswer } from "../operation.ts";
import { readXml } from "../xml/read.ts";
import { malformed } from "./elements.ts";

interface Configuration<Name extends SettingName> {
  readonly setting: Name;
  /** What the operations are called after `Put`, `Get` and `Delete`; the last has its own name where it differs. */
  readonly name: string;
  readonly deleteName?: string;
  readonly resource: string;
  readonly root: string;
  readonly read: (root: XmlElement) => SettingValue<Name>;
  readonly write: (value: SettingValue<Name>) => string;
  /** Of the document. */
  readonly maxOctets: number;
  /** What is said where it is not set. */
  readonly unset: S3Code;
}

export function configuration<Name extends SettingName>({
  setting,
  name,
  deleteName = name,
  resource,
  root: rootName,
  maxOctets,
  read,
  write,
  unset,
}: Configuration<Name>): readonly Operation[] {
  const common = { on: "bucket", resource } as const;
  return [
    {
      ...common,
      name: `Put${name}`,
      method: "PUT",
      action: "admin-write",
      async handle(call, { store }) {
        const root = await readXml(call, maxOctets);
        if (root.name !== rootName) throw malformed(`the root must be <${rootName}>`);
        await store.setSetting(call.bucket, setting, read(root));
        return {};
      },
    },
    {
      ...common,
      name: `Get${name}`,
      method: "GET",
      action: "admin-read",
      async handle({ bucket }, { store }) {
        const value = await store.setting(bucket, setting);
        if (value !== null) return xmlAnswer(write(value));
        throw new S3Fault(unset, undefined, { extra: { BucketName: bucket.name } });
      },
    },
    {
      ...common,
      name: `Delete${deleteName}`,
      method: "DELETE",
      action: "admin-write",
      async handle({ bucket }, { store }) {
        await store.removeSetting(bucket, setting);
        return NO_CONTENT;
      },
    },
  ];
}
