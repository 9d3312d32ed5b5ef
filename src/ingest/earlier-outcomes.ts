import { SAME_TREE_MS } from '../flaky/core/retry.ts';
import type { EarlierOutcome } from '../flaky/core/run.ts';
import type { Instant } from '../lib/clock.ts';
import type { BatchFacts } from '../storage/test-ingest.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ProcessingDeps } from './processing.ts';
import { MAX_AHEAD_MS } from './read/read-run.ts';
import type { RunsByTest } from './upload-parts.ts';

/** Outcomes in other uploads of the same job and the same commit or tree, by test number. */
export type Earlier = ReadonlyMap<number, readonly EarlierOutcome[]>;

const NOTHING: Earlier = new Map();
/** Each may have some thousand failures. */
const BATCHES_AT_ONCE = 10;
/** A job may upload its shards one by one, and be repeated. */
const MAX_BATCHES = 1_000;
/** The newest ones. A pass and a failure suffice. */
const MAX_OUTCOMES = 20;

/** Reads in steps: somebody may send the results of one commit hundreds of times. */
export async function findEarlierOutcomes(
  { store, step }: Pick<ProcessingDeps, 'store' | 'step'>,
  kept: KeptTests,
  { facts, groups }: { readonly facts: BatchFacts; readonly groups: RunsByTest },
): Promise<Earlier> {
  if (facts.flaw !== null || facts.sha === '') return NOTHING;
  const { sha, tree, job, uploadId: exceptUploadId } = facts;
  const ofTree = tree === null ? undefined : { tree, since: sinceOf(groups) };
  let failingNow: readonly number[] | undefined;
  const found = new Map<number, EarlierOutcome[]>();
  let beforeSeq = Number.MAX_SAFE_INTEGER;
  for (let read = 0; read < MAX_BATCHES; read += BATCHES_AT_ONCE) {
    const query = { sha, job, ofTree, exceptUploadId, beforeSeq, limit: BATCHES_AT_ONCE };
    const batches = await store.testIngest.findEarlier(kept.repository.id, query);
    for (const { seq, facts: of, failures } of batches) {
      await step();
      const { uploadId, sha: commit, tree: tested, candidateId, branch, prNumber, jobAttempt } = of;
      const common = { uploadId, sha: commit, tree: tested, candidateId, branch, prNumber, jobAttempt };
      const failed = Map.groupBy(failures, ({ testNo }) => testNo);
      for (const [no, all] of failed) {
        const at = Math.max(...all.map((failure) => failure.at));
        const failedPaths = all.map(({ path }) => path);
        if (groups.has(kept.byNo[no]?.row.id ?? '')) note(found, no, { ...common, hasFailed: true, at, failedPaths });
      }
      failingNow ??= numbersOfFailing(kept, groups);
      const others = failingNow.filter((no) => !failed.has(no));
      const passes = others.length === 0 ? [] : await store.testIngest.findPasses(kept.repository.id, seq, others);
      for (const [no, at] of passes) note(found, no, { ...common, hasFailed: false, at });
    }
    beforeSeq = batches.at(-1)?.seq ?? 0;
    if (batches.length < BATCHES_AT_ONCE) break;
  }
  return found;
}

/** Batches that were received before hold no run within the time in which outcomes of a tree are compared. */
function sinceOf(groups: RunsByTest): Instant {
  let first = Number.MAX_SAFE_INTEGER;
  for (const runs of groups.values()) for (const { startedAt } of runs) first = Math.min(first, startedAt);
  return first - SAME_TREE_MS - MAX_AHEAD_MS;
}

function numbersOfFailing(kept: KeptTests, groups: RunsByTest): readonly number[] {
  const numbers: number[] = [];
  for (const [id, runs] of groups) {
    const known = kept.byId.get(id);
    if (known !== undefined && runs.some((run) => run.conclusion === 'FAILURE')) numbers.push(known.row.no);
  }
  return numbers;
}

/** The parts of one upload count as one: a test that failed in one part has failed. */
function note(found: Map<number, EarlierOutcome[]>, testNo: number, outcome: EarlierOutcome): void {
  const known = found.get(testNo) ?? [];
  found.set(testNo, known);
  const last = known.at(-1);
  if (last?.uploadId === outcome.uploadId) known[known.length - 1] = merge(last, outcome);
  else if (known.length < MAX_OUTCOMES) known.push(outcome);
}

function merge(one: EarlierOutcome, other: EarlierOutcome): EarlierOutcome {
  if (one.hasFailed !== other.hasFailed) return one.hasFailed ? one : other;
  const at = Math.max(one.at, other.at);
  if (!one.hasFailed) return { ...one, at };
  return { ...one, at, failedPaths: [...(one.failedPaths ?? []), ...(other.failedPaths ?? [])] };
}
