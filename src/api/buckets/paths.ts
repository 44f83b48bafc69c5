/** Where the buckets of an account are: under our own name, and where the original's tools look. */

export const paths = [
  "/accounts/:account_id/storage/buckets",
  "/accounts/:account_id/r2/buckets",
] as const;
