/** What the zones part will not do, in its own terms; each door words it. */
export type ZoneFaultKind =
  | "no-such-zone"
  | "zone-exists"
  | "bad-zone-name"
  | "bad-setting"
  | "no-such-setting"
  | "no-such-record"
  | "bad-name"
  | "bad-type"
  | "bad-ttl"
  | "not-proxiable"
  | "platform-address"
  | "own-target"
  | "bad-comment"
  | "bad-tag"
  | "bad-record-setting"
  | "identical-record"
  | "host-exists"
  | "cname-exists"
  | "ns-exists"
  | "ns-needs-name-alone"
  | "ds-needs-ns"
  | "own-nameserver"
  | "too-large"
  | "too-many-records"
  | "too-many-changes"
  | "no-such-serial"
  | "bad-zone-file";

export class ZoneFault extends Error {
  override readonly name = "ZoneFault";
  readonly kind: ZoneFaultKind;
  /** The field that is wrong, as a JSON pointer. */
  readonly pointer: string | null;

  constructor(kind: ZoneFaultKind, message: string, pointer: string | null = null) {
    super(message);
    this.kind = kind;
    this.pointer = pointer;
  }
}
