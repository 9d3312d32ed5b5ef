import type { Sha } from '../lib/sha.ts';
import type { RemoteLocation, RemoteRef } from './git.ts';
import { runOnRemote } from './remote.ts';

const LIST_TIMEOUT_MS = 60_000;
const MAX_BYTES = 128 * 1024 * 1024;
const BRANCHES = 'refs/heads/';

export interface ListOptions {
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
    maxBytes: MAX_BYTES,
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
