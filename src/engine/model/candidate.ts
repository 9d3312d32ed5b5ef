import type { Brand } from '../../lib/brand.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import { type Check, type CheckVerdict, verdictOfCheck } from './check.ts';
import type { JudgedTest } from './judgement.ts';
import type { PrNumber } from './pull-request.ts';
import type { Question } from './question.ts';
import type { ReasonCode } from './reason.ts';
import { isFailFast, type RequiredChecks } from './required.ts';
import type { QueueSettings } from './settings.ts';

/** Counts from 1 within a queue. The API derives `testRunId` from it. */
export type CandidateNumber = Brand<number, 'CandidateNumber'>;

/** An entry in a candidate, at exactly this commit and in exactly this stay of the pull request. */
export interface Member {
  readonly prNumber: PrNumber;
  readonly headSha: Sha;
  /** The submission that began the stay. A pull request may be submitted again after it landed. */
  readonly submission: number;
}

/**
 * A commit of the target branch that something is built on. Heads are counted. Within one epoch, a head with a lower
 * ordinal is an ancestor of one with a higher ordinal. The epoch changes when the branch moves to a commit that does
 * not contain its old head.
 */
export interface Base {
  readonly sha: Sha;
  readonly ordinal: number;
  readonly epoch: number;
  /** The queue landed exactly a tree that passed, or the commit passed by itself. */
  readonly isProven?: true;
}

export type Purpose =
  /** A candidate of the line. It lands if it passes. */
  | { readonly kind: 'main' }
  /**
   * Searches a failed batch for the members that are to blame. `isAgain`: it confirms the result of a run with the same
   * tree, so it does not wait for that run.
   */
  | { readonly kind: 'bisection'; readonly bisection: number; readonly isAgain?: true }
  /**
   * Tests a commit of the target branch without any entry, usually the head, to find out whether it is red by itself.
   */
  | { readonly kind: 'head' }
  /** Tests one entry alone on a red head, which it may repair. */
  | { readonly kind: 'repair' }
  /** Lands a pull request without a run, because it contains the head and has passed its checks. */
  | { readonly kind: 'direct' };

/**
 * waiting: planned, keeps the place of the candidate it replaces, and starts as soon as it may. building: the commit is
 * being built. testing: its checks run. passed, failed: decided and still needed. abandoned: reports about it no longer
 * count.
 */
const CANDIDATE_STATES = ['waiting', 'building', 'testing', 'passed', 'failed', 'abandoned'] as const;
export type CandidateState = (typeof CANDIDATE_STATES)[number];

/** Base, entries beneath and members, in this order, built into one commit and tested as one. */
export interface Candidate {
  readonly number: CandidateNumber;
  readonly purpose: Purpose;
  /** Its rank in the line: its number, or the place of the candidate it replaces. */
  readonly place: number;
  readonly base: Base;
  /** Entries ahead that it contains but does not test. Its failure does not count against them. */
  readonly beneath: readonly Member[];
  readonly members: readonly Member[];
  /** A probe answers this and nothing else. Absent: all tests run. */
  readonly question?: Question;
  /** The subject of its branch name, if it became part of a search or its first members were cleared since. */
  readonly namedFor?: BranchSubject;
  /** The candidate whose commit is base + beneath. This one is built on top of that commit. */
  readonly parent: CandidateNumber | undefined;
  /**
   * The setting when the candidate was planned. A landing that is repeated after a lost answer must give the same
   * commits.
   */
  readonly mergeMethod: QueueSettings['mergeMethod'];
  /** How many candidates before it, with the same composition, ended without a usable result. */
  readonly tries: number;
  /** Earlier runs of the same tree, in which tests failed that are quarantined automatically. */
  readonly repeats?: readonly CandidateNumber[];
  readonly state: CandidateState;
  readonly plannedAt: Instant;
  readonly commit: BuiltCommit | undefined;
  readonly required: RequiredChecks | undefined;
  readonly testingSince: Instant | undefined;
  /** The automatic timeout when its tests began. Absent if too few runs had passed. */
  readonly timeoutMinutes?: number;
  readonly checks: readonly Check[];
  /**
   * The candidate under test that has the same tree: its pass counts for this one too. Its own number means that its
   * checks wait for the queue.
   */
  readonly sameTreeAs: CandidateNumber | undefined;
  readonly pass: Pass | undefined;
  readonly failure: Failure | undefined;
  /** Its failure in a run of its own counts, because CI worked then. Undefined until that is known. */
  readonly isControlled?: boolean;
  /**
   * Entries that landed after its base was chosen, are not in it, and share no target with it. Set when it ends; until
   * then `composedWithOf` derives them.
   */
  readonly composedWith?: readonly PrNumber[];
  /**
   * It could not be tested while another candidate was landing its members. Members that did not land are tested again.
   */
  readonly isPutOff?: true;
  readonly reviewedAt?: Instant;
  /** Its required checks are being read again. Until then nobody is blamed for its failure. */
  readonly isUnderReview?: true;
  /** The pages of its pull requests show that CI is silent. */
  readonly isSilenceTold?: true;
  /** The last passes on the target branch when it was planned. Absent if there were none. */
  readonly lastPasses?: readonly LastPass[];
  readonly endedAt: Instant | undefined;
  readonly ending: Ending | undefined;
}

interface BuiltCommit {
  readonly sha: Sha;
  readonly tree: Sha;
}

export interface Pass {
  readonly at: Instant;
  /** question: only the tests of its question ran. */
  readonly by: 'own_run' | 'question' | 'nothing_required' | 'reused_run' | 'head_checks';
  /** The candidate whose run proved the tree, and its commit. It is another candidate only if `by` is `reused_run`. */
  readonly provenBy: CandidateNumber;
  readonly provenSha: Sha;
  /** The waivers it passed by. It lands, and it proves nothing for other candidates. */
  readonly waived?: readonly ExcusedCheck[];
  /** Checks that passed although tests failed in their reports. */
  readonly excused?: readonly ExcusedCheck[];
}

/** A required check in which only tests failed that are excused. In `waived` the check failed and counts as passed. */
export interface ExcusedCheck {
  readonly check: string;
  readonly tests: readonly Omit<JudgedTest, 'why'>[];
}

/** The run that passed a check and landed last. */
export interface LastPass {
  readonly check: string;
  readonly candidate: CandidateNumber;
  /** The app or account that reported it, if the forge knows. */
  readonly reporter?: string;
  /** It was not required. */
  readonly isFailFast?: true;
}

export interface Failure {
  readonly at: Instant;
  /** The reason its members are removed with if they are to blame. */
  readonly reason: ReasonCode;
  readonly checks: readonly string[];
  /** The explanation of the forge, as a sentence. */
  readonly detail?: string;
  /** The pull requests beneath it. Absent if there were none. */
  readonly onTopOf?: readonly PrNumber[];
  readonly timeout?: Timeout;
  /** Why quarantine did not excuse the failures. Absent if none was judged. */
  readonly denied?: readonly DeniedWaiver[];
  readonly alone?: Alone;
}

/** The failures in runs of its own that an entry left for. */
export interface Alone {
  readonly times: number;
  /** The head of the branch. */
  readonly sha: Sha;
  /** The test that failed in all of them. */
  readonly test?: string;
  /** Tests that fail too often to say anything, with the percentage of the runs of trees that pass. */
  readonly flaky?: readonly { readonly name: string; readonly percent: number }[];
}

/** The limit that the checks exceeded. */
export interface Timeout {
  readonly minutes: number;
  /** At least one of the open checks had reported. */
  readonly isBegun: boolean;
  /** The setting was unset: the limit followed the queue. */
  readonly isAutomatic?: true;
}

export interface DeniedWaiver {
  readonly check: string;
  readonly why: string;
}

export interface Ending {
  readonly reason: ReasonCode;
  /** The entry that caused it, if one did. */
  readonly prNumber: PrNumber | undefined;
}

export interface Landing {
  readonly candidate: CandidateNumber;
  readonly expectedHead: Sha;
  readonly since: Instant;
  /**
   * The push may have happened, so only the answer ends the landing. Before that, the landing is a plan like any other.
   */
  readonly isBegun: boolean;
  /** The setting when the landing was planned. A retry has to look for the result of the same mode. */
  readonly landingMode: QueueSettings['landingMode'];
}

export interface RecentLanding {
  readonly prNumber: PrNumber;
  readonly submission: number;
  /** The ordinal of the head that it made. */
  readonly ordinal: number;
}

export const LANDED_KINDS = ['IDENTICAL', 'SAME_TREE', 'COMPOSED', 'PREFIX', 'UNPROVEN'] as const;
export type LandedKind = (typeof LANDED_KINDS)[number];

/**
 * The proof that the landed commit is what was tested. With UNPROVEN, the record that a merge API landed something
 * else.
 */
export interface Landed {
  readonly kind: LandedKind;
  /** The entry's own commit on the target branch, and its tree. */
  readonly sha: Sha;
  readonly tree: Sha;
  /** The head of the target branch after the push that landed it. With a merge API each entry has its own. */
  readonly pushedSha: Sha;
  readonly pushedTree: Sha;
  readonly testedSha: Sha;
  readonly testedTree: Sha;
  readonly candidate: CandidateNumber;
  /** The head of the target branch before that push. */
  readonly base: Sha;
  readonly composedWith: readonly PrNumber[];
  /** As in the pass that it landed by. */
  readonly waived?: readonly ExcusedCheck[];
  readonly excused?: readonly ExcusedCheck[];
  readonly at: Instant;
}

/** The facts in the name of a test branch. */
export interface BranchSubject {
  readonly prNumber: PrNumber | undefined;
  readonly isBisection: boolean;
  readonly isProbe?: true;
}

/** It never changes, because the branch is deleted under the name under which it was pushed. */
export function branchSubjectOf({ namedFor, members, purpose, question }: Candidate): BranchSubject {
  const subject = namedFor ?? { prNumber: members[0]?.prNumber, isBisection: purpose.kind === 'bisection' };
  return question === undefined ? subject : { ...subject, isProbe: true };
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

/** All its entries in build order. */
export function compositionOf(candidate: Candidate): readonly Member[] {
  return candidate.beneath.length === 0 ? candidate.members : [...candidate.beneath, ...candidate.members];
}

export function byPlace(a: Candidate, b: Candidate): number {
  return a.place - b.place;
}

/**
 * The combined verdict of the required checks. One inconclusive check does not end the wait, because another may still
 * fail.
 */
// SPEC V1
export function verdictOfRequired(candidate: Candidate): CheckVerdict {
  const { required, checks } = candidate;
  if (required === undefined) return 'pending';
  const verdicts = required.names.map((name) => verdictOfCheck(checks.find((check) => check.name === name)));
  if (verdicts.includes('failed')) return 'failed';
  const undecided = (['pending', 'inconclusive', 'flaky'] as const).find((verdict) => verdicts.includes(verdict));
  return undecided ?? 'passed';
}

export function verdictOf(candidate: Candidate): CheckVerdict {
  const verdict = verdictOfRequired(candidate);
  return verdict !== 'failed' && failedFast(candidate).length > 0 ? 'failed' : verdict;
}

/** Only their failures count. */
// SPEC V83
function failedFast({ required, checks }: Candidate): string[] {
  const failed = checks.filter((check) => verdictOfCheck(check) === 'failed');
  return failed.flatMap(({ name }) => (isFailFast(required, name) ? name : []));
}

/** The checks that failed or, if none did, the required ones without a result that counts. */
export function failedChecks(candidate: Candidate): string[] {
  const { required, checks } = candidate;
  const having = (...verdicts: CheckVerdict[]) =>
    (required?.names ?? []).filter((name) =>
      verdicts.includes(verdictOfCheck(checks.find((check) => check.name === name))),
    );
  const failed = [...having('failed'), ...failedFast(candidate)];
  return failed.length > 0 ? failed : having('inconclusive', 'flaky');
}

/** A failed check runs again, so the failure is open. This also holds while the candidate waits for a slot. */
export function isRunAgain(candidate: Candidate): boolean {
  return (
    candidate.state === 'failed' &&
    candidate.failure?.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' &&
    candidate.failure.checks.length > 0 &&
    verdictOf(candidate) === 'pending'
  );
}

export function openChecks({ required, checks }: Pick<Candidate, 'required' | 'checks'>): string[] {
  return (required?.names ?? []).filter(
    (name) => verdictOfCheck(checks.find((check) => check.name === name)) === 'pending',
  );
}

/** People may fetch the exact commit of a run that failed. */
// SPEC E93
export function isKept({ state, commit, purpose }: Candidate): boolean {
  return state === 'failed' && commit !== undefined && purpose.kind !== 'direct';
}
