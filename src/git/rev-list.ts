import type { Sha } from '../lib/sha.ts';
import { runGit } from './exec.ts';
import type { CommitRange } from './git.ts';
import type { Mirror } from './mirror.ts';

const MAX_BYTES = 128 * 1024 * 1024;
/** A branch of many years must not become one endless message. */
const MAX_COMMITS = 1_000;

/** First-parent line of the tip, oldest first. */
export async function listFirstParents(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return (await revList(mirror, ['--first-parent', '--reverse'], range)) as readonly Sha[];
}

/** Commits that are no merges, oldest first. */
export async function listCommits(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return (await revList(mirror, ['--no-merges', '--reverse', `--max-count=${MAX_COMMITS}`], range)) as readonly Sha[];
}

/** Every object of the range. Throws when one is missing. */
export async function listObjects(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return (await revList(mirror, ['--objects', '--no-object-names'], range)) as readonly Sha[];
}

async function revList(mirror: Mirror, args: readonly string[], range: CommitRange): Promise<readonly string[]> {
  const revisions = [range.tip, ...range.without.map((sha) => `^${sha}`)];
  const { stdout } = await runGit(['rev-list', ...args, '--end-of-options', ...revisions, '--'], {
    purpose: 'read the history of the repository',
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    maxBytes: MAX_BYTES,
  });
  return stdout
    .toString()
    .split('\n')
    .filter((line) => line !== '');
}
