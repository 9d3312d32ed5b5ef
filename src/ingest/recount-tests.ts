import { DAY_MS } from '../flaky/core/detector.ts';
import { takeBack } from '../flaky/take-back.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import { eventRowOf, quarantineSettingsOf } from '../storage/test-codec.ts';
import type { StoredBatch, TestMemory } from '../storage/test-ingest.ts';
import type { TestEventRow, TestRow } from '../storage/tests.ts';
import type { Upload, UploadIgnored } from '../storage/uploads.ts';
import { Stale } from './interrupts.ts';
import type { Kept } from './kept-repositories.ts';
import { type KeptTest, showState, takeMemory } from './kept-test.ts';
import { readRunsInSteps } from './read-runs.ts';
import { uploadFactsOf } from './upload-facts.ts';

/** Tests per transaction. */
const TESTS_AT_ONCE = 256;

/** Recounts the tests of a withdrawn upload from the remaining runs. */
export async function recountTests(
  { store, clock, step }: { readonly store: Store; readonly clock: Timing; readonly step: () => Promise<void> },
  upload: Upload,
  use: <T>(act: (kept: Kept) => Promise<T>) => Promise<T>,
): Promise<void> {
  const { ignored } = upload;
  if (ignored === null) return;
  const numbers = await store.testIngest.listTestNos(upload.repositoryId, upload.id);
  for (let from = 0; from < numbers.length; from += TESTS_AT_ONCE) {
    await step();
    const some = numbers.slice(from, from + TESTS_AT_ONCE);
    await use((kept) => recountSome(store, kept, { upload, ignored, numbers: some, at: clock.now(), step }));
  }
  await store.uploadWork.markRecounted(upload.id);
}

interface Recount {
  readonly upload: Upload;
  readonly ignored: UploadIgnored;
  readonly numbers: readonly number[];
  readonly at: Instant;
  readonly step: () => Promise<void>;
}

async function recountSome(store: Store, { kept, settings }: Kept, of: Recount): Promise<void> {
  const { numbers, at } = of;
  const since = at - settings.settings.retentionDays * DAY_MS;
  await kept.loadNumbers(numbers, settings.monitors);
  const events: TestEventRow[] = [];
  const tests: TestRow[] = [];
  const memories: TestMemory[] = [];
  const acting = { settings: quarantineSettingsOf(settings.settings), at, actor: of.ignored.actor };
  const testNos = numbers.filter((no) => kept.byNo[no] !== undefined);
  for await (const read of readRunsInSteps(store, kept.repository.id, { testNos, since, step: of.step })) {
    for (const test of read.testNos.flatMap((no) => kept.byNo[no] ?? [])) {
      const past = ofTest(test, read.batches, { ...of, kept });
      const { state, events: happened } = takeBack(test.state, settings.monitors, { ...past, at });
      test.state = state;
      for (const event of happened) events.push(eventRowOf(test.row.id, event));
      if (showState(test, events, acting)) tests.push(test.row);
      memories.push(takeMemory(test, kept.seq + 1));
      test.isDirty = false;
    }
  }
  const repositoryId = kept.repository.id;
  const change = { repositoryId, expectedSeq: kept.seq, tests, memories, failures: [], events };
  const seq = await store.testIngest.commit(change, at);
  if (seq === undefined) throw new Stale();
  kept.seq = seq;
}

function ofTest(
  { row }: KeptTest,
  batches: readonly StoredBatch[],
  { upload, ignored, kept }: Recount & Pick<Kept, 'kept'>,
) {
  const own = batches.flatMap(({ facts, receivedAt, runs }) => {
    const some = runs.filter(({ testNo }) => testNo === row.no);
    const observed = some.map((run) => ({ ...run, attempt: null, rerunOf: null }));
    return some.length === 0 ? [] : [{ upload: uploadFactsOf(facts, kept), at: receivedAt, runs: observed }];
  });
  const [taken] = own.filter((batch) => batch.upload.id === upload.id);
  const hasFailed = taken?.runs.some(({ conclusion }) => conclusion === 'FAILURE') ?? false;
  const { actor, reason } = ignored;
  const countedAt = taken?.at ?? upload.receivedAt;
  return { past: own, taken: { uploadId: upload.id, countedAt, actor, reason, hasFailed } };
}
