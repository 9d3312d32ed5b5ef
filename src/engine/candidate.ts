import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { Sha } from '../lib/sha.ts';
import type { Check } from './check.ts';
import type { PrNumber } from './pull-request.ts';
import type { ReasonCode } from './reason.ts';
import type { RequiredChecks } from './required.ts';
import type { QueueSettings } from './settings.ts';

/** Counted within a queue, from 1. The API's `testRunId` is made from it. */
export type CandidateNumber = Brand<number, 'CandidateNumber'>;

/** An entry as a candidate contains it: at exactly this commit, in exactly this stay of the pull request. */
export interface Member {
  readonly prNumber: PrNumber;
  readonly headSha: Sha;
  /** The number of the submission that began the stay: a pull request may come again after it landed. */
  readonly submission: number;
}

/**
 * A commit of the target as the base of something. Heads are counted: a head with a lower ordinal and the same epoch is
 * an ancestor of one with a higher. The epoch changes when the branch was moved to something that does not contain its
 * old head.
 */
export interface Base {
  readonly sha: Sha;
  readonly ordinal: number;
  readonly epoch: number;
  /** The queue put exactly a tree that passed there. */
  readonly isProven?: true;
}

export type Purpose =
  /** The line itself: what passes here lands. */
  | { readonly kind: 'main' }
  /** Finds out which members of a failed batch are to blame. */
  | { readonly kind: 'bisection'; readonly bisection: number }
  /** A commit of the target branch without any entry, as a rule its head: is it red by itself? */
  | { readonly kind: 'head' }
  /** One entry alone on a red head: may it mend it? */
  | { readonly kind: 'repair' }
  /** A pull request that already contains the head and has passed: it lands without a run. */
  | { readonly kind: 'direct' };

/**
 * waiting: planned, holds the place of the one it replaces, and starts as soon as it may.
 * building: the commit is being made. testing: its checks run. passed, failed: decided, and still of use.
 * abandoned: nothing that is reported for it counts any more.
 */
export const CANDIDATE_STATES = ['waiting', 'building', 'testing', 'passed', 'failed', 'abandoned'] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

/** Base + the entries beneath + the members, in this order, built as one commit and tested as one. */
export interface Candidate {
  readonly number: CandidateNumber;
  readonly purpose: Purpose;
  /** Its rank in the line: its number, or that of the first candidate it replaces. */
  readonly place: number;
  readonly base: Base;
  /** Entries ahead that are in it but are not what it tests: they are not blamed for its failure. */
  readonly beneath: readonly Member[];
  readonly members: readonly Member[];
  /** The candidate whose commit is base + beneath, so that this one can be built on top of it. */
  readonly parent: CandidateNumber | undefined;
  /** As the queue had it when this was planned: landing it again after a lost answer must give the same commits. */
  readonly mergeMethod: QueueSettings['mergeMethod'];
  /** How many candidates like this one ended without a usable answer before it. */
  readonly tries: number;
  readonly state: CandidateState;
  readonly plannedAt: Instant;
  readonly commit: BuiltCommit | undefined;
  readonly required: RequiredChecks | undefined;
  readonly testingSince: Instant | undefined;
  readonly checks: readonly Check[];
  /** Another candidate with the same tree is under test: only its pass is taken over. */
  readonly sameTreeAs: CandidateNumber | undefined;
  readonly pass: Pass | undefined;
  readonly failure: Failure | undefined;
  /** Entries that landed since its base, are not in it, and share no target with it. */
  readonly composedWith: readonly PrNumber[];
  /** It cannot be tested, and its members were being landed by another then: what did not land is tested again. */
  readonly isPutOff?: true;
  /** When its required checks were read again last. */
  readonly reviewedAt?: Instant;
  /** Its people were told that nothing is heard of its checks. */
  readonly isSilenceTold?: true;
  /** What was known to pass on the target when it was planned; absent where nothing was. */
  readonly lastPasses?: readonly LastPass[];
  readonly endedAt: Instant | undefined;
  readonly ending: Ending | undefined;
}

export interface BuiltCommit {
  readonly sha: Sha;
  readonly tree: Sha;
}

export interface Pass {
  readonly at: Instant;
  readonly by: 'own_run' | 'nothing_required' | 'reused_run' | 'head_checks';
  /** The candidate whose run proved the tree, and its commit; another one only where `by` is `reused_run`. */
  readonly provenBy: CandidateNumber;
  readonly provenSha: Sha;
  /** It passed thanks to these waivers: it lands, and proves nothing for anybody else. */
  readonly waived?: readonly WaivedCheck[];
}

/** A required check that failed, and counts as passed because only quarantined tests did. */
export interface WaivedCheck {
  readonly check: string;
  readonly tests: readonly { readonly id: string; readonly name: string }[];
}

/** The run whose pass of a check landed last. */
export interface LastPass {
  readonly check: string;
  readonly candidate: CandidateNumber;
}

export interface Failure {
  readonly at: Instant;
  /** What its members fail with, should they be to blame. */
  readonly reason: ReasonCode;
  /** Names of the required checks that failed. */
  readonly checks: readonly string[];
  /** More about it, as a sentence. */
  readonly detail?: string;
}

export interface Ending {
  readonly reason: ReasonCode;
  /** The entry that caused it, where one did. */
  readonly prNumber: PrNumber | undefined;
}

export const LANDED_KINDS = ['IDENTICAL', 'SAME_TREE', 'COMPOSED', 'PREFIX', 'UNPROVEN'] as const;
export type LandedKind = (typeof LANDED_KINDS)[number];

/** The proof that what landed is what was tested; where a merge API did otherwise, that it is not. */
export interface Landed {
  readonly kind: LandedKind;
  /** The entry's own commit on the target, and its tree. */
  readonly sha: Sha;
  readonly tree: Sha;
  /** The target's head after the push that landed it; with a merge API, each entry has its own. */
  readonly pushedSha: Sha;
  readonly pushedTree: Sha;
  readonly testedSha: Sha;
  readonly testedTree: Sha;
  readonly candidate: CandidateNumber;
  /** The target's head before that push. */
  readonly base: Sha;
  readonly composedWith: readonly PrNumber[];
  /** Absent where nothing was. */
  readonly waived?: readonly WaivedCheck[];
  readonly at: Instant;
}

export function isUnderTest({ state }: Candidate): boolean {
  return state === 'building' || state === 'testing';
}

export function isOfLine({ purpose }: Candidate): boolean {
  return purpose.kind === 'main';
}

export function contains(candidate: Candidate, prNumber: PrNumber): boolean {
  return hasMember(candidate, prNumber) || candidate.beneath.some((member) => member.prNumber === prNumber);
}

export function hasMember(candidate: Candidate, prNumber: PrNumber): boolean {
  return candidate.members.some((member) => member.prNumber === prNumber);
}

/** Everything in it, in the order in which it was built. */
export function compositionOf(candidate: Candidate): readonly Member[] {
  return candidate.beneath.length === 0 ? candidate.members : [...candidate.beneath, ...candidate.members];
}

export function byPlace(a: Candidate, b: Candidate): number {
  return a.place - b.place;
}
