import { expire } from '../flaky/evaluate.ts';
import type { Instant } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import { eventRowOf, quarantineSettingsOf } from '../storage/test-codec.ts';
import type { TestMemory } from '../storage/test-ingest.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';
import { Stale } from './interrupts.ts';
import { type KeptTest, memoryOf, showState } from './kept-test.ts';
import type { KeptTests } from './kept-tests.ts';
import type { RepositorySettings } from './repository-settings.ts';

/** Keeps a test that stays due from being evaluated in an endless loop. */
const LOOK_AGAIN_MS = 60_000;

/** Evaluates tests that are due without a new run: a monitor recovers, a mute or an override ends. */
export async function expireTests(
  store: Store,
  { kept, settings }: { readonly kept: KeptTests; readonly settings: RepositorySettings },
  { testIds, at }: { readonly testIds: readonly string[]; readonly at: Instant },
): Promise<void> {
  await kept.load(testIds, settings.monitors);
  const tests: TestRow[] = [];
  const memories: TestMemory[] = [];
  const events: TestEventRow[] = [];
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: null };
  for (const id of testIds) {
    const test = kept.byId.get(id);
    if (test === undefined) continue;
    const expired = expire(test.state, settings.monitors, at);
    test.state = expired.state;
    for (const event of expired.events) events.push(eventRowOf(id, event));
    const hasEnded = endOverride(test, events, at);
    if (showState(test, events, acting) || hasEnded) tests.push(test.row);
    memories.push(notDueNow(memoryOf(test, kept.seq + 1), at));
    test.isDirty = false;
  }
  const change = { repositoryId: kept.repository.id, expectedSeq: kept.seq, tests, memories, failures: [], events };
  const seq = await store.testIngest.commit(change, at);
  if (seq === undefined) throw new Stale();
  kept.seq = seq;
}

function endOverride(test: KeptTest, events: TestEventRow[], at: Instant): boolean {
  const { row } = test;
  const end = row.override?.expiresAt ?? null;
  if (end === null || end > at) return false;
  const setting = row.quarantineOverride;
  test.row = { ...row, quarantineOverride: 'UNSPECIFIED', override: null };
  events.push(eventRowOf(row.id, { kind: 'override_expired', at, actor: null, ...{ setting } }));
  return true;
}

function notDueNow(memory: TestMemory, at: Instant): TestMemory {
  const isDue = memory.nextCheckAt !== null && memory.nextCheckAt <= at;
  return isDue ? { ...memory, nextCheckAt: at + LOOK_AGAIN_MS } : memory;
}
