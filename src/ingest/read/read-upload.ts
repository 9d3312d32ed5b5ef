import { Unreadable } from '../../bundle/unreadable.ts';
import { classifyBranch, cleanBranch } from '../../flaky/identity/branch.ts';
import { cutVariant } from '../../flaky/identity/test-id.ts';
import { checkUpload } from '../../flaky/identity/validate.ts';
import type { Upload, UploadFields } from '../../storage/uploads.ts';
import { BundleReading, type BundleSources } from './bundle-reading.ts';
import { unreadableIssue } from './read-junit.ts';
import { READ_LIMITS, type ReadLimits, storableText } from './read-limits.ts';
import { readReports } from './read-reports.ts';
import type { ReadFacts, ReadItem, ReadSummary } from './read-run.ts';
import { createTestNameCache, type TestNameCache } from './test-name-cache.ts';
import { createUploadIssues, OF_FORK, type UploadIssues } from './upload-issues.ts';

export interface ReadSources {
  /** The organization's slug: part of every test's id. */
  readonly organization: string;
  readonly repository: { readonly host: string; readonly owner: string; readonly name: string };
  /** The raw bytes of a file; it may be opened several times. */
  readonly openFile: (fileNo: number) => AsyncIterable<Uint8Array>;
  readonly testBranchPrefix: string;
  /** Kept across uploads, so that ids of known tests cost nothing. */
  readonly testNames?: TestNameCache;
  readonly limits?: ReadLimits;
}

/**
 * Reads an upload of any kind in constant memory: first the shared facts, then the runs as they arrive. Unreadable
 * content is reported in the summary. An error of `openFile` itself is thrown, and the caller may retry.
 */
export async function* readUpload(upload: Upload, sources: ReadSources): AsyncGenerator<ReadItem, ReadSummary> {
  const issues = createUploadIssues();
  const { files, problem, isRefused } = yield* upload.kind === 'bundle'
    ? readAsBundle(upload, sources, issues)
    : readAsReports(upload, sources, issues);
  const gap = issues.setupProblem ?? problem;
  return {
    files,
    issues: issues.list(),
    isWhole: gap === null && !isRefused,
    problem: gap === null ? null : storableText(gap),
    isRefused,
    ...(issues.setupProblem !== null && { hasSetupErrors: true }),
  };
}

interface ReadEnd {
  readonly files: number;
  readonly problem: string | null;
  readonly isRefused: boolean;
}

function readAsBundle(upload: Upload, sources: ReadSources, issues: UploadIssues): AsyncGenerator<ReadItem, ReadEnd> {
  const { organization, repository, openFile, testBranchPrefix, limits = READ_LIMITS } = sources;
  return readBundleUpload(upload, {
    organization,
    repository,
    open: () => openFile(0),
    rules: rulesFor(testBranchPrefix),
    testNames: sources.testNames ?? createTestNameCache(),
    issues,
    limits,
  });
}

async function* readAsReports(
  upload: Upload,
  sources: ReadSources,
  issues: UploadIssues,
): AsyncGenerator<ReadItem, ReadEnd> {
  const { organization: org, repository, openFile, limits = READ_LIMITS, testNames = createTestNameCache() } = sources;
  const files = upload.files.filter(({ role }) => role === undefined).length;
  if (upload.fields === null) return { files, problem: 'Nobody said what the reports are of.', isRefused: true };
  const facts = factsOf(upload.fields);
  yield facts;
  const { branch, prNumber, sha, variant } = facts.fields;
  const branchClass = classifyBranch({ branch, prNumber, isMergeTrain: false }, rulesFor(sources.testBranchPrefix));
  const unasked = { authorName: null, authorEmail: null, commitMessage: null };
  for (const finding of checkUpload({ sha, branch, branchClass, prNumber, ...unasked })) {
    issues.add({ ...finding, file: null, line: null });
  }
  if (facts.isFork) issues.add(OF_FORK);
  const identify = testNames.of({ org, repository, variant });
  const reports = readReports(upload, { openFile, identify, issues, limits });
  for (let next = await reports.next(); ; next = await reports.next()) {
    if (next.done === true) return { files, problem: next.value, isRefused: false };
    yield { kind: 'runs', runs: next.value };
  }
}

/** Protected branches do not matter here: only those of pull requests and merge queues do. */
function rulesFor(testBranchPrefix: string) {
  return { testBranchPrefix, stableBranches: [] };
}

function factsOf(said: UploadFields): ReadFacts {
  const fields = { ...said, branch: storableText(cleanBranch(said.branch)), variant: cutVariant(said.variant) };
  const { isFork, jobAttempt } = said;
  return { kind: 'facts', fields, job: said.check ?? said.jobName ?? '', jobAttempt, isFork };
}

interface BundleEnd {
  /** Why the results are incomplete, as a sentence. */
  readonly problem: string | null;
  readonly isRefused: boolean;
  /** Number of reports. */
  readonly files: number;
}

/** Reads a bundle as far as possible. A reason to refuse all of it becomes the first issue. */
// SPEC U58
async function* readBundleUpload(upload: Upload, sources: BundleSources): AsyncGenerator<ReadItem, BundleEnd> {
  const reading = new BundleReading(upload, sources);
  try {
    yield* reading.read();
    return { problem: reading.problem, isRefused: false, files: reading.files };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    sources.issues.addFirst(unreadableIssue(error, null));
    const problem = `The bundle could not be read to its end: ${error.detail}`;
    return { problem, isRefused: !error.isPartlyUsable || !reading.hasBegun, files: reading.files };
  }
}
