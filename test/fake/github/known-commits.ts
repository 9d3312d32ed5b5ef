import { type Commit, getCommit, readCommits } from './git.ts';
import type { PullRequest, Repository } from './model.ts';
import { type DiffStat, statOf } from './pulls.ts';

/** Commits never change, so each is read once. */
const known = new WeakMap<Repository, Map<string, Promise<Commit>>>();

export function readCommit(repository: Repository, sha: string): Promise<Commit> {
  const commits = knownOf(repository);
  const reading = commits.get(sha) ?? getCommit(repository.gitDir, sha);
  commits.set(sha, reading);
  reading.catch(() => commits.delete(sha));
  return reading;
}

export function findKnownCommit(repository: Repository, sha: string): Promise<Commit | undefined> {
  return readCommit(repository, sha).catch(() => undefined);
}

const stats = new WeakMap<PullRequest, { readonly ends: string; readonly stat: Promise<DiffStat> }>();

/** Size of a pull request's diff, cached by its two ends. */
export function readStat(pr: PullRequest): Promise<DiffStat> {
  const ends = `${pr.baseSha} ${pr.headSha}`;
  const found = stats.get(pr);
  if (found?.ends === ends) return found.stat;
  const stat = statOf(pr);
  stats.set(pr, { ends, stat });
  return stat;
}

const brought = new WeakMap<PullRequest, { readonly ends: string; readonly shas: Promise<readonly string[]> }>();

/** Commits of a pull request, oldest first, cached by its two ends. */
export function commitsOf(pr: PullRequest): Promise<readonly string[]> {
  const ends = `${pr.baseSha} ${pr.headSha}`;
  const found = brought.get(pr);
  if (found?.ends === ends) return found.shas;
  const shas = listCommits(pr);
  brought.set(pr, { ends, shas });
  shas.catch(() => brought.delete(pr));
  return shas;
}

async function listCommits({ repository, baseSha, headSha }: PullRequest): Promise<readonly string[]> {
  const commits = await readCommits(repository.gitDir, ['--reverse', '--topo-order', headSha, `^${baseSha}`]);
  for (const commit of commits) knownOf(repository).set(commit.sha, Promise.resolve(commit));
  return commits.map(({ sha }) => sha);
}

function knownOf(repository: Repository): Map<string, Promise<Commit>> {
  const commits = known.get(repository) ?? new Map<string, Promise<Commit>>();
  known.set(repository, commits);
  return commits;
}
