import type { GitRepository, LineCommit } from '../../git/git.ts';
import { assert } from '../../lib/assert.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LineCommit as ForgeLineCommit, LineAnswer, LineQuestion } from '../forge.ts';
import { isPullRequestNumber } from './pull-request-ref.ts';
import { PULL_REQUEST } from './trailers.ts';

/** Commit ids become arguments of git commands, so nothing else may pass for one. */
export function checkShas(shas: readonly Sha[]): void {
  assert(
    shas.every((sha) => /^[0-9a-f]{40,64}$/.test(sha)),
    'a commit is named by something that is no sha',
  );
}

/** The commits that the local copy of the repository lacks. */
export async function listMissing(git: GitRepository, shas: readonly Sha[]): Promise<readonly Sha[]> {
  const wanted = [...new Set(shas)];
  const commits = await Promise.all(wanted.map((sha) => git.findStoredCommit(sha)));
  return wanted.filter((_, index) => commits[index] === undefined);
}

export async function listLine(git: GitRepository, { head, since, limit }: LineQuestion): Promise<LineAnswer> {
  const find = () => Promise.all([head, since].map((sha) => git.findStoredCommit(sha)));
  let found = await find();
  if (found.includes(undefined)) {
    await git.refresh();
    found = await find();
  }
  if (found.includes(undefined)) return { kind: 'lost' };
  const commits = await git.listLine({ tip: head, since, limit, trailer: PULL_REQUEST });
  const isWhole = head === since || commits.at(-1)?.parent === since;
  if (isWhole) return { kind: 'line', commits: commits.map(withPullRequest) };
  if (commits.length >= limit) return { kind: 'too_long' };
  const isMerged = await git.isAncestor({ ancestor: since, descendant: head });
  return { kind: isMerged ? 'merged' : 'broken' };
}

function withPullRequest({ sha, tree, author, subject, trailer }: LineCommit): ForgeLineCommit {
  const prNumber = Number(trailer);
  return { sha, tree, author, subject, ...(isPullRequestNumber(prNumber) ? { prNumber } : {}) };
}
