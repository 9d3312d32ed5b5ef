import { type Commit, getCommit, readCommits } from '../hosted/git.ts';
import type { PullRequest, Repository } from './model.ts';

/** Commits never change, so each is read once. */
const known = new WeakMap<Repository, Map<string, Promise<Commit>>>();

export function readCommit(repository: Repository, sha: string): Promise<Commit> {
  const commits = knownOf(repository);
  const reading = commits.get(sha) ?? getCommit(repository.gitDir, sha);
  commits.set(sha, reading);
  reading.catch(() => commits.delete(sha));
  return reading;
}

function knownOf(repository: Repository): Map<string, Promise<Commit>> {
  const commits = known.get(repository) ?? new Map<string, Promise<Commit>>();
  known.set(repository, commits);
  return commits;
}

/** Asks git about a pull request once for the same two ends. */
function keptByEnds<T>(read: (pr: PullRequest) => Promise<T>): (pr: PullRequest) => Promise<T> {
  const kept = new WeakMap<PullRequest, { readonly ends: string; readonly answer: Promise<T> }>();
  return (pr) => {
    const ends = `${pr.baseSha} ${pr.headSha}`;
    const found = kept.get(pr);
    if (found?.ends === ends) return found.answer;
    const answer = read(pr);
    kept.set(pr, { ends, answer });
    answer.catch(() => kept.delete(pr));
    return answer;
  };
}

/** Commits of a pull request, oldest first. */
export const commitsOf = keptByEnds(async ({ repository, baseSha, headSha }) => {
  const commits = await readCommits(repository.gitDir, { tip: headSha, without: baseSha });
  for (const commit of commits) knownOf(repository).set(commit.sha, Promise.resolve(commit));
  return commits.map(({ sha }) => sha);
});
