import { uuidV5 } from './uuid-v5.ts';

/** A longer path ends in a digest, so that two long paths stay different. */
const MAX_LENGTH = 300;

/**
 * The suites around a case below the outermost one, which is part of the test's id already. Tests of one name in nested
 * suites share an id, and their paths tell them apart. Empty if there is no inner suite.
 */
export function suitePathOf(suites: readonly string[]): string {
  if (suites.length < 2) return '';
  // Doubling the sign inside names keeps the separator unambiguous.
  const path = suites
    .slice(1)
    .map((name) => name.replaceAll('>', '>>').replaceAll('\0', ''))
    .join(' > ')
    .toWellFormed();
  return path.length <= MAX_LENGTH ? path : `${path.slice(0, MAX_LENGTH).toWellFormed()} ${uuidV5(path)}`;
}
