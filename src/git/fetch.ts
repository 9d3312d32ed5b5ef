import { gitFault } from './exec.ts';
import type { RemoteLocation } from './git.ts';
import { type RemoteRun, runOnRemote } from './remote.ts';
import { updateRefs } from './update-ref.ts';

/** Long enough for the first copy of a large repository. A silent remote is given up far earlier. */
const FETCH_TIMEOUT_MS = 20 * 60_000;
const FETCHING = 'fetch from the remote';

export const ALL_REFS = ['refs/heads/*', 'refs/pull/*', 'refs/sluice/*'];

export interface FetchOptions {
  readonly gitDir: string;
  readonly remote: RemoteLocation;
  /** Names of refs, patterns that end in a star, or commits. */
  readonly refs: readonly string[];
  readonly signal: AbortSignal;
}

/** Makes these refs of the mirror equal to the remote's. Commits are copied without a ref. */
// SPEC G107
export async function fetchRefs({ gitDir, remote, refs, signal }: FetchOptions): Promise<void> {
  const wanted = new Set(refs);
  const removed = new Set<string>();
  while (wanted.size > 0) {
    const run = await runFetch({ gitDir, remote, refs: [...wanted], signal });
    if (run.exitCode === 0) return;
    // One missing ref fails the whole fetch. Each round removes one such ref or obstacle, so the loop ends.
    const missing = findMissing(run.stderr);
    const gone = missing !== undefined && wanted.delete(missing) ? missing : findObstacle(run.stderr);
    if (gone === undefined || removed.has(gone)) throw gitFault({ purpose: FETCHING, gitDir, ...run }, run.stderr);
    removed.add(gone);
    if (isName(gone)) await updateRefs(gitDir, [{ kind: 'delete', ref: gone }]);
  }
}

const QUIETLY = [
  '--quiet',
  '--prune',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-recurse-submodules',
  '--no-auto-maintenance',
];

function runFetch({ gitDir, remote, refs, signal }: FetchOptions): Promise<RemoteRun> {
  return runOnRemote(remote, ['fetch', ...QUIETLY, '--end-of-options', remote.url, ...refs.map(refspecOf)], {
    purpose: FETCHING,
    gitDir,
    timeoutMs: FETCH_TIMEOUT_MS,
    signal,
    expected: [0, 1, 128],
  });
}

function refspecOf(ref: string): string {
  return isName(ref) ? `+${ref}:${ref}` : ref;
}

function isName(ref: string): boolean {
  return ref.startsWith('refs/');
}

function findMissing(stderr: string): string | undefined {
  return /couldn't find remote ref (refs\/\S+)|not our ref ([0-9a-f]{40,64})/.exec(stderr)?.slice(1).find(Boolean);
}

/** A branch `a` that was deleted on the remote but not in the mirror blocks the branch `a/b`. */
function findObstacle(stderr: string): string | undefined {
  return /'(refs\/[^']+)' exists; cannot create/.exec(stderr)?.[1];
}
