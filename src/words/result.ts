import { type Blame, blameOf, type Cause, causeOfEnd } from '../engine/model/blame.ts';
import type { BlockReason } from '../engine/model/pull-request.ts';
import { type Entry, isAdmitted, isLive, type Queue } from '../engine/model/queue.ts';
import type { ReasonCode } from '../engine/model/reason.ts';
import { isDoubtful } from './ended.ts';
import type { Beyond, Explanation } from './explanation.ts';
import { isHopeful, isOnlyShadowed } from './tests.ts';

export const OUTCOMES = ['LANDED', 'REMOVED', 'CANCELLED', 'WAITING'] as const;
export const RETRIES = ['NOW', 'CHANGED', 'AFTER'] as const;
export const AWAITED = ['TARGET', 'PULL_REQUEST', 'TARGETS', 'REVIEW', 'ADMINISTRATOR', 'CI', 'PERSON'] as const;

/** The end of a stay in the queue, or what keeps it from one, as programs decide on it. */
export interface Outcome {
  readonly outcome: (typeof OUTCOMES)[number];
  readonly cause?: Cause | undefined;
  readonly blame?: Blame | undefined;
  /** Absent: it landed, or the queue goes on with it by itself. */
  readonly mayRetry?: Retry | undefined;
}

export interface Retry {
  readonly when: (typeof RETRIES)[number];
  readonly after?: (typeof AWAITED)[number];
  readonly prNumber?: number;
  readonly inSeconds?: number;
}

const NOW: Retry = { when: 'NOW' };
const CHANGED: Retry = { when: 'CHANGED' };
const SOON: Retry = { when: 'NOW', inSeconds: 60 };
const after = (what: Retry['after']): Retry => ({ when: 'AFTER', ...(what !== undefined && { after: what }) });
const CI_WORKS: Retry = { when: 'AFTER', after: 'CI', inSeconds: 300 };

// SPEC E90
export function outcomeOf(queue: Queue, entry: Entry, explanation: Explanation, beyond: Beyond = {}): Outcome {
  const { state, because, lost } = entry;
  if (state === 'TESTING') return { outcome: 'WAITING' };
  if (isLive(state))
    return { outcome: 'WAITING', ...(isAdmitted(entry) ? waiting(queue) : unready(queue, entry, explanation)) };
  if (state === 'MERGED')
    return lost === undefined
      ? { outcome: 'LANDED' }
      : { outcome: 'REMOVED', mayRetry: queue.hasPages ? CHANGED : NOW };
  const blame = blameOf(state, because);
  const mayRetry = BY_REASON[because.reason] ?? retryOf(queue, entry, blame, beyond);
  return { outcome: state === 'CANCELLED' ? 'CANCELLED' : 'REMOVED', cause: causeOfEnd(because), blame, mayRetry };
}

const BY_REASON: { readonly [Reason in ReasonCode]?: Retry } = {
  PR_PUSHED_TO: NOW,
  PR_UPDATED_AT_MERGE_TIME: NOW,
  GITHUB_API_BRANCH_PROTECTION_UNMET: after('REVIEW'),
  GITHUB_API_MERGE_ALREADY_IN_PROGRESS: SOON,
  GITHUB_API_RATE_LIMIT_EXCEEDED: SOON,
  GITHUB_API_REPEATED_SERVER_ERRORS: SOON,
};

function retryOf(queue: Queue, entry: Entry, blame: Blame | undefined, { failed = [], last }: Beyond): Retry {
  if (isDoubtful(queue, entry)) return after('TARGET');
  if (last !== undefined && isOnlyShadowed(last)) return after('ADMINISTRATOR');
  const isWaiting = entry.because.reason === 'NOT_READY_TIMEOUT_EXPIRED';
  if (isWaiting && entry.pr.blockReasons.includes('reviewRequired')) return after('REVIEW');
  switch (blame) {
    case 'PERSON':
      return after('PERSON');
    case 'CI':
      return CI_WORKS;
    case 'ADMINISTRATOR':
      return after('ADMINISTRATOR');
    case 'UNDECIDED':
      return entry.because.alone?.flaky?.length === 0 ? CHANGED : after('ADMINISTRATOR');
    default:
      return isHopeful(failed) && (entry.because.alone === undefined || areQuarantined(failed)) ? NOW : CHANGED;
  }
}

/** A failure that runs of its own confirmed counts no more, once its tests are quarantined. */
function areQuarantined(failed: NonNullable<Beyond['failed']>): boolean {
  return failed.every(({ tests }) => tests.every(({ kind }) => kind === 'quarantined'));
}

const BY_ADMINISTRATOR: Partial<Outcome> = { blame: 'ADMINISTRATOR', mayRetry: after('ADMINISTRATOR') };

function waiting({ hold, parked, state }: Queue): Partial<Outcome> {
  if (parked !== undefined || state === 'PAUSED') return BY_ADMINISTRATOR;
  if (hold === undefined) return {};
  if (hold.cause.kind === 'configuration') return { cause: 'CONFIGURATION', ...BY_ADMINISTRATOR };
  return hold.cause.isOfMachine
    ? { cause: 'INFRASTRUCTURE', blame: 'CI', mayRetry: CI_WORKS }
    : { mayRetry: after('TARGET') };
}

/** Their author must act. */
const OF_AUTHOR: ReadonlySet<BlockReason> = new Set([
  'conflict',
  'behind',
  'draft',
  'closed',
  'failingCheck',
  'changesRequested',
  'stackNeedsRebase',
]);

function unready(queue: Queue, { pr, lanesAsked }: Entry, { reasons }: Explanation): Partial<Outcome> {
  const find = (code: string) => reasons.find((reason) => reason.code === code);
  const isBlocked = pr.blockReasons.some((block) => OF_AUTHOR.has(block));
  const isConflict = pr.blockReasons.includes('conflict');
  if (isBlocked || find('BASE_BRANCH_MISMATCH') !== undefined)
    return { blame: 'AUTHOR', mayRetry: CHANGED, ...(isConflict && { cause: 'CONFLICT' }) };
  const below = find('BELOW_MISSING') ?? find('WAITS_ELSEWHERE');
  if (below !== undefined)
    return {
      mayRetry: { ...after('PULL_REQUEST'), ...(below.prNumber !== undefined && { prNumber: below.prNumber }) },
    };
  if (pr.blockReasons.includes('reviewRequired')) return { mayRetry: after('REVIEW') };
  if (pr.blockReasons.includes('other')) return { mayRetry: after('PERSON') };
  const isComputed = lanesAsked?.sha === pr.headSha && lanesAsked.isAnswered !== true;
  if (find('IMPACTED_TARGETS_MISSING') !== undefined && !isComputed)
    return { blame: 'AUTHOR', mayRetry: after('TARGETS') };
  return queue.state === 'DRAINING' ? BY_ADMINISTRATOR : waiting(queue);
}
