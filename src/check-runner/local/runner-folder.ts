import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProtectionKind } from '../runner.ts';

/** The data folder is closed to everybody but the server: where checks have users of their own, their folders lie elsewhere. */
export function findRunnerFolder(dataFolder: string, wanted: ProtectionKind | undefined): string {
  const haveUsers = process.getuid?.() === 0 && wanted !== 'none';
  return haveUsers
    ? join(tmpdir(), `sluice-runner-${hash('sha256', dataFolder).slice(0, 12)}`)
    : join(dataFolder, 'runner');
}
