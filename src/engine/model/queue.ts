import type { Brand } from '../../lib/brand.ts';
import type { Instant } from '../../lib/clock.ts';
import type { IntMap } from '../../lib/int-map.ts';
import { emptyIntMap, getIn } from '../../lib/int-map.ts';
import type { Sha } from '../../lib/sha.ts';
import { emptySortedList, type SortedList } from '../../lib/sorted-list.ts';
import type { Cause } from './blame.ts';
import type {
  Alone,
  Base,
  Candidate,
  CandidateNumber,
  DeniedWaiver,
  ExcusedCheck,
  Failure,
  Landed,
  Landing,
  LastPass,
  Member,
  RecentLanding,
  Timeout,
} from './candidate.ts';
import type { Frozen } from './freeze.ts';
import { type Learned, NOTHING_LEARNED } from './learned.ts';
import { type Place, WAITING } from './place.ts';
import type { Priority } from './priority.ts';
import type { PrNumber, PullRequestFacts } from './pull-request.ts';
import { NOTHING_PROBED, type Probing } from './question.ts';
import type { ReasonCode } from './reason.ts';
import type { ReportDelays } from './report-delays.ts';
import type { StartProblem } from './required.ts';
import type { Search } from './search.ts';
import type { QueueMode, QueueSettings } from './settings.ts';
import type { AllCause, ImpactedTargets } from './targets.ts';
import { NO_TOTALS, type Totals } from './totals.ts';

/**
 * The state of one queue, and the only input of `step` besides the event. Every value is immutable: a step makes a new
 * queue that shares everything unchanged. An entry or candidate that ends leaves the queue in the same step. Its record
 * stays in the store.
 */
export interface Queue {
  readonly branch: string;
  /** Its pull requests have pages on a forge, where comment, check and labels show their state. False on plain git. */
  readonly hasPages: boolean;
  readonly settings: QueueSettings;
  readonly state: QueueState;
  /** The last request that set the state; undefined if there was none. */
  readonly stateChange: StateChange | undefined;
  /** Set while `state` is SWITCHING_MODES, or PAUSED during the switch. */
  readonly modeSwitch: ModeSwitch | undefined;
  /** Entries up to this submission number are older than the switch to PARALLEL and need no impacted targets. */
  readonly submissionsBeforeParallel: number;
  /** By pull-request number. */
  readonly entries: IntMap<Entry>;
  /** Counts of all submissions and admissions so far. They order entries, because a clock may go back. */
  readonly submissions: number;
  readonly admissions: number;
  /** The last known head of the target branch. Undefined before the first poll, or while the branch does not exist. */
  readonly head: Base | undefined;
  /** The ordinal of the last head that was pushed outside the queue. */
  readonly pushedHead: number;
  /** How many heads and epochs the target branch has had. */
  readonly heads: number;
  readonly epochs: number;
  /** The landings since the oldest base of a live candidate of the line, in order. */
  readonly landings: readonly RecentLanding[];
  /** By number. Those that wait, are under test, have passed or are held. */
  readonly candidates: IntMap<Candidate>;
  readonly candidatesEver: number;
  /**
   * The latest candidates that ended after passing or failing by their own run. Trees that passed are not tested again.
   * Failures of trees that pass later were flakes.
   */
  readonly passes: IntMap<Candidate>;
  /** For every check that the last landing required: the run that passed it. Later runs are compared with it. */
  readonly lastPasses: readonly LastPass[];
  /** Of the checks that the last landing required. Empty if the repository has no uploads. */
  readonly reportDelays: readonly ReportDelays[];
  readonly bisections: readonly Search[];
  readonly bisectionsEver: number;
  readonly learned: Learned;
  readonly probing: Probing;
  /** The one landing that is requested or under way. */
  readonly landing: Landing | undefined;
  /** Evidence against commits of the target branch: its head, and bases of bisections. */
  readonly suspicions: readonly Suspicion[];
  /**
   * Set while the target branch is to blame. No candidate of the line starts, and no entry is removed for a failure.
   */
  readonly hold: Hold | undefined;
  /** The freeze that held at the last event. Tests go on in it, and nothing lands. */
  readonly frozen: Frozen | undefined;
  /** Tests that began to fail at random with an entry, within two weeks. */
  readonly newFlakes: readonly NewFlake[];
  /** Entries that were removed for failed tests within a day. */
  readonly removals: readonly TestRemoval[];
  /** Entries that were removed for no fault of theirs. Each returns once the forge has been read again. */
  readonly returning: readonly (Removal | TestRemoval)[];
  /** Set when an invariant would have been broken. The queue starts and lands nothing until an operator resumes it. */
  readonly parked: Parked | undefined;
  readonly totals: Totals;
  /** The rules that targets are computed by. Undefined before a queue is parallel. */
  readonly lanes: Lanes | undefined;
  /** Why pull requests came into one lane, the most frequent reasons. */
  readonly meetings: readonly Meeting[];
  /** Derived from the entries, so that a step need not scan all of them. */
  readonly index: Index;
}

export interface Lanes {
  /** Of the rules and manifests. It rises with each change of them. */
  readonly version: number;
  /** The head whose rules and manifests are those of this version. */
  readonly checked: Sha;
  /** The last head that a review was asked for. */
  readonly asked: Sha;
}

/** A target or a reason for ALL that two pull requests had in common when the second one was tested behind the first. */
export interface Meeting {
  readonly kind: 'TARGET' | 'UPLOADED_ALL' | AllCause['code'];
  readonly name: string;
  readonly pairs: number;
}

/** Lists of waiting entries. An entry is in at most one list; entries in candidates and bisections are in none. */
export interface Index {
  /** In the line and not in a candidate yet, by (priority, admission). */
  readonly pending: SortedList<PrNumber>;
  /** In the line, set aside because of a conflict. */
  readonly aside: SortedList<PrNumber>;
  /** Not ready for a reason of their own, by submission. */
  readonly unready: SortedList<PrNumber>;
  /** Ready and waiting for admission, by (priority, submission). */
  readonly ready: SortedList<PrNumber>;
  readonly admitted: number;
  /** Pending entries that a search cleared for the present head. */
  readonly cleared: number;
  /** Those whose targets follow from the rules of the target branch, or may. */
  readonly ruled: number;
}

export const EMPTY_INDEX: Index = {
  pending: emptySortedList(),
  aside: emptySortedList(),
  unready: emptySortedList(),
  ready: emptySortedList(),
  admitted: 0,
  cleared: 0,
  ruled: 0,
};

export const QUEUE_STATES = ['RUNNING', 'PAUSED', 'DRAINING', 'SWITCHING_MODES'] as const;
export type QueueState = (typeof QUEUE_STATES)[number];

/** The states that a client can request. SWITCHING_MODES follows from a change of mode. */
export const REQUESTABLE_QUEUE_STATES = ['RUNNING', 'PAUSED', 'DRAINING'] as const;
export type RequestableQueueState = (typeof REQUESTABLE_QUEUE_STATES)[number];

/** The author of the present state of the queue, and the reason. */
export interface StateChange {
  readonly by: string;
  readonly at: Instant;
  readonly reason?: string;
  /** A pause ends then. */
  readonly until?: Instant;
}

export interface ModeSwitch {
  readonly to: QueueMode;
  /** The state that the queue returns to after the switch. */
  readonly from: RequestableQueueState;
}

/** The removals for failures alone on one commit of the target branch. */
export interface Suspicion {
  readonly base: Base;
  /** Since the commit last passed by itself, oldest first. */
  readonly removals: readonly Removal[];
  /** When the commit passed by itself or could not be tested, and the signs it was suspected of then. */
  readonly cleared: Cleared | undefined;
  /** The checks that the commit failed by itself since it last passed. */
  readonly failed?: readonly string[];
  /**
   * The branch left this commit before its test decided whether the removals were right. It is still tested for them.
   */
  readonly isDoubted?: true;
}

export interface Cleared {
  readonly at: Instant;
  /** When that test began. */
  readonly since?: Instant;
  readonly signs: readonly string[];
}

export interface Removal {
  /** Its last state, without its targets. */
  readonly entry: Entry;
  readonly failure: Failure;
  /** The submissions beneath it that had passed and not landed when it failed. */
  readonly onTopOf?: readonly number[];
  /** The pull request was submitted again. The removal stays as evidence and does not return. */
  readonly isReplaced?: true;
}

export interface TestRemoval extends Removal {
  /** The ids of its failed tests that are not known to fail without it. Empty: it returned. */
  readonly tests: readonly string[];
}

export interface NewFlake {
  /** Of the test. */
  readonly id: string;
  readonly prNumber: PrNumber;
  readonly at: Instant;
}

export interface Hold {
  readonly since: Instant;
  readonly cause: HoldCause;
  /** The last run that showed the failure. */
  readonly candidate: CandidateNumber | undefined;
  /** The submission count when the hold began. Later submissions may be repairs. */
  readonly submissions: number;
  readonly retests: number;
  readonly nextRetestAt: Instant;
  /** The search for the commit that broke the branch. */
  readonly breakage?: Breakage | undefined;
}

/** A commit of the first-parent line of the branch. */
export interface LineStep {
  readonly sha: Sha;
  /** The entry whose landing ends with it. Undefined: it was pushed past the queue. */
  readonly prNumber?: PrNumber;
  /** The queue landed it as it was tested. */
  readonly wasTested?: true;
}

export interface Breakage {
  /** Oldest first. The last one is the red head. */
  readonly line: readonly LineStep[];
  /** In `line`: the newest that landed as tested, the newest that passed, the oldest that failed. -1: none. */
  readonly tested: number;
  readonly passed: number;
  readonly failed: number;
  readonly runs: number;
  /** In `line`: the one under test. */
  readonly probe?: number | undefined;
  /** One of them cannot be tested. */
  readonly isGivenUp?: true;
}

export type HoldCause =
  /** `isOfMachine`: CI itself seems to be down. */
  | { readonly kind: 'checks'; readonly names: readonly string[]; readonly isOfMachine?: true }
  | { readonly kind: 'configuration'; readonly reason: StartProblem; readonly detail?: string };

export interface Parked {
  readonly reason: string;
  readonly since: Instant;
  /** The version of the event that parked the queue. The shell adds it when it stores the event. */
  readonly eventId?: number;
}

export const LIVE_STATES = ['NOT_READY', 'PENDING', 'TESTING', 'TESTS_PASSED', 'PENDING_FAILURE'] as const;
export const ENDED_STATES = ['MERGED', 'FAILED', 'CANCELLED'] as const;
export const ENTRY_STATES = [...LIVE_STATES, ...ENDED_STATES] as const;
export type EntryState = (typeof ENTRY_STATES)[number];

export type EntryId = Brand<string, 'EntryId'>;

/** Who submitted a pull request. Never read from a commit. */
export interface Submitter {
  /** Of a token, of a person who signed in, or of an account at the forge. */
  readonly id: string;
  readonly name: string;
  /** A program that writes pull requests. */
  readonly isAgent?: true;
}

/** One stay of a pull request in the queue. A later submission of the same pull request keeps the id. */
export interface Entry {
  readonly id: EntryId;
  readonly prNumber: PrNumber;
  readonly state: EntryState;
  readonly stateChangedAt: Instant;
  readonly because: Because;
  readonly pr: PullRequestFacts;
  readonly priority: Priority;
  readonly noBatch: boolean;
  readonly submittedAt: Instant;
  /** Since when a reason of its own has kept it from being ready. Meaningless while it is ready. */
  readonly unreadySince: Instant;
  /** Of the submission that began this stay. Undefined for those of older versions. */
  readonly submitter: Submitter | undefined;
  /** The number of this submission within the queue. */
  readonly submission: number;
  /** The last admission of this stay; undefined while NOT_READY. */
  readonly admission: Admission | undefined;
  /** Its admission before an entry below it left. It is admitted there again, behind those below it. */
  readonly heldPlace: Admission | undefined;
  /** The impacted targets uploaded or computed for the present head; undefined if none were. */
  readonly targets: ImpactedTargets | undefined;
  /** The last question for computed targets. */
  readonly lanesAsked: LanesAsked | undefined;
  readonly place: Place;
  /** It was in a candidate during this stay, so it does not wait for a batch again. */
  readonly wasTested: boolean;
  /**
   * The bisection that cleared it. Set while the target branch is still the base of that bisection plus entries that it
   * cleared. Grouped only with other entries it cleared, the tree is known to pass.
   */
  readonly clearedBySearch: number | undefined;
  /**
   * The part of a bisection that cleared it. Entries cleared by different parts failed together before and were not
   * tested together since. They are not grouped, or the same bisection would start again.
   */
  readonly clearedByPart: string | undefined;
  /** A search in prefixes cleared it in this stay. It is likely to pass. */
  readonly isCleared: boolean;
  /** It conflicted with the base of a search. It is tested in its turn and not before. */
  readonly isScoutSpent: boolean;
  /** How many runs tested it alone on the head, to confirm a failure. */
  readonly ownRuns: number;
  /** Names of tests that began to fail at random with it. */
  readonly newFlakes: readonly string[];
  /** Its tree could not be composed with what landed. For the rest of its stay it overlaps with every entry. */
  readonly overlapsAll: boolean;
  /** How many levels waiting has raised its priority. */
  readonly raised: number;
  /** Submitted as a repair: while the branch is red it is tested alone on the head. */
  readonly isRepair: boolean;
  /** The ordinal of the head on which it was tested as a repair. */
  readonly repairTriedOn: number | undefined;
  /** A direct merge was tried for this head and given up. */
  readonly isDirectMergeSpent: boolean;
  /** The actor who cancelled it while it was landing. It leaves unless it lands. */
  readonly removalAskedBy: string | undefined;
  readonly landed: Landed | undefined;
  /** The branch was rewritten, and lost what landed. */
  readonly lost: { readonly at: Instant } | undefined;
}

export interface LanesAsked {
  readonly sha: Sha;
  /** Of the rules. */
  readonly version: number;
  readonly isAnswered?: true;
}

/** The defaults of a new submission. */
export const NEW_ENTRY = {
  because: { reason: 'API_REQUESTED' },
  submitter: undefined,
  admission: undefined,
  heldPlace: undefined,
  lanesAsked: undefined,
  place: WAITING,
  wasTested: false,
  clearedBySearch: undefined,
  clearedByPart: undefined,
  isCleared: false,
  isScoutSpent: false,
  ownRuns: 0,
  newFlakes: [],
  overlapsAll: false,
  raised: 0,
  isRepair: false,
  repairTriedOn: undefined,
  isDirectMergeSpent: false,
  removalAskedBy: undefined,
  landed: undefined,
  lost: undefined,
} satisfies Partial<Entry>;

export interface Because {
  readonly reason: ReasonCode;
  /** The name of the token or person that caused it, if one did. */
  readonly actor?: string | undefined;
  /** The entry that is the cause, if one is. */
  readonly prNumber?: PrNumber;
  /** The members of the run that is the cause, if it has several and no single one is known to be the cause. */
  readonly among?: readonly PrNumber[];
  /** A run with that entry failed, and it may yet turn out not to be to blame. */
  readonly isUndecided?: true;
  /** A run with that entry takes too long, and the line goes on without it. */
  readonly isSlow?: true;
  readonly candidate?: CandidateNumber;
  /** The required checks that failed. */
  readonly checks?: readonly string[];
  /** The explanation of the forge, as a sentence. */
  readonly detail?: string;
  readonly onTopOf?: readonly PrNumber[];
  readonly timeout?: Timeout;
  readonly denied?: readonly DeniedWaiver[];
  readonly cause?: Cause;
  /** Names of tests that failed, a few. */
  readonly tests?: readonly string[];
  /** Names of the tests that a probe answers, a few. */
  readonly asked?: readonly string[];
  /** A probe contradicted a run of all tests. */
  readonly isContradicted?: true;
  /** The run of its own in which it failed again, from 1. */
  readonly ownRun?: number;
  /** The failures that it left for, after runs of its own. */
  readonly alone?: Alone;
  /** The waivers that it passed by. */
  readonly waived?: readonly ExcusedCheck[];
  /** The tests whose failures made a run be repeated, and how many runs there may be in all. */
  readonly repeated?: Repetition;
  /** The files that conflict, as far as the forge names them. */
  readonly files?: readonly string[];
  /** The commit that it landed as, if the record of the landing is lost. */
  readonly landedAs?: Sha;
  /** The actor who asked to remove it while it landed. */
  readonly tooLateFor?: string;
}

export interface Repetition {
  readonly tests: readonly string[];
  /** 2 for the first repetition. */
  readonly run: number;
  readonly of: number;
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
    stateChange: undefined,
    modeSwitch: undefined,
    submissionsBeforeParallel: 0,
    entries: emptyIntMap(),
    submissions: 0,
    admissions: 0,
    head: undefined,
    pushedHead: 0,
    heads: 0,
    epochs: 0,
    landings: [],
    candidates: emptyIntMap(),
    candidatesEver: 0,
    passes: emptyIntMap(),
    lastPasses: [],
    reportDelays: [],
    bisections: [],
    bisectionsEver: 0,
    learned: NOTHING_LEARNED,
    probing: NOTHING_PROBED,
    landing: undefined,
    suspicions: [],
    hold: undefined,
    frozen: undefined,
    newFlakes: [],
    removals: [],
    returning: [],
    parked: undefined,
    totals: NO_TOTALS,
    lanes: undefined,
    meetings: [],
    index: EMPTY_INDEX,
  };
}

export function findEntry(queue: Queue, prNumber: PrNumber): Entry | undefined {
  return getIn(queue.entries, prNumber);
}

/** The live entry of a member. A later stay of the same pull request does not count. */
export function findLiveMember(queue: Queue, member: Member): Entry | undefined {
  const entry = getIn(queue.entries, member.prNumber);
  return entry?.submission === member.submission ? entry : undefined;
}

export function findCandidate(queue: Queue, number: CandidateNumber): Candidate | undefined {
  return getIn(queue.candidates, number);
}

/** The candidate that tests it in the line or as a repair, or lands it directly. */
export function ownRunOf(queue: Queue, { place }: Pick<Entry, 'place'>): Candidate | undefined {
  return place.kind === 'line' ? findCandidate(queue, place.candidate) : undefined;
}

export function toMember(entry: Entry): Member {
  return { prNumber: entry.prNumber, headSha: entry.pr.headSha, submission: entry.submission };
}

export function isLive(state: EntryState): boolean {
  return (LIVE_STATES as readonly EntryState[]).includes(state);
}

/** In the line: under test, passed, held or waiting for a slot. A NOT_READY entry is not admitted yet. */
export function isAdmitted(entry: Entry): boolean {
  return entry.admission !== undefined && isLive(entry.state);
}

/** It waits for its turn to be tested. */
export function isPending({ admission, place }: Entry): boolean {
  return admission !== undefined && place.kind === 'waiting';
}

/** A paused or parked queue starts and lands nothing. */
export function mayWork(queue: Queue): boolean {
  return queue.state !== 'PAUSED' && queue.parked === undefined && queue.head !== undefined;
}

/** A holding queue tests only what may end the hold: the head by itself, and a possible repair. */
export function mayTest(queue: Queue, { purpose }: Candidate): boolean {
  return mayStartTests(queue) || (mayWork(queue) && (purpose.kind === 'head' || purpose.kind === 'repair'));
}

export function mayStartTests(queue: Queue): boolean {
  return mayWork(queue) && queue.hold === undefined;
}

/** Only parallel mode may compose a tested tree with what landed beside it, and only if the setting allows it. */
export function mustBeExact({ settings }: Queue): boolean {
  return settings.exactLanding || settings.mode === 'SINGLE';
}

/** A landing that has begun may already have merged the entry. Only its answer decides. */
export function isLanding(queue: Queue, entry: Entry): boolean {
  const candidate = queue.landing?.isBegun ? findCandidate(queue, queue.landing.candidate) : undefined;
  if (candidate === undefined) return false;
  const isIt = ({ submission }: Member) => submission === entry.submission;
  return candidate.members.some(isIt) || candidate.beneath.some(isIt);
}
