import { cutBytes } from './variant.ts';

const MAX_BRANCH_BYTES = 1_000;

/** Whose runs these are: a merge queue's, a pull request's, a protected branch's, or anybody's. */
export type BranchClass = 'MERGE' | 'PR' | 'PB' | 'NONE';

export interface BranchFacts {
  /** Cleaned. */
  readonly branch: string;
  readonly prNumber: number | null;
  readonly isMergeTrain: boolean;
}

export interface BranchRules {
  /** First part of the names of our own test branches. */
  readonly testBranchPrefix: string;
  readonly stableBranches: readonly string[];
}

/** A branch as tests are counted by: without what git and CI put before its name. */
export function cleanBranch(branch: string): string {
  const bare = branch.replaceAll('refs/heads/', '').replaceAll('refs/', '').replaceAll('origin/', '');
  return cutBytes(bare.trim(), MAX_BRANCH_BYTES);
}

const MERGE_QUEUES = ['trunk-merge/', 'gh-readonly-queue/', '/gtmq_'];

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
