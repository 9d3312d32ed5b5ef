import { gitFault, runGit } from './exec.ts';
import type { RefAnswer, RefChange } from './git.ts';

const PURPOSE = 'push to the remote';
const TIMEOUT_MS = 5 * 60_000;

/** What the operator's configuration may say about pushing is for people. */
const PLAINLY = [
  '--porcelain',
  '--quiet',
  '--no-verify',
  '--no-signed',
  '--no-follow-tags',
  '--no-force-if-includes',
  '--recurse-submodules=no',
];

export interface PushOptions {
  readonly gitDir: string;
  readonly url: string;
  readonly changes: readonly RefChange[];
  readonly signal: AbortSignal;
}

/** Carries changes out one by one: no transport can verify a ref that it does not change. */
export async function pushRefs({ gitDir, url, changes, signal }: PushOptions): Promise<RefAnswer> {
  const leases = changes.flatMap((change) =>
    change.kind === 'set' && change.expected !== undefined
      ? [`--force-with-lease=${change.ref}:${change.expected}`]
      : [],
  );
  const refspecs = changes.flatMap(encode);
  if (refspecs.length === 0) return { kind: 'done' };
  const { exitCode, stdout, stderr } = await runGit(
    ['push', ...PLAINLY, ...leases, '--end-of-options', url, ...refspecs],
    { purpose: PURPOSE, gitDir, remote: true, timeoutMs: TIMEOUT_MS, signal, expected: [0, 1, 128] },
  );
  return exitCode === 0 ? { kind: 'done' } : answerOf(stdout.toString(), stderr);
}

/**
 * Lines of refs that were not changed are `! from:to [whose word] (reason)`. Without any, nothing is known of what
 * became of the push.
 */
export function answerOf(output: string, stderr: string): RefAnswer {
  const rejection = output.split('\n').find((line) => line.startsWith('!\t'));
  const [, , summary = ''] = rejection?.split('\t') ?? [];
  if (rejection === undefined || summary.startsWith('[remote failure]')) throw gitFault({ purpose: PURPOSE }, stderr);
  const { detail } = gitFault({ purpose: PURPOSE }, summary);
  const isOccupied = /exists; cannot create/.test(stderr);
  // Somebody was faster, or holds the lock: which of the two shows only by looking again.
  const isRace = /^\[rejected\]|failed to update ref|incorrect old value|lock|already exists/.test(summary);
  return isRace && !isOccupied ? { kind: 'stale' } : { kind: 'refused', detail };
}

function encode(change: RefChange): readonly string[] {
  switch (change.kind) {
    case 'set':
      return [`${change.expected === undefined ? '+' : ''}${change.sha}:${change.ref}`];
    case 'delete':
      return [`:${change.ref}`];
    case 'verify':
      return [];
  }
}
