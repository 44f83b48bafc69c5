/** Dates in header fields. RFC 9110 §5.6.7. */

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const TIME = "(\\d{2}):(\\d{2}):(\\d{2})";
/** The one form that is sent, and the two old ones that must still be read. */
const IMF = new RegExp(`^[A-Z][a-z]{2}, (\\d{2}) ([A-Z][a-z]{2}) (\\d{4}) ${TIME} GMT$`);
const RFC850 = new RegExp(`^[A-Z][a-z]{5,8}, (\\d{2})-([A-Z][a-z]{2})-(\\d{2}) ${TIME} GMT$`);
const ASCTIME = new RegExp(`^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \\d]\\d) ${TIME} (\\d{4})$`);

/** Milliseconds since 1970; null for what is no such date. `now` tells the century of a short year. */
export function parseHttpDate(text: string, now: number): number | null {
  const imf = IMF.exec(text);
  if (imf !== null) return time(Number(imf[3]), imf[2]!, imf[1]!, imf.slice(4));
  const old = RFC850.exec(text);
  if (old !== null) return time(fullYear(Number(old[3]), now), old[2]!, old[1]!, old.slice(4));
  const asc = ASCTIME.exec(text);
  if (asc !== null) return time(Number(asc[6]), asc[1]!, asc[2]!, asc.slice(3, 6));
  return null;
}

/** A year of two digits that seems more than 50 years ahead was the last one that ended so. */
function fullYear(short: number, now: number): number {
  const year = new Date(now).getUTCFullYear();
  const guess = year - (year % 100) + short;
  return guess > year + 50 ? guess - 100 : guess;
}

function time(
  year: number,
  monthName: string,
  day: string,
  clock: readonly string[],
): number | null {
  const month = MONTHS.indexOf(monthName);
  const [hour, minute, second] = clock.map(Number) as [number, number, number];
  if (month === -1 || hour > 23 || minute > 59 || second > 60) return null; // 60: a leap second.
  const date = new Date(0);
  date.setUTCFullYear(year, month, Number(day));
  if (date.getUTCMonth() !== month || Number(day) === 0) return null;
  return date.setUTCHours(hour, minute, second);
}
