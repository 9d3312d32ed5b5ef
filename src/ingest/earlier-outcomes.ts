import type { EarlierOutcome } from '../flaky/core/run.ts';
import type { Instant } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import type { BatchFacts, EarlierBatch } from '../storage/test-ingest.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ReadRun } from './read/read-run.ts';

/** Outcomes in other uploads of the same commit and job, by test number. */
export type Earlier = ReadonlyMap<number, readonly EarlierOutcome[]>;

const NOTHING: Earlier = new Map();

export async function findEarlierOutcomes(
  store: Store,
  kept: KeptTests,
  { facts, groups }: { readonly facts: BatchFacts; readonly groups: ReadonlyMap<string, readonly ReadRun[]> },
): Promise<Earlier> {
  if (facts.flaw !== null || facts.sha === '') return NOTHING;
  const { sha, job, uploadId } = facts;
  const batches = await store.testIngest.findEarlier(kept.repository.id, { sha, job, exceptUploadId: uploadId });
  if (batches.length === 0) return NOTHING;
  const failingNow = numbersOfFailing(kept, groups);
  const found = new Map<number, EarlierOutcome[]>();
  for (const parts of byUpload(batches)) {
    const { branch, prNumber, jobAttempt, uploadId: id } = (parts[0] as EarlierBatch).facts;
    const common = { uploadId: id, branch, prNumber, jobAttempt };
    const failed = parts.flatMap((part) => part.failures);
    const failures = latestOf(failed);
    const paths = Map.groupBy(failed, ({ testNo }) => testNo);
    const others = failingNow.filter((no) => !failures.has(no));
    const passes = await findPasses(store, kept, { parts, others });
    for (const [no, at] of failures) {
      const failedPaths = (paths.get(no) ?? []).map(({ path }) => path);
      note(found, no, { ...common, hasFailed: true, at, failedPaths });
    }
    for (const [no, at] of passes) note(found, no, { ...common, hasFailed: false, at });
  }
  return found;
}

async function findPasses(
  store: Store,
  kept: KeptTests,
  { parts, others }: { readonly parts: readonly EarlierBatch[]; readonly others: readonly number[] },
): Promise<ReadonlyMap<number, Instant>> {
  const all: { testNo: number; at: Instant }[] = [];
  if (others.length === 0) return new Map();
  for (const { seq } of parts) {
    const passes = await store.testIngest.findPasses(kept.repository.id, seq, others);
    for (const [testNo, at] of passes) all.push({ testNo, at });
  }
  return latestOf(all);
}

function numbersOfFailing(kept: KeptTests, groups: ReadonlyMap<string, readonly ReadRun[]>): readonly number[] {
  const numbers: number[] = [];
  for (const [id, runs] of groups) {
    const known = kept.byId.get(id);
    if (known !== undefined && runs.some((run) => run.conclusion === 'FAILURE')) numbers.push(known.row.no);
  }
  return numbers;
}

/** The parts of one upload count as one: a test that failed in one part has failed. */
function byUpload(batches: readonly EarlierBatch[]): Iterable<readonly EarlierBatch[]> {
  return Map.groupBy(batches, (batch) => batch.facts.uploadId).values();
}

function latestOf(list: readonly { readonly testNo: number; readonly at: Instant }[]): ReadonlyMap<number, Instant> {
  const latest = new Map<number, Instant>();
  for (const { testNo, at } of list) latest.set(testNo, Math.max(at, latest.get(testNo) ?? at));
  return latest;
}

function note(found: Map<number, EarlierOutcome[]>, testNo: number, outcome: EarlierOutcome): void {
  const known = found.get(testNo);
  if (known === undefined) found.set(testNo, [outcome]);
  else known.push(outcome);
}
