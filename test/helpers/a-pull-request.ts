import type { PrNumber, PullRequestFacts } from '../../src/engine/pull-request.ts';
import type { Sha } from '../../src/lib/sha.ts';

/** A pull request into main that is open and can be merged. */
export function aPullRequest(number: number, changes: Partial<PullRequestFacts> = {}): PullRequestFacts {
  return {
    number: number as PrNumber,
    headSha: `${number}a` as Sha,
    baseBranch: 'main',
    title: `Change ${number}`,
    author: 'Ada',
    url: '',
    status: 'open',
    mergeability: 'MERGEABLE',
    blockReasons: [],
    ...changes,
  };
}
