const ISO =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?$/i;
/** The form of HTTP dates, written by Mocha's own reporter. */
const HTTP = /^[A-Z][a-z]{2}, (\d\d) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const MINUTE_MS = 60_000;

/** Milliseconds since 1970, UTC where no zone is given; null where it is no date. */
export function parseTimestamp(value: string): number | null {
  const text = value.trim();
  const iso = ISO.exec(text);
  if (iso !== null) {
    const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = ''] = iso;
    const at = instant([year, month, day, hour, minute, second].map(Number));
    const offset = zoneMinutes(zone);
    if (at === null || offset === null) return null;
    return at + Math.floor(Number(`0.${fraction}0`) * 1000) - offset * MINUTE_MS;
  }
  const http = HTTP.exec(text);
  if (http === null) return null;
  const [, day, month = '', year, ...time] = http;
  return instant([Number(year), MONTHS.indexOf(month) + 1, Number(day), ...time.map(Number)]);
}

function instant(parts: readonly number[]): number | null {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && leap ? 29 : (DAYS[month - 1] ?? 0);
  // 60 is a leap second; it falls on the next minute.
  if (day < 1 || day > days || hour > 23 || minute > 59 || second > 60) return null;
  return ((daysSince1970(year, month, day) * 24 + hour) * 60 + minute) * MINUTE_MS + second * 1000;
}

/** Counts in years that begin in March, so that the leap day comes last. */
function daysSince1970(year: number, month: number, day: number): number {
  const y = month > 2 ? year : year - 1;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  const dayOfYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + day - 1;
  return y * 365 + leapDays + dayOfYear - 719_468;
}

function zoneMinutes(zone: string): number | null {
  if (!/^[+-]/.test(zone)) return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(':', '') || '0');
  if (hours > 18 || minutes > 59) return null;
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}
