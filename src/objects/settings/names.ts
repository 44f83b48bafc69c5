/** The settings of a bucket by name: what each holds, and what is checked before it is kept. */
import { checkCors, type CorsRule } from "./cors.ts";
import { checkLifecycle, type LifecycleRule } from "./lifecycle.ts";
import type { PublicAccess } from "./public-access.ts";
import { checkBucketTags } from "./tags.ts";

/** What is not set is not there. */
export interface BucketSettings {
  readonly cors?: readonly CorsRule[];
  readonly lifecycle?: readonly LifecycleRule[];
  readonly tags?: Readonly<Record<string, string>>;
  readonly public?: PublicAccess;
}

export type SettingName = keyof BucketSettings;
export type SettingValue<Name extends SettingName> = NonNullable<BucketSettings[Name]>;

/** Throw for what cannot be kept. */
export const settingChecks: {
  readonly [Name in SettingName]: (value: SettingValue<Name>) => void;
} = {
  cors: checkCors,
  lifecycle: checkLifecycle,
  tags: checkBucketTags,
  public: () => {},
};
