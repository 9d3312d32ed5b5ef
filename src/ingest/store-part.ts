/** Stores a part of an upload: new tests in small transactions, then runs, memories and the progress of the upload in one. */
import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import { groupByPath } from '../flaky/core/paths.ts';
import { SAME_TREE_MS } from '../flaky/core/retry.ts';
import type { EarlierOutcome } from '../flaky/core/run.ts';
import type { SuiteRepeats } from '../junit/junit-case.ts';
import type { Instant } from '../lib/clock.ts';
import type { BatchFacts, TestChange } from '../storage/test-ingest.ts';
import type { StoredTestSettings } from '../storage/test-settings.ts';
import type { Upload } from '../storage/uploads.ts';
import { endStatusOf, flawIssue, type JudgedUpload } from './judge-upload.ts';
import { type KeptTests, Stale } from './kept-tests.ts';
import { type Earlier, introduceTests, type NewTests, observePart } from './observe-part.ts';
import { MAX_AHEAD_MS, type ReadFacts, type ReadRun, type ReadSummary } from './read/read-run.ts';
import {
  isTied,
  type Processed,
  type ProcessingDeps,
  type ReachedLimits,
  type RunsByTest,
  type UploadPart,
  type UploadTally,
} from './upload-parts.ts';

/** Another server held the lease meanwhile, and ended the upload or got further with it. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

interface PartToStore {
  readonly part: UploadPart;
  readonly judged: JudgedUpload;
  /** Runs in earlier parts. */
  readonly testRuns: number;
  readonly tally: UploadTally;
}

type StoredPart = Omit<Processed, 'status'>;

const NOTHING_STORED: StoredPart = { testRuns: 0, checkResults: undefined };

export async function storePart(deps: ProcessingDeps, upload: Upload, to: PartToStore): Promise<StoredPart> {
  const { part, tally } = to;
  const { groups } = part;
  tally.sharedIds.note(groups);
  const isDone = part.no < upload.partsDone;
  if (isDone && !isTied(part.facts)) return NOTHING_STORED;
  return deps.use(async ({ kept, settings }) => {
    await kept.load(groups.keys(), settings.monitors, deps.step);
    if (!isDone) return commitPart(deps, upload, { ...to, kept, settings });
    tally.checks.note(kept, groups);
    return NOTHING_STORED;
  });
}

interface PartToCommit extends PartToStore {
  readonly kept: KeptTests;
  readonly settings: StoredTestSettings;
}

// SPEC U71
async function commitPart(deps: ProcessingDeps, upload: Upload, to: PartToCommit): Promise<StoredPart> {
  const { clock, step } = deps;
  const { part, judged, kept, settings, tally } = to;
  const { fields } = part.facts;
  const { variant } = fields;
  const facts = batchFactsOf(upload.id, part.facts, judged);
  const groups = await leaveOut(deps, to, settleTries(part.groups));
  await storeNewTests(deps, { kept, facts, settings, groups, variant, reached: tally.reached });
  const at = clock.now();
  const earlier = await findEarlierOutcomes(deps, kept, { facts, groups });
  const { runs, ...changes } = await observePart(kept, { facts, variant, groups, earlier, settings, at }, step);
  if (isTied(part.facts)) tally.checks.note(kept, part.groups);
  const isLast = part.summary !== undefined;
  const flawed = flawIssue(judged.flaw, fields);
  const ended = { flaw: judged.flaw, at };
  const checkResults = isLast ? tally.checks.results(upload.id, part.facts, { ...wholeness(to), ...ended }) : undefined;
  const change: TestChange = {
    repositoryId: upload.repositoryId,
    expectedSeq: kept.seq,
    ...changes,
    ...(runs.length > 0 && { batch: { facts, runs } }),
    upload: {
      uploadId: upload.id,
      partsDone: part.no + 1,
      status: isLast ? endStatusOf(judged) : 'ACCEPTED',
      processedAt: isLast ? at : null,
      fields,
      testRuns: to.testRuns + runs.length,
      issues: [
        ...(part.summary?.issues ?? []),
        ...(isLast ? [...tally.sharedIds.issues(), ...[flawed ?? []].flat()] : []),
        ...tally.reached.issues,
      ],
      flaw: judged.flaw,
      counts: judged.counts,
    },
    ...(checkResults !== undefined && { checkResults }),
  };
  await step();
  if (isLast) deps.onLastPart();
  await commitTests(deps, kept, change, at);
  return { testRuns: runs.length, checkResults };
}

function batchFactsOf(
  uploadId: string,
  { fields, job, jobAttempt, tree = null }: ReadFacts,
  { flaw }: { readonly flaw: EvidenceFlaw | null },
): BatchFacts {
  const { branch, sha, jobName, jobUrl, prNumber, candidateId } = fields;
  const named = { jobName: jobName ?? '', jobUrl, prNumber };
  return { uploadId, branch, sha, tree, candidateId, job, jobAttempt, ...named, flaw };
}

function wholeness({ part, judged, tally }: PartToStore): Pick<ReadSummary, 'isWhole' | 'problem'> {
  const { isWhole, problem } = part.summary as ReadSummary;
  const other = flawIssue(judged.flaw, part.facts.fields)?.message ?? tally.reached.problem;
  return { isWhole: isWhole && other === null, problem: problem ?? other };
}

/**
 * Counts the tests only if there may be too many. Test numbers overcount: they are given out once, and tests are
 * removed in time.
 */
// SPEC U43
async function leaveOut(
  { store, maxRepositoryTests }: ProcessingDeps,
  { kept, tally }: PartToCommit,
  groups: RunsByTest,
): Promise<RunsByTest> {
  const known = (id: string) => kept.byId.has(id);
  if (kept.nextTestNo + groups.size <= maxRepositoryTests) return groups;
  return tally.reached.leaveOut(groups, { known, count: await store.testIngest.countTests(kept.repository.id) });
}

/**
 * Stores new tests in small transactions, because a large one would hold the store for long. If the upload fails later,
 * these are tests without runs.
 */
async function storeNewTests(
  { clock, newTestsAtOnce, step, onNewTests }: ProcessingDeps,
  of: Omit<NewTests, 'at'> & { readonly kept: KeptTests; readonly reached: ReachedLimits },
): Promise<void> {
  const { kept, reached } = of;
  const unknown: [string, readonly ReadRun[]][] = [];
  for (const [id, runs] of of.groups) if (!kept.byId.has(id)) unknown.push([id, runs]);
  if (unknown.length <= newTestsAtOnce) return;
  // Ids are random, and keys of most rows of a test. Sorted neighbours share the pages that a transaction writes.
  unknown.sort(([one], [other]) => (one < other ? -1 : 1));
  for (let from = 0; from < unknown.length; from += newTestsAtOnce) {
    await step();
    const at = clock.now();
    const groups = new Map(unknown.slice(from, from + newTestsAtOnce));
    await kept.commit(introduceTests(kept, { ...of, groups, at }), at);
    reached.noteNewTests(groups.size);
    onNewTests(groups.size);
  }
}

/** Throws when another writer committed first, or when the upload has gone on elsewhere. */
export async function commitTests(
  deps: Pick<ProcessingDeps, 'store'>,
  kept: KeptTests,
  change: TestChange,
  at: number,
): Promise<void> {
  const seq = await deps.store.testIngest.commit(change, at);
  if (seq === undefined) throw (await isSuperseded(deps, change)) ? new Superseded() : new Stale();
  kept.seq = seq;
  kept.noteBatch(change.batch?.runs ?? [], at);
}

async function isSuperseded({ store }: Pick<ProcessingDeps, 'store'>, { upload }: TestChange): Promise<boolean> {
  if (upload === undefined) return false;
  const stored = await store.uploads.find(upload.uploadId);
  return stored?.status !== 'ACCEPTED' || stored.partsDone >= Math.max(1, upload.partsDone);
}

const UNTOLD = {
  type: '',
  message: 'This try failed and was run again; the report has no message of it.',
  text: '',
};

/**
 * Treats the runs of one test as attempts if every name occurs once in its suite. Monitors count by it. The failure of
 * a check does not depend on it: a failed run has failed there, whatever the other attempts did.
 */
// SPEC F37, F58
function settleTries(groups: RunsByTest): RunsByTest {
  let settled: Map<string, readonly ReadRun[]> | undefined;
  for (const [id, runs] of groups) {
    if (runs.length < 2) continue;
    settled ??= new Map(groups);
    settled.set(id, settleTest(runs));
  }
  return settled ?? groups;
}

function settleTest(runs: readonly ReadRun[]): readonly ReadRun[] {
  if (runs.every(({ repeats }) => repeats === null)) return runs;
  return [...Map.groupBy(runs, ({ repeats }) => repeats)].flatMap(([repeats, ofSuite]) =>
    repeats === null ? ofSuite : [...groupByPath(ofSuite).values()].flatMap((own) => settle(repeats, own)),
  );
}

function settle(repeats: SuiteRepeats, runs: readonly ReadRun[]): readonly ReadRun[] {
  if (runs.length < 2) return runs;
  return repeats.kind === 'go' ? settleGo(runs) : settlePytest(repeats, runs);
}

function settleGo(runs: readonly ReadRun[]): readonly ReadRun[] {
  if (!runs.some(({ conclusion }) => conclusion === 'SUCCESS')) return runs;
  return runs.map((run) => (run.conclusion === 'FAILURE' ? { ...run, rerunOf: 'SUCCESS' } : run));
}

/** pytest writes a failed and repeated run without marking it. Its suite then declares fewer tests than it holds. */
// SPEC F51
function settlePytest({ declared, cases }: SuiteRepeats, runs: readonly ReadRun[]): readonly ReadRun[] {
  const last = runs.at(-1);
  if (declared === null || cases <= declared || last === undefined || last.conclusion === 'SKIPPED') return runs;
  const rerunOf = last.conclusion;
  return runs.map((run) => {
    if (run === last || run.conclusion !== 'SUCCESS') return run;
    return { ...run, conclusion: 'FAILURE', rerunOf, failure: UNTOLD };
  });
}

const NO_OUTCOMES: Earlier = new Map();
/** Each may have some thousand failures. */
const BATCHES_AT_ONCE = 10;
/** A job may upload its shards one by one, and be repeated. */
const MAX_BATCHES = 1_000;
/** The newest ones. A pass and a failure suffice. */
const MAX_OUTCOMES = 20;

/** Reads in steps: somebody may send the results of one commit hundreds of times. */
async function findEarlierOutcomes(
  { store, step }: Pick<ProcessingDeps, 'store' | 'step'>,
  kept: KeptTests,
  { facts, groups }: { readonly facts: BatchFacts; readonly groups: RunsByTest },
): Promise<Earlier> {
  if (facts.flaw !== null || facts.sha === '') return NO_OUTCOMES;
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
