import type { Sha } from '../../src/lib/sha.ts';
import { replay, standInFor } from '../fake/fake-candidates.ts';
import type { FakeCi } from '../fake/fake-ci.ts';
import type { FakeRepository } from '../fake/fake-repository.ts';
import type { Truth } from './blame.ts';
import { BRANCH } from './clients.ts';
import { headsBelow } from './stacks.ts';

export interface TruthOptions {
  readonly repository: FakeRepository;
  readonly ci: FakeCi;
  readonly isBlind: boolean;
}

/** Trees outlive collected commits. A question about a collected commit stays open. */
export function truthOf({ repository, ci, isBlind }: TruthOptions): Truth {
  const { git, moves } = repository;
  const hasBoth = (one: Sha, other: Sha) => git.findCommit(one) !== undefined && git.findCommit(other) !== undefined;
  return {
    filesOfRun: ({ commit }) => (commit === undefined ? undefined : git.getTree(commit.tree).files),
    filesOfHead: (sha) => {
      const tree = git.findCommit(sha)?.tree ?? moves.find(({ to }) => to === sha)?.tree;
      return tree === undefined ? undefined : git.getTree(tree).files;
    },
    ownPaths: (head, base) => {
      const shared = hasBoth(head, base) ? git.findMergeBase(head, base) : undefined;
      if (shared === undefined) return undefined;
      // The pull requests below it count as theirs.
      const heads = [shared, ...headsBelow(repository, head)].map((sha) => git.getCommit(sha));
      const fork = heads.reduce((one, other) => (other.generation > one.generation ? other : one)).sha;
      return new Set(git.listChanges(git.getCommit(fork).tree, git.getCommit(head).tree).keys());
    },
    conflicts: (head, base, method) => {
      if (!hasBoth(head, base)) return undefined;
      const below = headsBelow(repository, head).filter((sha) => isMerged(repository, sha));
      // A merged one may have been taken off the branch again.
      if (below.length > 0 && wasRewound(repository)) return undefined;
      const entry = { headSha: head, ...(below.length > 0 && { below }) };
      if (method === 'REBASE') return replay(git, git.getCommit(base), entry) === undefined;
      if (below.length === 0) return git.merge(base, head).kind !== 'clean';
      const target = method === 'SQUASH' ? standInFor(git, git.getCommit(base), entry) : base;
      return git.mergeOnAllBases(target, head).kind !== 'clean';
    },
    record: ci.record,
    isStillThere: (prNumber, head) => {
      const pr = repository.findPullRequest(prNumber);
      return pr?.status === 'open' && pr.base === BRANCH && repository.findPullRequestHead(prNumber) === head;
    },
    isBlind,
  };
}

/** Somebody took commits off the target branch. */
export function wasRewound({ git, moves }: FakeRepository): boolean {
  return moves.some(({ from, to, landing }) => landing === undefined && !isOnTop(git, from, to));
}

/** Collected commits leave the question open and count as removed. */
function isOnTop(git: FakeRepository['git'], from: Sha | undefined, to: Sha | undefined): boolean {
  if (from === undefined || to === undefined) return true;
  return git.findCommit(from) !== undefined && git.findCommit(to) !== undefined && git.isAncestor(from, to);
}

function isMerged(repository: FakeRepository, head: Sha): boolean {
  return repository
    .listPullRequests()
    .some(({ number, status }) => status === 'merged' && repository.findPullRequestHead(number) === head);
}
