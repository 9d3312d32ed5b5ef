import { error, ok } from '../../hosted/setup-finding.ts';
import type { SetupFinding } from '../../hosting.ts';
import { PERMISSIONS } from '../api/app-needs.ts';

const RANKS: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

export function inspectPermissions(given: Granted): readonly SetupFinding[] {
  const missing = findMissing(given);
  if (missing.length === 0) return [ok('PERMISSIONS', 'The app has every permission it needs.')];
  return missing.map(([, need]) =>
    error(
      'PERMISSION_MISSING',
      `The app lacks the repository permission "${labelOf(need)}" (${need.why}). Add it to the app, and accept it where the app is installed.`,
    ),
  );
}

/** In one sentence, so that the operator grants them once. Undefined when git can be used. */
export function describeNoContents(given: Granted): string | undefined {
  const missing = findMissing(given);
  if (!missing.some(([name]) => name === 'contents')) return undefined;
  const labels = missing.map(([, need]) => `"${labelOf(need)}"`).join(', ');
  return `The app lacks the repository permissions ${labels}. Add them to the app, and accept them where it is installed.`;
}

type Granted = Readonly<Record<string, string>>;
type Need = (typeof PERMISSIONS)[keyof typeof PERMISSIONS];

function findMissing(given: Granted): readonly (readonly [name: string, need: Need])[] {
  return Object.entries(PERMISSIONS).filter(
    ([name, { access }]) => (RANKS[given[name] ?? ''] ?? 0) < (RANKS[access] ?? 0),
  );
}

function labelOf({ access, label }: Need): string {
  return `${label}: ${access === 'write' ? 'read and write' : 'read-only'}`;
}
