/** Whether anyone may read a bucket without a key. */

export interface PublicAccess {
  /** Its objects, by their keys. */
  readonly enabled: boolean;
  /** Also which objects there are. */
  readonly listing: boolean;
}
