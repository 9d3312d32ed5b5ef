import type { PrNumber, PullRequestFacts } from '../../src/engine/model/pull-request.ts';
import type { Sha } from '../../src/lib/sha.ts';

/** An open, mergeable pull request into main. */
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
