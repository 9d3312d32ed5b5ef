import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLocalRunner, type LocalRunnerOptions } from '../../src/check-runner/local/local-runner.ts';
import { removeFolder } from '../../src/check-runner/local/work-folder.ts';
import type { CheckRunner, ProtectionKind } from '../../src/check-runner/runner.ts';
import { Fault } from '../../src/lib/fault.ts';
import { silentLog } from './silent-log.ts';

export const UIDS = { first: 61_000, last: 61_063 };

const KINDS: readonly ProtectionKind[] = ['bubblewrap', 'namespaces', 'users', 'none'];

/** A runner in a folder of its own, which the users of checks can enter. */
export async function aRunner(
  kind: ProtectionKind | undefined,
  more: Partial<LocalRunnerOptions> = {},
): Promise<{ readonly runner: CheckRunner; readonly folder: string; readonly kept: string; close(): Promise<void> }> {
  const parent = await mkdtemp(join(tmpdir(), 'sluice-runner-'));
  await chmod(parent, 0o711);
  const folder = join(parent, 'jobs');
  const kept = join(parent, 'caches');
  const runner = await createLocalRunner({
    folder,
    jobs: 4,
    wanted: kind,
    uids: UIDS,
    processes: 2_048,
    limits: { memory: undefined, cpus: undefined },
    tools: [],
    caches: [],
    secrets: [],
    kept: { folder: kept, limitBytes: 1024 ** 3 },
    trustsAll: true,
    log: silentLog,
    ...more,
  });
  const close = async () => {
    await runner.close();
    await removeFolder(parent);
  };
  return { runner, folder, kept, close };
}

/** The protections that work on this machine: bubblewrap may be missing, and not every user is root. */
export async function findWorkingProtections(): Promise<readonly ProtectionKind[]> {
  const working: ProtectionKind[] = [];
  for (const kind of KINDS) {
    try {
      await (await aRunner(kind)).close();
      working.push(kind);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  return working;
}
