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

/** What an element is, whatever its prefix and the case of its letters. */
export function elementKind(name: string): ElementKind {
  // Nine of ten elements; comparing is cheaper than hashing a name that was just read.
  if (name === 'testcase') return 'case';
  return KINDS.get(name) ?? LOWER.get(name.slice(name.indexOf(':') + 1).toLowerCase()) ?? 'other';
}
