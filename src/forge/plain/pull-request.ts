import type { BlockReason, PrNumber, PullRequestFacts } from '../../engine/pull-request.ts';
import type { Commit } from '../../git/git.ts';
import { printable, pullRequestRef } from '../candidate/pull-request-ref.ts';

export type Standing = 'merged' | 'clean' | 'conflict' | 'unrelated' | 'no-target';

export interface PullRequestParts {
  readonly number: PrNumber;
  readonly targetBranch: string;
  readonly head: Commit;
  readonly standing: Standing;
}

const BLOCK_REASONS: Readonly<Record<Standing, readonly BlockReason[]>> = {
  merged: ['closed'],
  clean: [],
  conflict: ['conflict'],
  unrelated: ['other'],
  'no-target': ['other'],
};

export function pullRequestFacts({ number, targetBranch, head, standing }: PullRequestParts): PullRequestFacts {
  return {
    number,
    headSha: head.sha,
    baseBranch: targetBranch,
    ...wordsOf(head),
    // Plain git has no page to link to. The ref can at least be fetched.
    url: pullRequestRef(number),
    status: standing === 'merged' ? 'merged' : 'open',
    mergeability: standing === 'clean' ? 'MERGEABLE' : 'NOT_MERGEABLE',
    blockReasons: BLOCK_REASONS[standing],
  };
}

/** The same commit is the same object while git caches it, so its title and author are formatted once. */
const words = new WeakMap<Commit, Pick<PullRequestFacts, 'title' | 'author'>>();

// SPEC C44
function wordsOf(head: Commit): Pick<PullRequestFacts, 'title' | 'author'> {
  const known = words.get(head) ?? { title: titleOf(head.message), author: printable(head.author) };
  words.set(head, known);
  return known;
}

function titleOf(message: string): string {
  return printable(message.trimStart().split('\n', 1)[0] ?? '');
}
