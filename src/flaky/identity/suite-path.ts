import { uuidV5 } from './uuid-v5.ts';

/** Whole suites are shown; what is longer ends in a digest, so that two of them stay two. */
const MAX_LENGTH = 300;

/**
 * The suites around a case below the outermost one, which is part of the test's id already: tests of one name in suites
 * inside each other have one id, and their paths tell them apart. Empty where there is no inner suite.
 */
export function suitePathOf(suites: readonly string[]): string {
  if (suites.length < 2) return '';
  // A doubled sign inside of names keeps the separator unmistakable.
  const path = suites
    .slice(1)
    .map((name) => name.replaceAll('>', '>>').replaceAll('\0', ''))
    .join(' > ')
    .toWellFormed();
  return path.length <= MAX_LENGTH ? path : `${path.slice(0, MAX_LENGTH).toWellFormed()} ${uuidV5(path)}`;
}
