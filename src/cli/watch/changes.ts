import type { EntryRecord } from '../../contract/entry.ts';
import { clean } from '../core/terminal.ts';
import { type Change, ENDED } from './snapshot.ts';

/** What happened to a pull request since its timeline had `known` lines, oldest first. */
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

/** How many lines of the timeline are of earlier stays in the queue. */
export function startOfStay({ timeline = [] }: EntryRecord): number {
  const story = timeline.toReversed();
  const last = story.findLastIndex(({ state }, index) => ENDED.has(state) && index < story.length - 1);
  return last + 1;
}

/** Those of several pull requests in the order of time; what happened at one instant stays as it is. */
export function inOrder(changes: readonly Change[]): readonly Change[] {
  return changes.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

export function formatChange({ at, prNumber, from, to, text }: Change): string {
  return `${at} #${prNumber} ${from ?? 'new'} -> ${to}: ${clean(text)}`;
}
