import { gitFault, runGit } from './exec.ts';
import type { RefAnswer, RefChange } from './git.ts';

const PURPOSE = 'change refs of the repository';

/** Long enough for whoever holds a lock to finish; git itself would give up after a tenth of a second. */
const PATIENCE = ['-c', 'core.filesRefLockTimeout=10000', '-c', 'core.packedRefsTimeout=10000'];

/** For the log of a ref, where the repository keeps one. */
const IDENTITY = { GIT_COMMITTER_NAME: 'Sluice', GIT_COMMITTER_EMAIL: 'sluice@localhost' };

/** Carries all changes out in one transaction, or none. */
export async function updateRefs(gitDir: string, changes: readonly RefChange[]): Promise<RefAnswer> {
  // Locks are taken in this order: two transactions cannot wait for each other.
  const lines = changes.toSorted((a, b) => (a.ref < b.ref ? -1 : 1)).map(encode);
  const { exitCode, stderr } = await runGit([...PATIENCE, 'update-ref', '-z', '--stdin'], {
    purpose: PURPOSE,
    gitDir,
    extra: IDENTITY,
    input: Buffer.from(lines.join('')),
    expected: [0, 128],
  });
  if (exitCode === 0) return { kind: 'done' };
  const fault = gitFault({ purpose: PURPOSE, gitDir }, stderr);
  if (/exists; cannot create/.test(stderr)) return { kind: 'refused', detail: fault.detail };
  if (/but expected|unable to resolve reference|reference already exists/.test(stderr)) return { kind: 'stale' };
  throw fault;
}

/** A branch may be a second name of another, and then that one moves. What is Sluice's own is never followed. */
const ITSELF = 'option no-deref\0';

function encode(change: RefChange): string {
  switch (change.kind) {
    case 'set':
      return change.expected === undefined
        ? `${ITSELF}update ${change.ref}\0${change.sha}\0\0`
        : `update ${change.ref}\0${change.sha}\0${change.expected}\0`;
    case 'delete':
      return `${ITSELF}delete ${change.ref}\0\0`;
    case 'verify':
      return `verify ${change.ref}\0${change.sha}\0`;
  }
}
