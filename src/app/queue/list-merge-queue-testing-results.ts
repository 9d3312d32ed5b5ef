import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as testingContract from '../../contract/testing.ts';
import { ENDED_STATES } from '../../engine/model/queue.ts';
import { formatInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { TransitionRow } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue } from '../core/find-queue.ts';
import { decodeTransition } from '../core/queue-codec.ts';
import { type Answer, isRefusal, refuseField } from '../core/refusal.ts';

const MAX_WINDOW_MS = 45 * 24 * 3_600_000;

type TestingResults = ReplyOf<typeof testingContract.listMergeQueueTestingResults>;
type TestingResultView = TestingResults['testingResults'][number];

export async function listMergeQueueTestingResults(
  app: App,
  caller: Caller,
  input: RequestOf<typeof testingContract.listMergeQueueTestingResults>,
): Answer<TestingResults> {
  const until = input.until ?? app.clock.now();
  const message = input.since > until ? 'must not be later than until' : 'must be at most 45 days before until';
  if (input.since > until || until - input.since > MAX_WINDOW_MS) {
    return refuseField('/since', message);
  }
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { rows, total } = await app.store.queueRecords.listDepartures({
    queueId: found.id,
    state: 'TESTING',
    from: input.since,
    until,
    offset: input.offset ?? 0,
    limit: input.take ?? 50,
  });
  const lives = await loadLives(app, rows);
  return { testingResults: rows.map((row) => viewResult(row, lives.get(row.entryId) ?? [])), totalItems: total };
}

/** Loads whole timelines, oldest first: an attempt is classified by the transitions before and after it. */
async function loadLives(app: App, rows: readonly TransitionRow[]) {
  const ids = [...new Set(rows.map(({ entryId }) => entryId))];
  const lives = await Promise.all(
    ids.map(async (id) => [id, (await app.store.queueRecords.listTransitions(id)).toReversed()] as const),
  );
  return new Map(lives);
}

function viewResult(row: TransitionRow, life: readonly TransitionRow[]): TestingResultView {
  const index = life.findIndex(({ version, ordinal }) => version === row.version && ordinal === row.ordinal);
  const began = life.slice(0, Math.max(index, 0)).findLast(({ to }) => to === 'TESTING');
  const after = life.slice(index + 1);
  const testRunId = decodeTransition(began ?? row).testRunId;
  const cycleConclusion = [row, ...after].find(({ to }) => isEnd(to))?.to;
  const bisection = bisectionOf(row, after);
  return {
    prNumber: row.prNumber,
    endedAt: formatInstant(row.at),
    testingDurationMs: Math.round((row.durationMs ?? 0) / 1000) * 1000,
    outcome: outcomeOf(row),
    ...(cycleConclusion !== undefined && isEnd(cycleConclusion) ? { cycleConclusion } : {}),
    ...present({ testRunId, bisection }),
  };
}

function isEnd(state: string): state is (typeof ENDED_STATES)[number] {
  return (ENDED_STATES as readonly string[]).includes(state);
}

function bisectionOf(row: TransitionRow, after: readonly TransitionRow[]): TestingResultView['bisection'] {
  if (row.isBisection) return 'IN_BISECTION';
  const next = after.findIndex(({ to }) => to === 'TESTING');
  const consequences = next === -1 ? after : after.slice(0, next);
  const isSplit = consequences.some((each) => decodeTransition(each).reason === 'BISECTION_REQUIRED');
  return isSplit ? 'ENTERED_BISECTION' : undefined;
}

function outcomeOf(row: TransitionRow): TestingResultView['outcome'] {
  switch (row.to) {
    case 'TESTS_PASSED':
      return 'PASSED';
    case 'PENDING_FAILURE':
    case 'FAILED':
      return 'FAILED';
    case 'PENDING':
      // The entry returns from a bisection.
      return decodeTransition(row).reason === 'BISECTION_TEST_RUN_PASSED' ? 'PASSED' : 'INTERRUPTED';
    case 'MERGED':
      return 'INTERRUPTED';
    default:
      return 'CANCELLED';
  }
}
