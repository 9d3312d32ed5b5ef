import type { Brand } from '../../lib/brand.ts';
import type { Sha } from '../../lib/sha.ts';
import type { Reporter } from './check.ts';

export type PrNumber = Brand<number, 'PrNumber'>;

export const MERGEABILITIES = ['UNSPECIFIED', 'IN_PROGRESS', 'MERGEABLE', 'NOT_MERGEABLE'] as const;
export type Mergeability = (typeof MERGEABILITIES)[number];

/** Why a forge calls a pull request not mergeable. The values are those of the API. */
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
  | 'stackNeedsRebase'
  | 'other';

/** The state of a pull request at one instant, as the forge reports it. The engine never asks the forge itself. */
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
  /** The forge's own words for the reason `other`, without a full stop. */
  readonly blockDetail?: string;
  /** Names of the required checks that have not reported on its head, if the forge reports them. */
  readonly awaitedChecks?: readonly string[] | undefined;
  /** The files that conflict with the target branch, if the forge names them. */
  readonly conflictFiles?: readonly string[] | undefined;
  /** Names of the required checks that fail on its head, if the forge reports them. */
  readonly failingChecks?: readonly string[] | undefined;
  /** The head was pushed by an account without write access. Absent: the account has write access. */
  readonly isHeadUntrusted?: boolean;
  /** Present if the head is a branch of the same repository. */
  readonly headBranch?: string;
  /** The title that the author wants for the commit on the target branch. */
  readonly mergeTitle?: string;
  /** The pull requests that it is built on, directly. Absent: there are none. */
  readonly below?: readonly Below[];
  /** Addresses of the pull requests of other repositories that it waits for. */
  readonly waitsFor?: readonly string[];
  /** Present if its head contains the head of the target branch. It may then land without another run. */
  readonly upToDate?: UpToDate;
  /** Absent if its text states none. */
  readonly dependsOn?: readonly Dependency[];
}

/** The text of the pull request states it with `Depends-On`. Who submitted it may not read a hidden one. */
export type Dependency = { readonly number: PrNumber } | { readonly url: string; readonly isHidden?: true };

/**
 * `base`: its head branch is the base of the other. `stated`: the other's text names it. `ancestor`: the other's head
 * contains its head, which anybody could push: it counts for building and blocks nothing.
 */
export interface Below {
  readonly number: PrNumber;
  readonly by: 'base' | 'stated' | 'ancestor';
  /** It is in the target branch. */
  readonly isMerged?: true;
  /** It is in this branch instead of the target branch. */
  readonly mergedInto?: string;
  /** Its head when the other was read. */
  readonly headSha?: Sha;
}

export interface UpToDate {
  /** The head of the target branch that it contains. */
  readonly targetHead: Sha;
  readonly tree: Sha;
  /** The checks that passed on the head of the pull request. */
  readonly passedChecks: readonly (string | PassedCheck)[];
}

/** With the app that reported it, if the forge knows it. */
export interface PassedCheck extends Reporter {
  readonly name: string;
}
