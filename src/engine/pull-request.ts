import type { Brand } from '../lib/brand.ts';
import type { Sha } from '../lib/sha.ts';
import type { Reporter } from './check.ts';

export type PrNumber = Brand<number, 'PrNumber'>;

export const MERGEABILITIES = ['UNSPECIFIED', 'IN_PROGRESS', 'MERGEABLE', 'NOT_MERGEABLE'] as const;
export type Mergeability = (typeof MERGEABILITIES)[number];

/** Why a forge calls a pull request not mergeable. The words are the API's. */
export type BlockReason =
  | 'conflict'
  | 'behind'
  | 'draft'
  | 'closed'
  | 'pending'
  | 'awaitingCheck'
  | 'failingCheck'
  | 'reviewRequired'
  | 'changesRequested'
  | 'other';

/** What a forge says about a pull request at one instant. The engine never asks; it is told. */
export interface PullRequestFacts {
  readonly number: PrNumber;
  readonly headSha: Sha;
  readonly baseBranch: string;
  readonly title: string;
  readonly author: string;
  readonly url: string;
  readonly status: 'open' | 'draft' | 'closed' | 'merged';
  readonly mergeability: Mergeability;
  readonly blockReasons: readonly BlockReason[];
  /** Names of the required checks that fail on its head, where the forge says. */
  readonly failingChecks?: readonly string[] | undefined;
  /** The head was pushed by somebody who may not write to the repository. Absent: by somebody who may. */
  readonly isHeadUntrusted?: boolean;
  /** Where the head is a branch of the same repository. */
  readonly headBranch?: string;
  /** The title that its author wants on the target instead of its own. */
  readonly mergeTitle?: string;
  /** Present where the head contains the target's: what is needed to land it without another run. */
  readonly upToDate?: UpToDate;
}

export interface UpToDate {
  /** The head of the target that it contains. */
  readonly targetHead: Sha;
  readonly tree: Sha;
  /** Names of the checks that passed on the pull request's head. */
  readonly passedChecks: readonly (string | PassedCheck)[];
}

/** With the app that reported it, where the forge knows. */
export interface PassedCheck extends Reporter {
  readonly name: string;
}
