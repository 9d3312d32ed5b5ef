import type { EntryRecord } from '../../contract/entry.ts';
import type { Context } from '../core/context.ts';
import type { AnswerOf } from '../core/operations.ts';
import type { Place } from '../core/place.ts';
import { readAgain } from '../core/poll.ts';

export type WatchedQueue = AnswerOf<'pollQueue'>;
export type Entry = WatchedQueue['enqueuedPullRequests'][number];
export type TestRun = Extract<AnswerOf<'getMergeQueueTestingDetails'>, { testRuns: unknown }>['testRuns'][number];

/** A queue at one moment, as far as the picture shows it. */
export interface Snapshot {
  readonly place: Place;
  readonly queue: WatchedQueue;
  /** Under test, in queue order. */
  readonly runs: readonly TestRun[];
  /** Entries that left, the latest first. */
  readonly left: readonly Entry[];
  /** Entries that wait or left, with explanations, by pull request number; capped if there are many. */
  readonly records: ReadonlyMap<number, EntryRecord>;
}

/** Answers that are still the same are not sent again. */
export interface Reading {
  readonly snapshot: Snapshot;
  readonly ended: AnswerOf<'listPullRequests'>;
  readonly since: string;
}

const MAX_LEFT = 6;
const MAX_WAITS = 40;
const LOOK_BACK_MS = 24 * 3_600_000;

export function readQueue(
  context: Context,
  asked: Place & { readonly includeForecast?: true },
  last: WatchedQueue | undefined,
): Promise<WatchedQueue> {
  return readAgain((body: typeof asked) => context.call('pollQueue', body), asked, last);
}

export async function readSnapshot(context: Context, place: Place, last?: Reading): Promise<Reading> {
  const queue = await readQueue(context, { ...place, includeForecast: true }, last?.snapshot.queue);
  const details = await context.call('getMergeQueueTestingDetails', place);
  const runs = 'testRuns' in details ? details.testRuns : [];
  const since = last?.since ?? new Date(Date.now() - LOOK_BACK_MS).toISOString();
  const asked = { ...place, since, take: 100 };
  const ended = await readAgain((body: typeof asked) => context.call('listPullRequests', body), asked, last?.ended);
  const live = queue.enqueuedPullRequests;
  const isLive = new Set(live.map(({ prNumber }) => prNumber));
  const left = ended.pullRequests.filter(({ prNumber }) => !isLive.has(prNumber)).toSorted(byInstant);
  const shown = left.slice(0, MAX_LEFT);
  // Of entries under test, the checks show the reason.
  const tested = testedIn(runs);
  const waiting = live.filter(({ prNumber }) => !tested.has(prNumber)).slice(0, MAX_WAITS);
  const prs = [...waiting, ...shown].map(({ prNumber }) => ({ number: prNumber }));
  const { pullRequests } =
    prs.length === 0
      ? { pullRequests: [] }
      : await context.call('getSubmittedPullRequests', { ...place, prs, includeExplanation: true });
  const records = new Map(pullRequests.map((record) => [record.prNumber, record]));
  return { snapshot: { place, queue, runs, left: shown, records }, ended, since };
}

export function testedIn(runs: readonly TestRun[]): ReadonlySet<number> {
  return new Set(runs.flatMap((run) => run.testedPullRequests.map(({ prNumber }) => prNumber)));
}

function byInstant(a: Entry, b: Entry): number {
  return Date.parse(b.stateChangedAt) - Date.parse(a.stateChangedAt);
}
