import type { BatchFacts, StoredFailure, TestMemory } from '../test-ingest.ts';
import type { TestEventRow, TestRow } from '../tests.ts';
import { rowsOf } from './columns.ts';
import type { Schema } from './schema.ts';
import { BATCH_FACTS, TEST, TEST_EVENT, TEST_MEMORY } from './test-tables.ts';

/** Rows about tests, of the database to rows of the ports and back. */

const tests = rowsOf(TEST);
export const toTest = tests.to;

export function fromTest(test: TestRow): Schema['tests'] {
  return { ...tests.from(test), search_text: searchTextOf(test) };
}

function searchTextOf({ name, classname, file, parent }: TestRow): string {
  return [...new Set([name, classname, file, parent])].filter(Boolean).join('\n').toLowerCase();
}

/** Finds the text in `search_text` by `like … escape '!'`. */
export function patternOf(text: string): string {
  return `%${text.toLowerCase().replace(/[!%_]/g, '!$&')}%`;
}

export function kindsOf(status: TestRow['status'], quarantinedAt: number | null): Schema['test_states']['kind'][] {
  return quarantinedAt === null ? [status] : [status, 'QUARANTINED'];
}

const memories = rowsOf(TEST_MEMORY);
export const toMemory = memories.to;

export function fromMemory(repositoryId: string, memory: TestMemory, days: string): Schema['test_memories'] {
  return { repository_id: repositoryId, ...memories.from(memory), days };
}

const facts = rowsOf(BATCH_FACTS);
export const toFacts = facts.to;

type BatchPlace = Omit<Schema['test_batches'], keyof typeof BATCH_FACTS | 'is_proven'>;

export function fromBatch(place: BatchPlace, batch: BatchFacts): Schema['test_batches'] {
  return { ...place, ...facts.from(batch), is_proven: false };
}

export type RowPlace = Pick<Schema['test_events'], 'repository_id' | 'seq' | 'ordinal'>;

export function fromFailure(
  place: RowPlace & { readonly pr_number: number | null },
  { testNo, startedAt, isBlocking, isQuarantined, group, summary }: StoredFailure,
): Schema['test_failures'] {
  return {
    ...place,
    test_no: testNo,
    started_at: startedAt,
    is_blocking: isBlocking,
    is_quarantined: isQuarantined,
    failure_group: group,
    summary,
  };
}

export function fromFailureText(
  place: RowPlace,
  { testNo, startedAt, text, path }: StoredFailure,
): Schema['test_failure_texts'] {
  return { ...place, test_no: testNo, started_at: startedAt, text, suite_path: path };
}

const events = rowsOf(TEST_EVENT);
export const toTestEvent = events.to;

export function fromTestEvent(place: RowPlace, event: TestEventRow): Schema['test_events'] {
  return { ...place, ...events.from(event) };
}
