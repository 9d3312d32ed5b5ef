import { isIP } from 'node:net';

/** Addresses and CIDRs, by commas or blanks. */
export function parseTrustedProxies(given: string): readonly string[] {
  return given.split(/[\s,]+/).filter((entry) => entry !== '');
}

export function checkTrustedProxies(given: string): string | undefined {
  const wrong = parseTrustedProxies(given).find((entry) => !isAddressOrRange(entry));
  return wrong === undefined ? undefined : `must be addresses such as 10.0.0.5, 10.0.0.0/8 or fd00::/8, not "${wrong}"`;
}

function isAddressOrRange(entry: string): boolean {
  const [address = '', prefix, ...more] = entry.split('/');
  const bits = { 0: 0, 4: 32, 6: 128 }[isIP(address) as 0 | 4 | 6];
  if (bits === 0 || address.includes('%') || more.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
}
