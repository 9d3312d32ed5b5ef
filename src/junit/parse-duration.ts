const PLAIN = /^\+?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
/** Surefire before 2.20 groups digits: `1,234.567`. */
const GROUPED = /^\d{1,3}(?:,\d{3})+\.\d+$/;
/** A decimal comma; `1,234` could be either and is not guessed. */
const COMMA = /^0,\d+$/;

const MAX_LENGTH = 64;

/** Milliseconds of an attribute in seconds, to the microsecond; null where it is no duration. */
export function parseDuration(value: string): number | null {
  const usual = parseUsual(value);
  if (usual !== -1) return usual;
  const text = value.trim();
  // The patterns try every way to split a row of digits.
  if (text.length > MAX_LENGTH) return null;
  if (PLAIN.test(text)) return toMs(Number(text));
  if (GROUPED.test(text)) return toMs(Number(text.replaceAll(',', '')));
  if (COMMA.test(text)) return toMs(Number(text.replace(',', '.')));
  return null;
}

/** `0.25`, up to 9 digits and microseconds, as nearly every case has it: counted by hand, a third of the time. -1 for all else. */
function parseUsual(value: string): number {
  if (value.length > 10) return -1;
  let digits = 0;
  let decimals = -1;
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      digits = digits * 10 + code - 0x30;
      if (decimals >= 0) decimals += 1;
    } else if (code === 0x2e && decimals === -1 && at > 0) decimals = 0;
    else return -1;
  }
  if (decimals > 6 || value === '') return -1;
  return (digits * (MICROSECONDS[Math.max(decimals, 0)] as number)) / 1e3;
}

/** In the last digit, by how many decimals there are. */
const MICROSECONDS = [1e6, 1e5, 1e4, 1e3, 100, 10, 1];

function toMs(seconds: number): number | null {
  const ms = Math.round(seconds * 1e6) / 1e3;
  return Number.isFinite(ms) ? ms : null;
}
