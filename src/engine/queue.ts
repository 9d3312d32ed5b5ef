import type { Brand } from '../lib/brand.ts';
import type { Instant } from '../lib/clock.ts';
import type { IntMap } from '../lib/int-map.ts';
import { emptyIntMap, getIn } from '../lib/int-map.ts';
import type { Sha } from '../lib/sha.ts';
import { emptySortedList, type SortedList } from '../lib/sorted-list.ts';
import type { Bisection } from './bisection.ts';
import type { Base, Candidate, CandidateNumber, Failure, Landed, LastPass, Member } from './candidate.ts';
import type { Priority } from './priority.ts';
import type { PrNumber, PullRequestFacts } from './pull-request.ts';
import type { ReasonCode } from './reason.ts';
import type { StartProblem } from './required.ts';
import type { QueueMode, QueueSettings } from './settings.ts';
import type { ImpactedTargets } from './targets.ts';

/**
 * The state of one queue: all that `step` decides from. Every value is immutable; a step makes a new queue that shares
 * what did not change. Only what is live is here: an entry or a candidate that ended leaves the queue with the step that
 * ended it, and its record stays in the store.
 */
export interface Queue {
  readonly branch: string;
  /** Pull requests live where people look at them: they are told there what happens to theirs. */
  readonly hasPages: boolean;
  readonly settings: QueueSettings;
  readonly state: QueueState;
  /** Set while `state` is SWITCHING_MODES, or PAUSED in the middle of that. */
  readonly modeSwitch: ModeSwitch | undefined;
  /** How many entries had been submitted when the queue became parallel: those need no targets. */
  readonly submissionsBeforeParallel: number;
  /** By pull-request number. */
  readonly entries: IntMap<Entry>;
  /** How many submissions and admissions there ever were. They order entries: a clock may go back, a count does not. */
  readonly submissions: number;
  readonly admissions: number;
  /** The target's head as far as is known; undefined before the first look, or while the branch does not exist. */
  readonly head: Base | undefined;
  /** The ordinal of the last head that somebody else put there. */
  readonly pushedHead: number;
  /** How many heads and epochs the target ever had. */
  readonly heads: number;
  readonly epochs: number;
  /** By number: those that are waiting, under test, passed or held. */
  readonly candidates: IntMap<Candidate>;
  readonly candidatesEver: number;
  /** The latest candidates that ended after a pass by a run of their own: a tree among them is not tested again. */
  readonly passes: IntMap<Candidate>;
  /** Of every check that the last landing required: what a later run is compared with. */
  readonly lastPasses: readonly LastPass[];
  readonly bisections: readonly Bisection[];
  readonly bisectionsEver: number;
  /** The one landing that is asked for or under way. */
  readonly landing: Landing | undefined;
  /** What speaks against commits of the target branch: the head, and bases of searches. */
  readonly suspicions: readonly Suspicion[];
  /** The target branch is to blame: nothing of the line starts and nobody is removed for a failure. */
  readonly hold: Hold | undefined;
  /** Removed for a failure that was the branch's: each returns once the forge has said how it is now. */
  readonly returning: readonly Removal[];
  /** A promise was about to be broken: nothing happens here until an operator has looked. */
  readonly parked: Parked | undefined;
  /** Derived from the entries, so that a step need not look at all of them. */
  readonly index: Index;
}

/** Where entries wait. Each entry is in at most one of the lists; those in candidates and bisections are in none. */
export interface Index {
  /** In the line and in no candidate yet, by (priority, admission). */
  readonly pending: SortedList<PrNumber>;
  /** In the line, and set aside because of a conflict. */
  readonly aside: SortedList<PrNumber>;
  /** Not ready for a reason of their own, by submission. */
  readonly unready: SortedList<PrNumber>;
  /** Ready, and waiting for the queue to admit them, by (priority, submission). */
  readonly ready: SortedList<PrNumber>;
  /** How many entries are admitted, wherever they are. */
  readonly admitted: number;
}

export const EMPTY_INDEX: Index = {
  pending: emptySortedList(),
  aside: emptySortedList(),
  unready: emptySortedList(),
  ready: emptySortedList(),
  admitted: 0,
};

export const QUEUE_STATES = ['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

/** The states that can be asked for: SWITCHING_MODES only follows from a change of mode. */
export const REQUESTABLE_QUEUE_STATES = ['RUNNING', 'PAUSED', 'DRAINING'] as const;
export type RequestableQueueState = (typeof REQUESTABLE_QUEUE_STATES)[number];

export interface ModeSwitch {
  readonly to: QueueMode;
  /** What the queue goes back to afterwards. */
  readonly from: RequestableQueueState;
}

export interface Landing {
  readonly candidate: CandidateNumber;
  readonly expectedHead: Sha;
  readonly since: Instant;
  /** It may have happened: only its answer says. Before that it is a plan like any other. */
  readonly isBegun: boolean;
  /** As the queue had it when this was planned: what was begun in one way is looked for in the same way. */
  readonly landingMode: QueueSettings['landingMode'];
}

/** Removals for failures alone on one commit of the target branch. */
export interface Suspicion {
  readonly base: Base;
  /** Since it last passed by itself, oldest first. */
  readonly removals: readonly Removal[];
  /** When it passed by itself, or could not be tested, and what was held against it then. */
  readonly cleared: { readonly at: Instant; readonly signs: readonly string[] } | undefined;
  /** The checks that it failed by itself, since it last passed. */
  readonly failed?: readonly string[];
  /** The branch left it before it was known whether the removals were right: it is tested for their sake. */
  readonly isDoubted?: true;
}

export interface Removal {
  /** As it was when it left, without its targets. */
  readonly entry: Entry;
  readonly failure: Failure;
  /** The submissions that had passed, and not landed, when it failed on top of them. */
  readonly onTopOf?: readonly number[];
  /** It was submitted again: it is evidence, and does not return. */
  readonly isReplaced?: true;
}

export interface Hold {
  readonly since: Instant;
  readonly cause: HoldCause;
  /** The last run that showed it. */
  readonly candidate: CandidateNumber | undefined;
  /** How many submissions there were when it began: what came later may be a repair. */
  readonly submissions: number;
  /** How often the head was looked at again. */
  readonly retests: number;
  readonly nextRetestAt: Instant;
}

export type HoldCause =
  | { readonly kind: 'checks'; readonly names: readonly string[] }
  | { readonly kind: 'configuration'; readonly reason: StartProblem };

export interface Parked {
  readonly reason: string;
  readonly since: Instant;
  /** The version of the event that did it, put in by whoever stores it. */
  readonly eventId?: number;
}

export const LIVE_STATES = ['NOT_READY', 'PENDING', 'TESTING', 'TESTS_PASSED', 'PENDING_FAILURE'] as const;
export const ENDED_STATES = ['MERGED', 'FAILED', 'CANCELLED'] as const;
export const ENTRY_STATES = [...LIVE_STATES, ...ENDED_STATES] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export type EntryId = Brand<string, 'EntryId'>;

/** One pull request's stay in the queue. A later submission of the same pull request keeps the id. */
export interface Entry {
  readonly id: EntryId;
  readonly prNumber: PrNumber;
  readonly state: EntryState;
  readonly stateChangedAt: Instant;
  /** Why it is in this state. */
  readonly because: Because;
  readonly pr: PullRequestFacts;
  readonly priority: Priority;
  readonly noBatch: boolean;
  readonly submittedAt: Instant;
  /** Since when something of its own has kept it from being ready; of no meaning while nothing does. */
  readonly unreadySince: Instant;
  /** The number of this submission, among all of the queue. */
  readonly submission: number;
  /** The last admission of this cycle; undefined while NOT_READY. */
  readonly admission: Admission | undefined;
  /** What setImpactedTargets said for the present head; undefined where it said nothing. */
  readonly targets: ImpactedTargets | undefined;
  /** The candidate of the line that tests it, or lands it directly. */
  readonly candidate: CandidateNumber | undefined;
  /** The bisection it is in: it is out of the line meanwhile. */
  readonly bisection: number | undefined;
  /** The entry ahead that it conflicts with: until that one ends, this one is nobody's predecessor or successor. */
  readonly conflictsWith: PrNumber | undefined;
  /** It was in a candidate during this cycle, and does not wait for a batch again. */
  readonly wasTested: boolean;
  /**
   * The bisection that cleared it, as long as the target is what that was based on and what it cleared: grouped with others
   * it cleared, and with nobody else, its tree is known to pass.
   */
  readonly clearedBySearch: number | undefined;
  /**
   * The part of a bisection that cleared it. What different parts cleared failed together and was never tested together
   * again: it is not put into one group, or the search would begin anew.
   */
  readonly clearedByPart: string | undefined;
  /** It could not be put beside what landed: for the rest of its stay it overlaps with everything. */
  readonly overlapsAll: boolean;
  /** How many levels its priority was raised because it waits. */
  readonly raised: number;
  /** It was submitted as a repair: while the branch is red it is tested alone on the head. */
  readonly isRepair: boolean;
  /** The head, by its ordinal, on which it was tested as a repair. */
  readonly repairTriedOn: number | undefined;
  /** Landing it directly was tried for this head and did not work out. */
  readonly isDirectMergeSpent: boolean;
  /** Who asked for its removal while it was landing: it leaves unless it lands. */
  readonly removalAskedBy: string | undefined;
  readonly landed: Landed | undefined;
}

/** An entry that was submitted, and to which nothing has happened since. */
export const NEW_ENTRY = {
  because: { reason: 'API_REQUESTED' },
  admission: undefined,
  candidate: undefined,
  bisection: undefined,
  conflictsWith: undefined,
  wasTested: false,
  clearedBySearch: undefined,
  clearedByPart: undefined,
  overlapsAll: false,
  raised: 0,
  isRepair: false,
  repairTriedOn: undefined,
  isDirectMergeSpent: false,
  removalAskedBy: undefined,
  landed: undefined,
} satisfies Partial<Entry>;

export interface Because {
  readonly reason: ReasonCode;
  /** The entry that is the cause, where one is. */
  readonly prNumber?: PrNumber;
  readonly candidate?: CandidateNumber;
  /** Required checks that failed. */
  readonly checks?: readonly string[];
  /** What the forge said about it, as a sentence. */
  readonly detail?: string;
}

export interface Admission {
  readonly at: Instant;
  readonly ordinal: number;
}

export function createQueue(
  branch: string,
  settings: QueueSettings,
  state: RequestableQueueState,
  { hasPages = false }: { readonly hasPages?: boolean } = {},
): Queue {
  return {
    branch,
    hasPages,
    settings,
    state,
    modeSwitch: undefined,
    submissionsBeforeParallel: 0,
    entries: emptyIntMap(),
    submissions: 0,
    admissions: 0,
    head: undefined,
    pushedHead: 0,
    heads: 0,
    epochs: 0,
    candidates: emptyIntMap(),
    candidatesEver: 0,
    passes: emptyIntMap(),
    lastPasses: [],
    bisections: [],
    bisectionsEver: 0,
    landing: undefined,
    suspicions: [],
    hold: undefined,
    returning: [],
    parked: undefined,
    index: EMPTY_INDEX,
  };
}

export function findEntry(queue: Queue, prNumber: PrNumber): Entry | undefined {
  return getIn(queue.entries, prNumber);
}

/** The entry a candidate means, as long as it is in the queue: not a later stay of the same pull request. */
export function findLiveMember(queue: Queue, member: Member): Entry | undefined {
  const entry = getIn(queue.entries, member.prNumber);
  return entry?.submission === member.submission ? entry : undefined;
}

export function findCandidate(queue: Queue, number: CandidateNumber): Candidate | undefined {
  return getIn(queue.candidates, number);
}

export function toMember(entry: Entry): Member {
  return { prNumber: entry.prNumber, headSha: entry.pr.headSha, submission: entry.submission };
}

export function isLive(state: EntryState): boolean {
  return (LIVE_STATES as readonly EntryState[]).includes(state);
}

/** In the line: under test, passed, held or waiting for a slot. A NOT_READY entry is submitted but not admitted. */
export function isAdmitted(entry: Entry): boolean {
  return entry.admission !== undefined && isLive(entry.state);
}

/** A paused queue starts and lands nothing; a parked one neither. */
export function mayWork(queue: Queue): boolean {
  return queue.state !== 'PAUSED' && queue.parked === undefined && queue.head !== undefined;
}

/** While a queue holds, only what may end that is tested: the head by itself, and a possible repair. */
export function mayTest(queue: Queue, { purpose }: Candidate): boolean {
  return mayStartTests(queue) || (mayWork(queue) && (purpose.kind === 'head' || purpose.kind === 'repair'));
}

export function mayStartTests(queue: Queue): boolean {
  return mayWork(queue) && queue.hold === undefined;
}

/** Only in parallel mode, and only if the queue allows it, does a tree land together with what landed beside it. */
export function mustBeExact({ settings }: Queue): boolean {
  return settings.exactLanding || settings.mode === 'SINGLE';
}

/** It is being landed right now: whether it left the queue as merged is not ours to say until the answer is there. */
export function isLanding(queue: Queue, entry: Entry): boolean {
  const candidate = queue.landing?.isBegun ? findCandidate(queue, queue.landing.candidate) : undefined;
  if (candidate === undefined) return false;
  const isIt = ({ submission }: Member) => submission === entry.submission;
  return candidate.members.some(isIt) || candidate.beneath.some(isIt);
}

/** The line holds this many entries, or as many as can be under test at once where that is more. */
const LINE_LIMIT = 500;

export function lineLimit({ settings }: Queue): number {
  return Math.max(LINE_LIMIT, settings.concurrency * (settings.batch ? settings.batchingMinSize : 1));
}
