import type { Sha } from '../lib/sha.ts';
import type { RemoteAccess } from './environment.ts';
import { gitFault, type RunOptions, type RunResult, runGit } from './exec.ts';
import type { RemoteLocation, RemoteRef } from './git.ts';
import { isCurrent } from './remote-refs.ts';
import { updateRefs } from './update-ref.ts';

interface RemoteRun extends RunResult {
  /** The credentials of the command. A fault must not quote them. */
  readonly access: RemoteAccess | undefined;
}

// SPEC G2
export async function runOnRemote(
  remote: RemoteLocation,
  args: readonly string[],
  options: Omit<RunOptions, 'remote' | 'access'> & { readonly signal: AbortSignal },
): Promise<RemoteRun> {
  const access = await findAccess(remote);
  return { ...(await runGit(args, { ...options, remote: true, access })), access };
}

async function findAccess({
  url,
  authorize,
  isHttpAllowed = false,
}: RemoteLocation): Promise<RemoteAccess | undefined> {
  if (authorize === undefined) return undefined;
  return { url, authorization: await authorize(), isHttpAllowed };
}

const LIST_TIMEOUT_MS = 60_000;
const MAX_LISTED_BYTES = 128 * 1024 * 1024;
const BRANCHES = 'refs/heads/';

interface ListOptions {
  readonly remote: RemoteLocation;
  readonly patterns: readonly string[];
  readonly signal: AbortSignal;
}

/** Throws when the remote refuses to be read. */
export async function reachRemote(remote: RemoteLocation, signal: AbortSignal): Promise<void> {
  await runOnRemote(remote, ['ls-remote', '--quiet', '--end-of-options', remote.url, 'HEAD'], {
    purpose: 'reach the remote',
    timeoutMs: LIST_TIMEOUT_MS,
    signal,
  });
}

export async function listRemoteRefs({ remote, patterns, signal }: ListOptions): Promise<readonly RemoteRef[]> {
  // Git matches the patterns on this side, after the remote has sent all its refs. `--heads` makes it send branches
  // only.
  const kind = patterns.every((pattern) => pattern.startsWith(BRANCHES)) ? ['--heads'] : ['--refs'];
  const args = ['ls-remote', '--quiet', ...kind, '--end-of-options', remote.url, ...patterns];
  const { stdout } = await runOnRemote(remote, args, {
    purpose: 'list the refs of the remote',
    timeoutMs: LIST_TIMEOUT_MS,
    maxBytes: MAX_LISTED_BYTES,
    signal,
  });
  const matches = patterns.map(matcherOf);
  return stdout
    .toString()
    .split('\n')
    .flatMap((line) => parseLine(line))
    .filter(({ name }) => matches.some((isMatch) => isMatch(name)));
}

/** Git's own matching also accepts names that end with the pattern. */
function matcherOf(pattern: string): (name: string) => boolean {
  if (!pattern.endsWith('/*')) return (name) => name === pattern;
  const folder = pattern.slice(0, -1);
  return (name) => name.startsWith(folder);
}

function parseLine(line: string): readonly RemoteRef[] {
  const [sha = '', name] = line.split('\t');
  return name === undefined ? [] : [{ name, sha: sha as Sha }];
}

/** Long enough for the first copy of a large repository. A silent remote is given up far earlier. */
const FETCH_TIMEOUT_MS = 20 * 60_000;
const FETCHING = 'fetch from the remote';

export const ALL_REFS = ['refs/heads/*', 'refs/pull/*', 'refs/sluice/*'];

interface FetchOptions {
  readonly gitDir: string;
  readonly remote: RemoteLocation;
  /** Names of refs, patterns that end in a star, or commits. */
  readonly refs: readonly string[];
  readonly signal: AbortSignal;
}

/** Makes these refs of the mirror equal to the remote's. Commits are copied without a ref. */
// SPEC G107
export async function fetchRefs({ gitDir, remote, refs, signal }: FetchOptions): Promise<void> {
  const access = await findAccess(remote);
  if (access !== undefined && (await isCurrent({ gitDir, access, refs, signal }))) return;
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
