import { hash } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ProtectionKind } from '../runner.ts';

/** Only the server may enter the data folder. Checks with their own users need a folder elsewhere. */
export function findRunnerFolder(dataFolder: string, wanted: ProtectionKind | undefined): string {
  const haveUsers = process.getuid?.() === 0 && wanted !== 'none';
  return haveUsers
    ? join(tmpdir(), `sluice-runner-${hash('sha256', dataFolder).slice(0, 12)}`)
    : join(dataFolder, 'runner');
}
