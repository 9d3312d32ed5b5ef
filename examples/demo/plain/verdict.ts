import type { EntryRecord } from '../../../src/contract/entry.ts';
import { type DemoPullRequest, type Ending, STORY } from '../story.ts';

/** Differences between the queue's results and the story, as sentences. None: the demo has shown its promises. */
export function findSurprises(records: readonly EntryRecord[]): readonly string[] {
  return STORY.flatMap((pullRequest) => {
    const record = findRecord(records, pullRequest);
    if (isAsTold(pullRequest, record)) return [];
    return [`#${pullRequest.number} should have ${describe(pullRequest.ending)}, but ${describeRecord(record)}.`];
  });
}

function isAsTold({ ending }: DemoPullRequest, record: EntryRecord | undefined): boolean {
  if (record === undefined) return false;
  const { state, timeline = [] } = record;
  switch (ending.kind) {
    case 'lands':
      return state === 'MERGED' && timesFailed(record) === 0;
    case 'removed':
      return state === 'FAILED' && timeline[0]?.reason === ending.reason;
    case 'lands_when_repeated': {
      const hasFailed = timeline.some(
        (step) => step.state === 'PENDING_FAILURE' && step.checks?.join() === ending.check,
      );
      return state === 'MERGED' && hasFailed && timesFailed(record) === 0;
    }
  }
}

function describe(ending: Ending): string {
  switch (ending.kind) {
    case 'lands':
      return 'landed';
    case 'removed':
      return `been removed with ${ending.reason}`;
    case 'lands_when_repeated':
      return `failed ${ending.check} once and landed when that was repeated`;
  }
}

function describeRecord(record: EntryRecord | undefined): string {
  if (record === undefined) return 'was never submitted';
  const { state = 'not submitted', timeline = [] } = record;
  const steps = timeline.map(({ state: to, reason }) => `${to} (${reason})`).toReversed();
  return `is ${state}: ${steps.join(', ')}`;
}

export function findRecord(records: readonly EntryRecord[], { number }: DemoPullRequest): EntryRecord | undefined {
  return records.find(({ prNumber }) => prNumber === number);
}

function timesFailed({ timeline = [] }: EntryRecord): number {
  return timeline.filter(({ state }) => state === 'FAILED').length;
}
