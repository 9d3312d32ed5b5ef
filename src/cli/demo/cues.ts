import type { EntryRecord } from '../../contract/entry.ts';
import { type DemoPullRequest, STORY } from './story.ts';

/** What the people of the story do next, given how their pull requests stand. Nothing depends on the clock. */
export type Cue =
  | { readonly kind: 'submit'; readonly pullRequest: DemoPullRequest }
  | { readonly kind: 'submit_again'; readonly pullRequest: DemoPullRequest };

const BEFORE_TESTS: ReadonlySet<string | undefined> = new Set([undefined, 'NOT_READY', 'PENDING']);
const ENDED: ReadonlySet<string | undefined> = new Set(['MERGED', 'FAILED', 'CANCELLED']);

export function cuesOf(records: readonly EntryRecord[]): readonly Cue[] {
  const hasBegun = records.some(({ state }) => !BEFORE_TESTS.has(state));
  return STORY.flatMap((pullRequest): Cue[] => {
    const record = findRecord(records, pullRequest);
    if (record === undefined) return hasBegun && pullRequest.comesLater ? [{ kind: 'submit', pullRequest }] : [];
    const isRetried = pullRequest.ending.kind === 'lands_at_second_try' && timesFailed(record) === 1;
    return record.state === 'FAILED' && isRetried ? [{ kind: 'submit_again', pullRequest }] : [];
  });
}

/** Everybody has landed or left, and nobody is going to do anything more. */
export function isOver(records: readonly EntryRecord[]): boolean {
  const areAllEnded = STORY.every((pullRequest) => ENDED.has(findRecord(records, pullRequest)?.state));
  return areAllEnded && cuesOf(records).length === 0;
}

export function findRecord(records: readonly EntryRecord[], { number }: DemoPullRequest): EntryRecord | undefined {
  return records.find(({ prNumber }) => prNumber === number);
}

export function timesFailed({ timeline = [] }: EntryRecord): number {
  return timeline.filter(({ state }) => state === 'FAILED').length;
}
