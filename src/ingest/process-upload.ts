/**
 * Processes one upload, from its bytes to the store: read, group by test, fold into the memories of monitors, and
 * commit together with the end of the upload. After any interruption it resumes behind the last stored part.
 *
 * With infrastructure protection, an upload of more than one part is read twice: an outage shows only at its end, and
 * nothing of it may be stored before.
 */
import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import type { CheckResults, TestChange } from '../storage/test-ingest.ts';
import type { Upload, UploadIssue, UploadOutcome } from '../storage/uploads.ts';
import { findEarlierOutcomes } from './earlier-outcomes.ts';
import { Stale, Superseded } from './interrupts.ts';
import { findPlaceOf, flawIssue, type JudgedUpload, judgeUpload, placedFacts, protectionOf } from './judge-upload.ts';
import type { Kept } from './kept-repositories.ts';
import type { KeptTests } from './kept-tests.ts';
import { findMissingRuns } from './missing-runs.ts';
import { introduceTests, type NewTests, observePart } from './observe-part.ts';
import type { ReadFacts, ReadRun, ReadSummary } from './read/read-run.ts';
import type { RepositorySettings } from './repository-settings.ts';
import { settleTries } from './settle-tries.ts';
import { ReachedLimits, type TestLimits } from './test-limits.ts';
import { batchFactsOf } from './upload-facts.ts';
import { cutIntoParts, groupRuns, type PartLimits, type Reading, type UploadPart } from './upload-parts.ts';
import { CheckTally, isTied, SharedIds, TestCount } from './upload-tally.ts';

export interface ProcessingDeps extends TestLimits {
  readonly store: Store;
  readonly clock: Timing;
  readonly limits: PartLimits;
  readonly newTestsAtOnce: number;
  /** Reports the number of new tests stored. */
  onNewTests(count: number): void;
  findPlace(question: PlaceQuestion): Promise<UploadPlace>;
  /** Reads the body from its beginning. */
  read(upload: Upload): Reading;
  /** Runs `act` on the repository's tests in memory, again if another writer committed first. */
  use<T>(act: (kept: Kept) => Promise<T>): Promise<T>;
  /** Throws if the work must be abandoned; renews the lease. */
  step(): Promise<void>;
  /** Called between parts: a single upload may bring more tests than fit into memory. */
  tidyMemory(): Promise<void>;
}

export interface Processed {
  readonly status: UploadOutcome['status'];
  readonly testRuns: number;
  readonly checkResults: CheckResults | undefined;
}

// SPEC U32
export async function processUpload(deps: ProcessingDeps, upload: Upload): Promise<Processed> {
  const parts = cutIntoParts(deps.read(upload), { limits: deps.limits, step: deps.step });
  const tally = new CheckTally();
  const sharedIds = new SharedIds();
  const reached = new ReachedLimits(deps, upload.partsDone > 0 ? upload.issues : []);
  let testRuns = upload.testRuns;
  let runsRead = 0;
  let place: UploadPlace | undefined;
  let verdict: Verdict | undefined;
  for (;;) {
    const next = await parts.next();
    // Reading ended without the facts that runs need.
    if (next.done === true) return end(deps, upload, { facts: undefined, summary: next.value });
    place ??= await findPlaceOf(deps.findPlace, upload, next.value.facts);
    const part = { ...next.value, facts: placedFacts(next.value.facts, place) };
    verdict ??= upload.partsDone > 0 ? { kind: 'use', judged: upload } : await judge(deps, upload, { part, place });
    if (verdict.kind === 'refused') {
      await parts.return(undefined as never);
      return end(deps, upload, { facts: part.facts, summary: verdict.summary });
    }
    const { judged } = verdict;
    runsRead += part.runs.length;
    if (part.summary !== undefined && runsRead === 0) {
      return end(deps, upload, { facts: part.facts, summary: part.summary, isEmpty: part.summary.isWhole });
    }
    const isStored = part.no < upload.partsDone;
    if (isStored && part.summary !== undefined) return addMissing(deps, upload, { ...part, summary: part.summary });
    const stored = await storePart(deps, upload, { part, judged, testRuns, tally, sharedIds, reached });
    testRuns += stored.testRuns;
    if (part.summary !== undefined) return { ...stored, status: endStatusOf(judged), testRuns };
    await deps.tidyMemory();
  }
}

type Verdict =
  | { readonly kind: 'use'; readonly judged: JudgedUpload }
  | { readonly kind: 'refused'; readonly summary: ReadSummary };

/** A bundle that is refused is known within so many runs. */
const RUNS_BEFORE_REFUSAL = 25_000;

/**
 * Decides whether the upload may be stored, and as which evidence. If an outage is possible, that needs all of it to be
 * read.
 */
async function judge(
  deps: ProcessingDeps,
  upload: Upload,
  { part: first, place }: { readonly part: UploadPart; readonly place: UploadPlace },
): Promise<Verdict> {
  const { settings } = await deps.use(async (kept) => kept);
  const protection = protectionOf(settings.settings);
  const of = { facts: first.facts, place, protection };
  const isSafe = !protection.isEnabled && first.runs.length >= RUNS_BEFORE_REFUSAL;
  if (first.summary === undefined && isSafe) {
    return { kind: 'use', judged: await judgeUpload(deps.store, upload, { ...of, counts: null }) };
  }
  const count = new TestCount();
  if (first.summary !== undefined) count.add(first.runs);
  const summary = first.summary ?? (await readThrough(deps, upload, (runs) => count.add(runs)));
  if (summary.isRefused) return { kind: 'refused', summary };
  return { kind: 'use', judged: await judgeUpload(deps.store, upload, { ...of, counts: count.counts }) };
}

/** The uploads of an outage, and those that a person withdrew, are skipped as a whole. */
// SPEC U72
function endStatusOf({ flaw }: JudgedUpload): 'PROCESSED' | 'SKIPPED' {
  return flaw === 'OUTAGE' || flaw === 'IGNORED' ? 'SKIPPED' : 'PROCESSED';
}

async function readThrough(
  deps: ProcessingDeps,
  upload: Upload,
  see: (runs: readonly ReadRun[]) => void,
): Promise<ReadSummary> {
  const reading = deps.read(upload);
  try {
    for (;;) {
      await deps.step();
      const item = await reading.next();
      if (item.done === true) return item.value;
      if (item.value.kind === 'runs') see(item.value.runs);
    }
  } finally {
    await reading.return(undefined as never);
  }
}

interface PartToStore {
  readonly part: UploadPart;
  readonly judged: JudgedUpload;
  /** Runs in earlier parts. */
  readonly testRuns: number;
  readonly tally: CheckTally;
  readonly sharedIds: SharedIds;
  readonly reached: ReachedLimits;
}

type StoredPart = Omit<Processed, 'status'>;

const NOTHING_STORED: StoredPart = { testRuns: 0, checkResults: undefined };

async function storePart(deps: ProcessingDeps, upload: Upload, to: PartToStore): Promise<StoredPart> {
  const { part, tally } = to;
  const groups = groupRuns(part.runs);
  to.sharedIds.note(groups);
  const isDone = part.no < upload.partsDone;
  if (isDone && !isTied(part.facts)) return NOTHING_STORED;
  return deps.use(async ({ kept, settings }) => {
    await kept.load(groups.keys(), settings.monitors, deps.step);
    if (!isDone) return commitPart(deps, upload, { ...to, kept, settings, groups });
    tally.note(kept, groups);
    return NOTHING_STORED;
  });
}

interface PartToCommit extends PartToStore {
  readonly kept: KeptTests;
  readonly settings: RepositorySettings;
  readonly groups: ReadonlyMap<string, readonly ReadRun[]>;
}

// SPEC U71
async function commitPart(deps: ProcessingDeps, upload: Upload, to: PartToCommit): Promise<StoredPart> {
  const { store, clock, step } = deps;
  const { part, judged, kept, settings, tally, reached } = to;
  const { fields } = part.facts;
  const { variant } = fields;
  const facts = batchFactsOf(upload.id, part.facts, judged);
  const groups = await leaveOut(deps, { ...to, groups: settleTries(to.groups) });
  await storeNewTests(deps, { kept, facts, settings, groups, variant, reached });
  const at = clock.now();
  const earlier = await findEarlierOutcomes(store, kept, { facts, groups });
  const { runs, ...changes } = await observePart(kept, { facts, variant, groups, earlier, settings, at }, step);
  if (isTied(part.facts)) tally.note(kept, to.groups);
  const isLast = part.summary !== undefined;
  const flawed = flawIssue(judged.flaw, fields);
  const ended = { standing: judged, at };
  const checkResults = isLast ? tally.results(upload.id, part.facts, { ...wholeness(to), ...ended }) : undefined;
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
        ...(isLast ? [...to.sharedIds.issues(), ...[flawed ?? []].flat()] : []),
        ...reached.issues,
      ],
      flaw: judged.flaw,
      counts: judged.counts,
    },
    ...(checkResults !== undefined && { checkResults }),
  };
  await step();
  await commit(deps, kept, change, at);
  return { testRuns: runs.length, checkResults };
}

function wholeness({ part, judged, reached }: PartToStore): Pick<ReadSummary, 'isWhole' | 'problem'> {
  const { isWhole, problem } = part.summary as ReadSummary;
  const other = flawIssue(judged.flaw, part.facts.fields)?.message ?? reached.problem;
  return { isWhole: isWhole && other === null, problem: problem ?? other };
}

/**
 * Counts the tests only if there may be too many. Test numbers overcount: they are given out once, and tests are
 * removed in time.
 */
// SPEC U43
async function leaveOut(
  { store, maxRepositoryTests }: ProcessingDeps,
  { kept, groups, reached }: PartToCommit,
): Promise<PartToCommit['groups']> {
  const known = (id: string) => kept.byId.has(id);
  if (kept.nextTestNo + groups.size <= maxRepositoryTests) return groups;
  return reached.leaveOut(groups, { known, count: await store.testIngest.countTests(kept.repository.id) });
}

/**
 * Stores new tests in small transactions, because a large one would hold the store for long. If the upload fails later,
 * these are tests without runs.
 */
async function storeNewTests(
  deps: ProcessingDeps,
  of: Omit<NewTests, 'at'> & { readonly kept: KeptTests; readonly reached: ReachedLimits },
): Promise<void> {
  const { clock, newTestsAtOnce, step, onNewTests } = deps;
  const { kept, reached } = of;
  // Ids are random, and keys of most rows of a test. Sorted neighbours share the pages that a transaction writes.
  const unknown = [...of.groups].filter(([id]) => !kept.byId.has(id)).sort(([one], [other]) => (one < other ? -1 : 1));
  if (unknown.length <= newTestsAtOnce) return;
  for (let from = 0; from < unknown.length; from += newTestsAtOnce) {
    await step();
    const at = clock.now();
    const groups = new Map(unknown.slice(from, from + newTestsAtOnce));
    const change = { ...introduceTests(kept, { ...of, groups, at }), failures: [] };
    await commit(deps, kept, { repositoryId: kept.repository.id, expectedSeq: kept.seq, ...change }, at);
    reached.noteNewTests(groups.size);
    onNewTests(groups.size);
  }
}

async function commit(
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

/** The upload was processed before: stored runs stay, and runs that the former reader missed are added. */
// SPEC U37
async function addMissing(
  deps: ProcessingDeps,
  upload: Upload,
  part: UploadPart & { readonly summary: ReadSummary },
): Promise<Processed> {
  // For an upload of several parts only the issues are updated.
  const missing = part.no > 0 ? [] : await findMissing(deps, upload, part);
  if (missing.length === 0) return keepAsItIs(deps, upload, part.summary);
  const more = { ...part, no: upload.partsDone, runs: missing };
  const fresh = {
    tally: new CheckTally(),
    sharedIds: new SharedIds(),
    reached: new ReachedLimits(deps, upload.issues),
  };
  const stored = await storePart(deps, upload, { part: more, judged: upload, testRuns: upload.testRuns, ...fresh });
  return { ...stored, status: endStatusOf(upload), testRuns: upload.testRuns + stored.testRuns };
}

function findMissing(deps: ProcessingDeps, upload: Upload, { runs }: UploadPart): Promise<readonly ReadRun[]> {
  const groups = groupRuns(runs);
  return deps.use(async ({ kept, settings }) => {
    await kept.load(groups.keys(), settings.monitors, deps.step);
    return findMissingRuns(deps.store, kept, { uploadId: upload.id, groups });
  });
}

async function keepAsItIs(deps: ProcessingDeps, upload: Upload, { issues }: ReadSummary): Promise<Processed> {
  const { id: uploadId, partsDone, fields, testRuns, flaw, counts } = upload;
  const flawed = fields === null ? undefined : flawIssue(flaw, fields);
  const status = endStatusOf(upload);
  await deps.store.uploads.finish({
    uploadId,
    partsDone,
    status,
    processedAt: deps.clock.now(),
    fields,
    testRuns,
    issues: [...issues, ...(flawed === undefined ? [] : [flawed])],
    flaw,
    counts,
  });
  return { status, testRuns, checkResults: undefined };
}

/** Ends the upload without storing runs. */
// SPEC U72
async function end(
  deps: ProcessingDeps,
  upload: Upload,
  of: {
    readonly facts: ReadFacts | undefined;
    readonly summary: ReadSummary;
    /** Read to the end without finding a run. */
    readonly isEmpty?: boolean;
  },
): Promise<Processed> {
  const at = deps.clock.now();
  const isWhole = of.isEmpty === true;
  const status = isWhole ? 'PROCESSED' : 'FAILED';
  const issues = isWhole ? of.summary.issues : withReason(of.summary.issues);
  const fields = of.facts?.fields ?? upload.fields;
  const outcome: UploadOutcome = {
    uploadId: upload.id,
    partsDone: 0,
    status,
    processedAt: at,
    fields,
    testRuns: 0,
    issues,
    flaw: null,
    counts: null,
  };
  const problem = isWhole ? null : (of.summary.problem ?? issues.at(-1)?.message ?? null);
  const { isProven } = upload;
  return { status, testRuns: 0, checkResults: await endUpload(deps, outcome, { isWhole, problem, isProven, at }) };
}

/** Stores no more of the upload. Checks that wait for its results learn whether they are whole. */
export async function endUpload(
  deps: Pick<ProcessingDeps, 'store' | 'use'>,
  upload: UploadOutcome,
  of: {
    readonly isWhole?: boolean;
    readonly problem: string | null;
    readonly isProven?: boolean;
    readonly at: Instant;
  },
): Promise<CheckResults | undefined> {
  const { fields, uploadId } = upload;
  const { at, isProven = false } = of;
  const standing = { flaw: upload.flaw, isProven };
  const checkResults = fields && new CheckTally().results(uploadId, { fields }, { isWhole: false, ...of, standing });
  if (!checkResults) {
    await deps.store.uploads.finish(upload);
    return undefined;
  }
  await deps.use(async ({ kept }) => {
    const nothing = { tests: [], memories: [], failures: [], events: [] };
    const repositoryId = kept.repository.id;
    await commit(deps, kept, { repositoryId, expectedSeq: kept.seq, ...nothing, upload, checkResults }, at);
  });
  return checkResults;
}

/** A failed upload always has a reason. */
// SPEC U30
function withReason(issues: readonly UploadIssue[]): readonly UploadIssue[] {
  if (issues.some(({ level }) => level === 'error')) return issues;
  const message = 'No test results were found in it.';
  const hint = 'Check that the files are JUnit XML reports, and that the tests ran.';
  return [...issues, { level: 'error', file: null, line: null, message, hint }];
}
