/**
 * Processes one upload, from its bytes to the store: read, group by test, fold into the memories of monitors, and
 * commit together with the end of the upload. After any interruption it resumes behind the last stored part.
 *
 * With infrastructure protection, an upload of more than one part is read twice: an outage shows only at its end, and
 * nothing of it may be stored before.
 */
import type { Issue } from '../flaky/identity/issue.ts';
import type { UploadPlace } from '../flaky/upload-place.ts';
import type { Instant } from '../lib/clock.ts';
import type { CheckResults } from '../storage/test-ingest.ts';
import type { Upload, UploadOutcome } from '../storage/uploads.ts';
import { endStatusOf, findPlaceOf, flawIssue, judgeFirstPart, placedFacts, type Verdict } from './judge-upload.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ReadFacts, ReadRun, ReadSummary } from './read/read-run.ts';
import { commitTests, storePart } from './store-part.ts';
import {
  CheckTally,
  cutIntoParts,
  type Processed,
  type ProcessingDeps,
  type Reading,
  type RunsByTest,
  type UploadPart,
  UploadTally,
} from './upload-parts.ts';

// SPEC U32
export async function processUpload(
  deps: ProcessingDeps,
  upload: Upload,
  reading: Reading = deps.read(upload),
): Promise<Processed> {
  const parts = cutIntoParts(reading, { limits: deps.limits, step: deps.step });
  const tally = new UploadTally(deps, upload.partsDone > 0 ? upload.issues : []);
  let testRuns = upload.testRuns;
  let runsRead = 0;
  let place: UploadPlace | undefined;
  let verdict: Verdict | undefined;
  for (;;) {
    const next = await parts.next();
    // Reading ended without the facts that runs need.
    if (next.done === true) return endWithoutRuns(deps, upload, { facts: undefined, summary: next.value });
    place ??= await findPlaceOf(deps.findPlace, upload, next.value.facts);
    const part = { ...next.value, facts: placedFacts(next.value.facts, place) };
    verdict ??=
      upload.partsDone > 0 ? { kind: 'use', judged: upload } : await judgeFirstPart(deps, upload, { part, place });
    if (verdict.kind === 'refused') {
      await parts.return(undefined as never);
      return endWithoutRuns(deps, upload, { facts: part.facts, summary: verdict.summary });
    }
    const { judged } = verdict;
    runsRead += part.testRuns;
    if (part.summary !== undefined && runsRead === 0) {
      const isEmpty = part.summary.isWhole || part.summary.hasSetupErrors === true;
      return endWithoutRuns(deps, upload, { facts: part.facts, summary: part.summary, isEmpty });
    }
    const isStored = part.no < upload.partsDone;
    if (isStored && part.summary !== undefined) return addMissing(deps, upload, { ...part, summary: part.summary });
    const stored = await storePart(deps, upload, { part, judged, testRuns, tally });
    testRuns += stored.testRuns;
    if (part.summary !== undefined) return { ...stored, status: endStatusOf(judged), testRuns };
    await deps.tidyMemory();
  }
}

/** The upload was processed before: stored runs stay, and runs that the former reader missed are added. */
// SPEC U37
async function addMissing(
  deps: ProcessingDeps,
  upload: Upload,
  part: UploadPart & { readonly summary: ReadSummary },
): Promise<Processed> {
  // For an upload of several parts only the issues are updated.
  const missing: RunsByTest = part.no > 0 ? new Map() : await findMissing(deps, upload, part);
  if (missing.size === 0) return keepAsItIs(deps, upload, part.summary);
  const more = { ...part, no: upload.partsDone, groups: missing };
  const tally = new UploadTally(deps, upload.issues);
  const stored = await storePart(deps, upload, { part: more, judged: upload, testRuns: upload.testRuns, tally });
  return { ...stored, status: endStatusOf(upload), testRuns: upload.testRuns + stored.testRuns };
}

function findMissing(deps: ProcessingDeps, upload: Upload, { groups }: UploadPart): Promise<RunsByTest> {
  return deps.use(async ({ kept, settings }) => {
    await kept.load(groups.keys(), settings.monitors, deps.step);
    return findMissingRuns(deps, kept, { uploadId: upload.id, groups });
  });
}

/**
 * Finds runs that a newer reader sees in an upload that was processed before. Stored runs stay; the runs of a test
 * beyond the stored number are the missing ones.
 */
async function findMissingRuns(
  { step }: ProcessingDeps,
  kept: KeptTests,
  { uploadId, groups }: { readonly uploadId: string; readonly groups: RunsByTest },
): Promise<RunsByTest> {
  const testNos = [...groups.keys()].flatMap((id) => kept.byId.get(id)?.row.no ?? []);
  let since = Number.POSITIVE_INFINITY;
  for (const runs of groups.values()) for (const { startedAt } of runs) since = Math.min(since, startedAt);
  const counts = new Map<number, number>();
  for await (const { batches } of kept.readRuns({ testNos, since }, step)) {
    for (const { facts, runs } of batches) {
      if (facts.uploadId !== uploadId) continue;
      for (const { testNo } of runs) counts.set(testNo, (counts.get(testNo) ?? 0) + 1);
    }
  }
  const missing = new Map<string, readonly ReadRun[]>();
  for (const [id, runs] of groups) {
    const rest = runs.slice(counts.get(kept.byId.get(id)?.row.no ?? 0));
    if (rest.length > 0) missing.set(id, rest);
  }
  return missing;
}

/** Ends the upload without storing runs. */
// SPEC U72
async function endWithoutRuns(
  deps: ProcessingDeps,
  upload: Upload,
  of: {
    readonly facts: ReadFacts | undefined;
    readonly summary: ReadSummary;
    /** Read without finding a run: whole, or with errors before any test. */
    readonly isEmpty?: boolean;
  },
): Promise<Processed> {
  const at = deps.clock.now();
  const isRead = of.isEmpty === true;
  const isWhole = isRead && of.summary.isWhole;
  const status = isRead ? 'PROCESSED' : 'FAILED';
  const issues = isRead ? of.summary.issues : withReason(of.summary.issues);
  const fields = of.facts?.fields ?? upload.fields;
  const nothing = { ...upload, fields, partsDone: 0, testRuns: 0, flaw: null, counts: null };
  const outcome = outcomeOf(nothing, { status, processedAt: at, issues });
  const problem = isWhole ? null : (of.summary.problem ?? issues.at(-1)?.message ?? null);
  return { status, testRuns: 0, checkResults: await endUpload(deps, outcome, { isWhole, problem, at }) };
}

/** Stores no more of the upload. Checks that wait for its results learn whether they are whole. */
export async function endUpload(
  deps: Pick<ProcessingDeps, 'store' | 'use'>,
  upload: UploadOutcome,
  of: {
    readonly isWhole?: boolean;
    readonly problem: string | null;
    readonly at: Instant;
  },
): Promise<CheckResults | undefined> {
  const { fields, uploadId } = upload;
  const { at } = of;
  const { flaw } = upload;
  const checkResults = fields && new CheckTally().results(uploadId, { fields }, { isWhole: false, ...of, flaw });
  if (!checkResults) {
    await deps.store.uploadWork.finish(upload);
    return undefined;
  }
  await deps.use(async ({ kept }) => {
    const nothing = { tests: [], memories: [], failures: [], events: [] };
    const repositoryId = kept.repository.id;
    await commitTests(deps, kept, { repositoryId, expectedSeq: kept.seq, ...nothing, upload, checkResults }, at);
  });
  return checkResults;
}

/** A failed upload always has a reason. */
// SPEC U30
function withReason(issues: readonly Issue[]): readonly Issue[] {
  if (issues.some(({ level }) => level === 'error')) return issues;
  const message = 'No test results were found in it.';
  const hint = 'Check that the files are JUnit XML reports, and that the tests ran.';
  return [...issues, { level: 'error', file: null, line: null, message, hint }];
}

/** Stored runs stay; only the issues are those of the new reading. */
async function keepAsItIs(deps: ProcessingDeps, upload: Upload, { issues: found }: ReadSummary): Promise<Processed> {
  const { fields, testRuns, flaw } = upload;
  const flawed = fields === null ? undefined : flawIssue(flaw, fields);
  const status = endStatusOf(upload);
  const issues = [...found, ...(flawed === undefined ? [] : [flawed])];
  await deps.store.uploadWork.finish(outcomeOf(upload, { status, processedAt: deps.clock.now(), issues }));
  return { status, testRuns, checkResults: undefined };
}

/** The upload as it ends with the runs that are stored. */
export function outcomeOf(
  { id: uploadId, partsDone, fields, testRuns, flaw, counts }: Upload,
  end: Pick<UploadOutcome, 'status' | 'processedAt' | 'issues'>,
): UploadOutcome {
  return { uploadId, partsDone, fields, testRuns, flaw, counts, ...end };
}
