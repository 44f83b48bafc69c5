/** Sizes and times as people read them. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `512 B`, `1.5 MiB`, `120 MiB`. */
export function showSize(octets: number): string {
  let value = Math.max(0, octets);
  let unit = 0;
  // From 1023.5 on it would be rounded to 1024 of the smaller unit.
  while (value >= 1_023.5 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/, "")} ${UNITS[unit]}`;
}

/** `2026-11-15 08:30:02` in UTC, of what the API or a `Date` says. */
export function showTime(time: string | Date): string {
  const iso = new Date(time).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}
