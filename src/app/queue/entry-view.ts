import type { EntryRecord, ListEntry } from '../../contract/entry.ts';
import type { View } from '../../contract/schema.ts';
import { blameOf, causeOfEnd } from '../../engine/model/blame.ts';
import type { CandidateNumber, ExcusedCheck, Landed } from '../../engine/model/candidate.ts';
import type { Excuse } from '../../engine/model/judgement.ts';
import type { Below } from '../../engine/model/pull-request.ts';
import { type Entry, type EntryState, isLive, type Queue } from '../../engine/model/queue.ts';
import { readinessOf } from '../../engine/model/readiness.ts';
import { formatInstant, type Instant, optionalInstant } from '../../lib/clock.ts';
import { memo } from '../../lib/memo.ts';
import { present } from '../../lib/present.ts';
import type { QueueId, TransitionRow } from '../../storage/queues.ts';
import { explain } from '../../words/explain.ts';
import type { Beyond, ExplanationReason } from '../../words/explanation.ts';
import { targetsText } from '../../words/lanes.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeTransition } from '../core/queue-codec.ts';

export type ListEntryView = View<typeof ListEntry>;
export type EntryView = View<typeof EntryRecord>;
export type ExplanationView = NonNullable<EntryView['explanation']>;
export type ExplanationReasonView = ExplanationView['reasons'][number];
export type LandedView = NonNullable<EntryView['landed']>;
type ImpactedTargetsView = NonNullable<EntryView['impactedTargets']>;
export type TimelineView = NonNullable<EntryView['timeline']>[number];

export function viewListEntry(entry: Entry): ListEntryView {
  const { priority, pr } = entry;
  return {
    id: entry.id,
    state: entry.state,
    stateChangedAt: formatInstant(entry.stateChangedAt),
    priorityValue: priority.value,
    priorityName: priority.name,
    ...(priority.isDefault ? { usedDefaultPriorityName: priority.name } : {}),
    skipTheLine: priority.value === 0,
    noBatch: entry.noBatch,
    prNumber: entry.prNumber,
    prTitle: pr.title,
    prSha: pr.headSha,
    prBaseBranch: pr.baseBranch,
    prAuthor: pr.author,
  };
}

/** Entries are immutable; beside the entry, the view depends only on these two facts of the queue. */
const viewOf = memo(makeView, (_entry, _queueId, { settings, submissionsBeforeParallel }) => [
  settings,
  submissionsBeforeParallel,
]);

export function viewEntry(queueId: QueueId, queue: Queue, entry: Entry): EntryView {
  return viewOf(entry, queueId, queue);
}

function makeView(entry: Entry, queueId: QueueId, queue: Queue): EntryView {
  const { targets, landed, lost, submitter } = entry;
  const { mergeability, waitsElsewhere: _, ...readiness } = readinessOf(queue, entry);
  const blame = blameOf(entry.state, entry.because);
  return {
    ...viewListEntry(entry),
    readiness: { ...readiness, gitHubMergeability: mergeability },
    forceEnqueued: false,
    isCurrentlySubmittedToQueue: isLive(entry.state),
    verifiedByTestRun: findVerifyingRun(queueId, entry),
    ...present({
      impactedTargets: targets && viewTargets(targets),
      landed: landed && viewLanded(queueId, landed),
      lostAt: optionalInstant(lost?.at),
      cause: blame && causeOfEnd(entry.because),
      blame,
      dependsOn: entry.pr.below?.map(viewBelow),
      waitsFor: entry.pr.waitsFor,
      submittedBy: submitter && { name: submitter.name, isAgent: submitter.isAgent === true },
    }),
  };
}

function viewBelow({ number, by, isMerged }: Below): NonNullable<EntryView['dependsOn']>[number] {
  return { prNumber: number, by: BY[by], isMerged: isMerged === true };
}

const BY = { base: 'BASE', stated: 'STATED', ancestor: 'ANCESTOR' } as const;

/** Only an entry that the queue landed out of a candidate was verified by one. */
function findVerifyingRun(queueId: QueueId, { landed, because }: Entry): string | null {
  if (landed === undefined || landed.kind === 'UNPROVEN' || because.reason !== 'MERGE_GRAPH_MERGE') return null;
  return candidateIdOf(queueId, landed.candidate);
}

function viewLanded(queueId: QueueId, { candidate, at, waived = [], excused = [], ...landed }: Landed): LandedView {
  return {
    ...landed,
    testRunId: candidateIdOf(queueId, candidate),
    excused: [
      ...waived.map((check) => viewExcused(queueId, check, 'FAILURE')),
      ...excused.map((check) => viewExcused(queueId, check, 'SUCCESS')),
    ],
    waived: waived.map(({ check, tests }) => ({ check, tests: tests.map(({ id, name }) => ({ id, name })) })),
    at: formatInstant(at),
  };
}

/** Before version 0.3 a waiver did not say who excused a test, and only quarantined ones were excused. */
// SPEC V57
function viewExcused(
  queueId: QueueId,
  { check, tests }: ExcusedCheck,
  conclusion: 'SUCCESS' | 'FAILURE',
): LandedView['excused'][number] {
  return {
    check,
    conclusion,
    tests: tests.map(
      ({ id, name, suites, excusedBy: by = UNTOLD[conclusion] as Excuse | { readonly kind: 'none' } }) => ({
        ...{ id, name, excusedBy: EXCUSES[by.kind] },
        ...present({ suites, person: by.kind === 'person' ? by.name : undefined }),
        ...(by.kind === 'run' && { testRunId: candidateIdOf(queueId, by.candidate as CandidateNumber) }),
      }),
    ),
  };
}

/** A report that came after the landing may hold a failure that nothing excuses. */
const UNTOLD = { FAILURE: { kind: 'person' }, SUCCESS: { kind: 'none' } } as const;

const EXCUSES = { person: 'PERSON', run: 'TEST_RUN', check: 'CHECK', none: 'NONE' } as const;

export function viewTargets(targets: NonNullable<Entry['targets']>): ImpactedTargetsView {
  const impactsAll = targets.kind === 'all';
  return { impactsAll, count: impactsAll ? null : targets.count, note: targetsText(targets) };
}

export function viewTimeline(rows: readonly TransitionRow[]): TimelineView[] {
  return rows.map((row) => ({ at: formatInstant(row.at), state: row.to as EntryState, ...decodeTransition(row) }));
}

/** Failing effects come before the reasons to wait. */
export function viewExplanation(
  { id, queue }: { readonly id: QueueId; readonly queue: Queue },
  entry: Entry,
  of: {
    readonly now: Instant;
    readonly trouble: readonly ExplanationReason[];
    readonly beyond: Beyond;
  },
): ExplanationView {
  const { now, trouble, beyond } = of;
  const explanation = explain(queue, entry, now, beyond);
  const [first] = trouble;
  return {
    ...explanation,
    summary: first === undefined ? explanation.summary : `${explanation.summary} ${first.text}`,
    reasons: [...trouble, ...explanation.reasons].map((reason) => viewReason(id, reason)),
  };
}

function viewReason(queueId: QueueId, { testRun, since, reasons, ...rest }: ExplanationReason): ExplanationReasonView {
  return {
    ...rest,
    ...(testRun === undefined ? {} : { testRunId: candidateIdOf(queueId, testRun) }),
    ...present({ since: optionalInstant(since) }),
    reasons: reasons.map((reason) => viewReason(queueId, reason)),
  };
}
