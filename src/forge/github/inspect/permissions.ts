import type { Finding } from '../../hosting.ts';
import { PERMISSIONS } from '../app-needs.ts';

const RANKS: Readonly<Record<string, number>> = { read: 1, write: 2, admin: 3 };

export function inspectPermissions(given: Readonly<Record<string, string>>): readonly Finding[] {
  const missing = Object.entries(PERMISSIONS).filter(
    ([name, { access }]) => (RANKS[given[name] ?? ''] ?? 0) < (RANKS[access] ?? 0),
  );
  if (missing.length === 0)
    return [{ level: 'ok', code: 'PERMISSIONS', text: 'The app has every permission it needs.' }];
  return missing.map(([, { access, label, why }]) => ({
    level: 'error',
    code: 'PERMISSION_MISSING',
    text: `The app lacks the repository permission "${label}: ${access === 'write' ? 'read and write' : 'read-only'}" (${why}). Add it to the app, and accept it where the app is installed.`,
  }));
}
