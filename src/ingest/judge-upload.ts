/**
 * Decides what an upload may be evidence for. The main thread answers whether its commit is known. An outage shows only
 * when all of the upload was read, and nothing of it may be stored before.
 */
import { type EvidenceFlaw, flawOf } from '../flaky/core/evidence.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import { isOutage, mayBeOutage, type OutageProtection, type TestCounts, USUAL_UPLOADS } from '../flaky/outage.ts';
import type { TestSettings } from '../flaky/settings.ts';
import { type PlaceQuestion, UNKNOWN_PLACE, type UploadPlace } from '../flaky/upload-place.ts';
import type { Store } from '../storage/store.ts';
import type { Upload, UploadFields } from '../storage/uploads.ts';
import type { ReadFacts, ReadRun, ReadSummary } from './read/read-run.ts';
import type { ProcessingDeps, RunsByTest, UploadPart } from './upload-parts.ts';

export interface JudgedUpload {
  /** Null: its runs are evidence. */
  readonly flaw: EvidenceFlaw | null;
  readonly counts: TestCounts | null;
}

/** How many recent uploads, of all jobs, are searched for the same job. */
const LOOKED_AT = 200;

function protectionOf(settings: TestSettings): OutageProtection {
  const { infrastructureProtectionEnabled: isEnabled, infrastructureFailureThreshold: threshold } = settings;
  return { isEnabled, threshold };
}

/** The built-in runner knows where it ran, up to the tree, and a fork's claims are not asked about. */
export async function findPlaceOf(
  findPlace: (question: PlaceQuestion) => Promise<UploadPlace>,
  upload: Upload,
  { fields, isFork }: ReadFacts,
): Promise<UploadPlace> {
  if (isFork) return UNKNOWN_PLACE;
  const { sha, branch, jobName, candidateId } = fields;
  const isOfRunner = upload.kind === 'runner';
  const { repositoryId } = upload;
  const place = await findPlace({ repositoryId, sha, branch, jobName, candidateId, isOfRunner });
  return isOfRunner ? { ...UNKNOWN_PLACE, tree: place.tree } : place;
}

/**
 * Results of a test branch belong to its candidate, regardless of the token. They belong to its check if the upload
 * names no other.
 */
export function placedFacts(facts: ReadFacts, { candidateId, check, tree }: UploadPlace): ReadFacts {
  const { fields } = facts;
  if (fields.candidateId !== null || candidateId === null) return { ...facts, tree };
  return { ...facts, tree, fields: { ...fields, candidateId, check: fields.check ?? check } };
}

// SPEC U45
async function judgeUpload(
  store: Store,
  upload: Upload,
  of: {
    readonly facts: ReadFacts;
    readonly place: UploadPlace;
    readonly counts: TestCounts | null;
    readonly protection: OutageProtection;
  },
): Promise<JudgedUpload> {
  const { facts, place, counts, protection } = of;
  const isOut =
    counts !== null && mayBeOutage(counts, protection) && (await isOutageOf(store, upload, { ...of, counts }));
  const flaw = flawOf({ isFork: facts.isFork, hasCommit: place.hasCommit, isOutage: isOut });
  return { flaw, counts };
}

// SPEC U31
async function isOutageOf(
  store: Store,
  upload: Upload,
  of: { readonly facts: ReadFacts; readonly counts: TestCounts; readonly protection: OutageProtection },
): Promise<boolean> {
  if (of.protection.threshold !== null) return isOutage(of.counts, of.protection, []);
  const { repositoryId } = upload;
  const watermark = await store.uploads.getWatermark(repositoryId);
  const { uploads } = await store.uploads.list({ repositoryId, watermark, offset: 0, limit: LOOKED_AT });
  const before = uploads.filter(
    ({ id, fields, flaw }) =>
      id !== upload.id && fields !== null && isSameJob(fields, of.facts.fields) && (flaw === null || flaw === 'OUTAGE'),
  );
  const counts = before.flatMap((other) => other.counts ?? []).slice(0, USUAL_UPLOADS);
  return isOutage(of.counts, of.protection, counts);
}

function isSameJob(one: UploadFields, other: UploadFields): boolean {
  return one.variant === other.variant && (one.check ?? one.jobName) === (other.check ?? other.jobName);
}

/** The issue that people see. For a fork the reader reports it. */
export function flawIssue(flaw: EvidenceFlaw | null, { sha }: UploadFields): Issue | undefined {
  const warning = { level: 'warning', file: null, line: null } as const;
  if (flaw === 'UNKNOWN_COMMIT') {
    const message = `The repository has no commit ${sha}: the upload is evidence for nothing.`;
    return { ...warning, message, hint: 'Name the commit that was tested, in full, and push it before CI runs.' };
  }
  if (flaw === 'OUTAGE') {
    const message = 'Far more tests failed than usual: the upload is evidence for nothing.';
    const hint = 'Not the tests but what they run on seems to have failed. Infrastructure protection is a setting.';
    return { ...warning, message, hint };
  }
  return undefined;
}

/** The uploads of an outage, and those that a person withdrew, are skipped as a whole. */
// SPEC U72
export function endStatusOf({ flaw }: JudgedUpload): 'PROCESSED' | 'SKIPPED' {
  return flaw === 'OUTAGE' || flaw === 'IGNORED' ? 'SKIPPED' : 'PROCESSED';
}

export type Verdict =
  | { readonly kind: 'use'; readonly judged: JudgedUpload }
  | { readonly kind: 'refused'; readonly summary: ReadSummary };

/** A bundle that is refused is known within so many runs. */
const RUNS_BEFORE_REFUSAL = 25_000;

/**
 * Decides whether the upload may be stored, and as which evidence. If an outage is possible, that needs all of it to be
 * read.
 */
export async function judgeFirstPart(
  deps: ProcessingDeps,
  upload: Upload,
  { part: first, place }: { readonly part: UploadPart; readonly place: UploadPlace },
): Promise<Verdict> {
  const { settings } = await deps.use(async (kept) => kept);
  const protection = protectionOf(settings.settings);
  const of = { facts: first.facts, place, protection };
  const isSafe = !protection.isEnabled && first.testRuns >= RUNS_BEFORE_REFUSAL;
  if (first.summary === undefined && isSafe) {
    return { kind: 'use', judged: await judgeUpload(deps.store, upload, { ...of, counts: null }) };
  }
  const count = new TestCount();
  const summary = first.summary ?? (await readThrough(deps, upload, (runs) => count.add(runs)));
  const counts = first.summary === undefined ? count.counts : countTests(first.groups);
  if (summary.isRefused) return { kind: 'refused', summary };
  return { kind: 'use', judged: await judgeUpload(deps.store, upload, { ...of, counts }) };
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

/** Counts the tests that ran, and those that failed without passing, in small memory for any size of upload. */
class TestCount {
  /**
   * Key: the first 52 bits of the test id, which are unique enough. Value: true if the test has passed. Tests that were
   * only skipped are absent.
   */
  readonly #ran = new Map<number, boolean>();

  add(runs: readonly ReadRun[]): void {
    for (const { testId, conclusion } of runs) {
      if (conclusion === 'SKIPPED') continue;
      const key = Number.parseInt(testId.slice(0, 8) + testId.slice(9, 13) + testId.slice(15, 16), 16);
      if (conclusion === 'SUCCESS') this.#ran.set(key, true);
      else if (!this.#ran.has(key)) this.#ran.set(key, false);
    }
  }

  get counts(): TestCounts {
    let failed = 0;
    for (const hasPassed of this.#ran.values()) if (!hasPassed) failed += 1;
    return { ran: this.#ran.size, failed };
  }
}

/** The same of runs that are grouped. */
function countTests(groups: RunsByTest): TestCounts {
  const counts = { ran: 0, failed: 0 };
  for (const runs of groups.values()) {
    if (runs.every(({ conclusion }) => conclusion === 'SKIPPED')) continue;
    counts.ran += 1;
    if (!runs.some(({ conclusion }) => conclusion === 'SUCCESS')) counts.failed += 1;
  }
  return counts;
}
