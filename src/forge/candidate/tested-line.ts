import type { PrNumber } from '../../engine/pull-request.ts';
import type { GitRepository } from '../../git/git.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LandRequest } from '../forge.ts';
import type { Tip } from './apply-entry.ts';
import { findOrigin } from './trailers.ts';

export interface LineEntry extends Tip {
  readonly prNumber: PrNumber;
}

/** The first-parent line from the base to the tested commit, grouped by entry. */
export interface TestedLine {
  readonly base: Sha;
  /** Oldest first. An entry is represented by its last commit. */
  readonly entries: readonly LineEntry[];
}

/** Undefined when the commit is gone, or Sluice did not build it on this base. */
export async function findTestedLine(git: GitRepository, request: LandRequest): Promise<TestedLine | undefined> {
  const { base, sha, tree } = request;
  if ((await git.findStoredCommit(sha))?.tree !== tree) return undefined;
  const shas = await git.listFirstParents({ tip: sha, without: [base] });
  const commits = await Promise.all(shas.map((each) => git.findStoredCommit(each)));
  if (commits[0]?.parents[0] !== base) return undefined;
  const entries = commits.flatMap((commit) => {
    const prNumber = commit && findOrigin(commit.message)?.prNumber;
    return commit === undefined || prNumber === undefined ? [] : [{ prNumber, sha: commit.sha, tree: commit.tree }];
  });
  return entries.at(-1)?.sha === sha ? { base, entries } : undefined;
}

/** Answers the commits of exactly these pull requests, provided that they follow `start`. */
export function findPartAfter(
  { base, entries }: TestedLine,
  start: Sha,
  prNumbers: readonly PrNumber[],
): readonly LineEntry[] | undefined {
  const place = start === base ? 0 : entries.findIndex(({ sha }) => sha === start) + 1;
  if (place === 0 && start !== base) return undefined;
  const part = entries.slice(place);
  return areSame(part, prNumbers) ? part : undefined;
}

/** Answers the commit beneath the last `prNumbers` of the line, or the base when the line does not end with them. */
export function foundationOf({ base, entries }: TestedLine, prNumbers: readonly PrNumber[]): Sha {
  const count = entries.length - prNumbers.length;
  if (count <= 0 || !areSame(entries.slice(count), prNumbers)) return base;
  return entries[count - 1]?.sha ?? base;
}

function areSame(entries: readonly LineEntry[], prNumbers: readonly PrNumber[]): boolean {
  return entries.length === prNumbers.length && entries.every(({ prNumber }, index) => prNumber === prNumbers[index]);
}
