export type ElementKind =
  | 'suites'
  | 'suite'
  | 'case'
  | 'failure'
  | 'error'
  | 'skipped'
  | 'flakyFailure'
  | 'flakyError'
  | 'rerunFailure'
  | 'rerunError'
  | 'output'
  | 'property'
  | 'html'
  | 'other';

const KINDS: ReadonlyMap<string, ElementKind> = new Map<string, ElementKind>([
  ['testsuites', 'suites'],
  ['testsuite', 'suite'],
  ['testcase', 'case'],
  ['failure', 'failure'],
  ['error', 'error'],
  ['skipped', 'skipped'],
  ['flakyFailure', 'flakyFailure'],
  ['flakyError', 'flakyError'],
  ['rerunFailure', 'rerunFailure'],
  ['rerunError', 'rerunError'],
  ['system-out', 'output'],
  ['system-err', 'output'],
  ['property', 'property'],
  ['html', 'html'],
]);
const LOWER: ReadonlyMap<string, ElementKind> = new Map([...KINDS].map(([name, kind]) => [name.toLowerCase(), kind]));

/** Ignores the prefix and the case of letters. */
export function elementKind(name: string): ElementKind {
  // Nine of ten elements; comparing is cheaper than hashing a fresh name.
  if (name === 'testcase') return 'case';
  return KINDS.get(name) ?? LOWER.get(name.slice(name.indexOf(':') + 1).toLowerCase()) ?? 'other';
}
