import type { Static } from 'typebox';
import type { EntryRecord, ListEntry } from '../../contract/entry.ts';
import type { getMergeQueueTestingDetails } from '../../contract/testing.ts';
import type { RepoRef } from '../core/arguments.ts';
import { clean } from '../core/terminal.ts';

export type Entry = Static<typeof ListEntry>;
export type TestRun = Extract<
  Static<typeof getMergeQueueTestingDetails.reply>,
  { testRuns: unknown }
>['testRuns'][number];

export interface WatchedQueue {
  readonly branch: string;
  readonly state: string;
  readonly mode: string;
  readonly concurrency: number;
  /** Why the queue stopped itself, if it did. */
  readonly parked?: { readonly reason: string } | undefined;
  /** The latest, if there was one. */
  readonly held?: { readonly text: string } | undefined;
  readonly frozen?: { readonly text: string } | undefined;
  /** The statistics of an ADAPTIVE queue, in words. */
  readonly learned?: { readonly text: string } | undefined;
  /** When a pull request lands that is submitted now. */
  readonly forecast?: string | undefined;
  readonly alarm?: { readonly at: string; readonly text: string } | undefined;
  readonly enqueuedPullRequests: readonly Entry[];
}

/** A queue at one moment, as far as the view shows it. */
export interface Snapshot {
  readonly repo: RepoRef;
  readonly queue: WatchedQueue;
  /** Under test, in queue order. */
  readonly runs: readonly TestRun[];
  /** Position and reason of waiting entries, by pull request number; capped if there are many. */
  readonly waits: ReadonlyMap<number, Wait>;
  /** Entries that left, the latest first. */
  readonly left: readonly Left[];
}

export interface Wait {
  readonly position: number | undefined;
  readonly why: string;
}

export interface Left {
  readonly prNumber: number;
  readonly title: string;
  readonly state: string;
  readonly at: string;
  readonly why: string;
  /** Its commit on the target branch, if it landed. */
  readonly sha: string | undefined;
}

/** One change of state, from the timeline. */
export interface Change {
  readonly at: string;
  readonly prNumber: number;
  /** Undefined if it was not in the queue before. */
  readonly from: string | undefined;
  readonly to: string;
  readonly reason: string;
  readonly text: string;
  readonly testRunId: string | undefined;
}

export const ENDED: ReadonlySet<string | undefined> = new Set(['MERGED', 'FAILED', 'CANCELLED']);

export function isEmpty({ queue }: Snapshot): boolean {
  return queue.enqueuedPullRequests.length === 0;
}

/** True if the state may change at any moment without an act of a person. */
export function isMoving({ queue, runs }: Snapshot): boolean {
  if (runs.length > 0) return true;
  return queue.state !== 'PAUSED' && queue.enqueuedPullRequests.some(({ state }) => state !== 'NOT_READY');
}

/** Changes of a pull request since its timeline had `known` lines, oldest first. */
export function changesSince(record: EntryRecord, known: number): readonly Change[] {
  const story = (record.timeline ?? []).toReversed();
  return story.slice(known).map(({ at, state, reason, text, testRunId }, index) => ({
    at,
    prNumber: record.prNumber,
    from: story[known + index - 1]?.state,
    to: state,
    reason,
    text,
    testRunId,
  }));
}

/** The number of timeline lines from earlier stays in the queue. */
export function startOfStay({ timeline = [] }: EntryRecord): number {
  const story = timeline.toReversed();
  const last = story.findLastIndex(({ state }, index) => ENDED.has(state) && index < story.length - 1);
  return last + 1;
}

/** Sorts changes of several pull requests by time; the order within one instant stays. */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  return changes.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

export function formatChange({ at, prNumber, from, to, text }: Change): string {
  return `${at} #${prNumber} ${from ?? 'new'} -> ${to}: ${clean(text)}`;
}
