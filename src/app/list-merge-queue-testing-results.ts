import { formatInstant, type Instant } from '../lib/clock.ts';
import type { TransitionRow } from '../storage/queues.ts';
import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findQueue, type QueueRef } from './find-queue.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

const MAX_WINDOW_MS = 45 * 24 * 3_600_000;

export interface ListTestingResults extends QueueRef {
  readonly since: Instant;
  readonly until: Instant | undefined;
  readonly offset: number;
  readonly take: number;
}

export interface TestingResultView {
  readonly prNumber: number;
  readonly endedAt: string;
  readonly testingDurationMs: number;
  readonly outcome: 'PASSED' | 'FAILED' | 'INTERRUPTED' | 'CANCELLED';
  readonly bisection?: 'IN_BISECTION';
}

export interface TestingResultPage {
  readonly testingResults: readonly TestingResultView[];
  readonly totalItems: number;
}

export async function listMergeQueueTestingResults(
  app: App,
  caller: Caller,
  input: ListTestingResults,
): Promise<TestingResultPage | Refusal> {
  const until = input.until ?? app.clock.now();
  const message = input.since > until ? 'must not be later than until' : 'must be at most 45 days before until';
  if (input.since > until || until - input.since > MAX_WINDOW_MS) {
    return refuse('VALIDATION_FAILED', `since ${message}.`, [{ path: '/since', message }]);
  }
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { rows, total } = await app.store.queues.listDepartures({
    queueId: found.id,
    state: 'TESTING',
    from: input.since,
    until,
    offset: input.offset,
    limit: input.take,
  });
  return { testingResults: rows.map(viewResult), totalItems: total };
}

function viewResult(row: TransitionRow): TestingResultView {
  return {
    prNumber: row.prNumber,
    endedAt: formatInstant(row.at),
    testingDurationMs: Math.round((row.durationMs ?? 0) / 1000) * 1000,
    outcome: outcomeOf(row.to),
    ...(row.isBisection ? { bisection: 'IN_BISECTION' as const } : {}),
  };
}

function outcomeOf(to: string): TestingResultView['outcome'] {
  switch (to) {
    case 'TESTS_PASSED':
    case 'MERGED':
      return 'PASSED';
    case 'PENDING_FAILURE':
    case 'FAILED':
      return 'FAILED';
    case 'PENDING':
      return 'INTERRUPTED';
    default:
      return 'CANCELLED';
  }
}
