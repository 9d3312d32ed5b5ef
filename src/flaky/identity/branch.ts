import { cutBytes } from '../../lib/text.ts';

const MAX_BRANCH_BYTES = 1_000;

/** The origin of runs: a merge queue, a pull request, a protected branch, or another branch. */
export type BranchClass = 'MERGE' | 'PR' | 'PB' | 'NONE';

export interface BranchFacts {
  /** From `cleanBranch`. */
  readonly branch: string;
  readonly prNumber: number | null;
  readonly isMergeTrain: boolean;
}

export interface BranchRules {
  /** Name prefix of our own test branches. */
  readonly testBranchPrefix: string;
  readonly stableBranches: readonly string[];
}

/** The branch name that tests are counted by: without the prefixes of git and CI. */
// SPEC U12
export function cleanBranch(branch: string): string {
  const bare = branch.replaceAll('refs/heads/', '').replaceAll('refs/', '').replaceAll('origin/', '');
  return cutBytes(bare.trim(), MAX_BRANCH_BYTES);
}

const MERGE_QUEUES = ['trunk-merge/', 'gh-readonly-queue/', '/gtmq_'];

// SPEC U61
export function classifyBranch({ branch, prNumber, isMergeTrain }: BranchFacts, rules: BranchRules): BranchClass {
  const isMerge =
    isMergeTrain ||
    branch.startsWith(`${rules.testBranchPrefix}/`) ||
    branch.startsWith('gtmq_') ||
    MERGE_QUEUES.some((part) => branch.includes(part));
  if (isMerge) return 'MERGE';
  if (prNumber !== null || branch.startsWith('pull/') || branch.startsWith('remotes/pull/')) return 'PR';
  return rules.stableBranches.includes(branch) ? 'PB' : 'NONE';
}
