import type { Issue } from '../flaky/identity/issue.ts';
/** Ends of an upload of which nothing more is stored. */
import type { Instant } from '../lib/clock.ts';
import type { CheckResults } from '../storage/test-ingest.ts';
import type { Upload, UploadOutcome } from '../storage/uploads.ts';
import { endStatusOf, flawIssue } from './judge-upload.ts';
import type { Processed, ProcessingDeps } from './processing.ts';
import type { ReadFacts, ReadSummary } from './read/read-run.ts';
import { commitTests } from './store-part.ts';
import { CheckTally } from './upload-tally.ts';

/** Ends the upload without storing runs. */
// SPEC U72
export async function endWithoutRuns(
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
export async function keepAsItIs(deps: ProcessingDeps, upload: Upload, { issues }: ReadSummary): Promise<Processed> {
  const { id: uploadId, partsDone, fields, testRuns, flaw, counts } = upload;
  const flawed = fields === null ? undefined : flawIssue(flaw, fields);
  const status = endStatusOf(upload);
  await deps.store.uploadWork.finish({
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
