/**
 * An upload in parts, which are stored one by one, and the counts over all of them. The cuts depend only on the runs:
 * after a crash the same parts come again, and the stored ones are skipped.
 */
import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import { groupByPath } from '../flaky/core/paths.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import type { PlaceQuestion, UploadPlace } from '../flaky/upload-place.ts';
import { failsInTheEnd, NO_TRIES, noteTry, type Tries } from '../junit/junit-case.ts';
import type { Instant, Timing } from '../lib/clock.ts';
import type { Store } from '../storage/store.ts';
import { ANY_CHECK, type CheckResults } from '../storage/test-ingest.ts';
import type { Upload, UploadOutcome } from '../storage/uploads.ts';
import type { Kept } from './kept-repositories.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ReadFacts, ReadItem, ReadRun, ReadSummary } from './read/read-run.ts';

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
  /** Called when the last part is about to be stored. */
  onLastPart(): void;
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

/** By test id, in reading order. */
export type RunsByTest = ReadonlyMap<string, readonly ReadRun[]>;

export interface UploadPart {
  /** From 0. */
  readonly no: number;
  readonly facts: ReadFacts;
  readonly groups: RunsByTest;
  /** The number of its runs. */
  readonly testRuns: number;
  /** Set on the last part. */
  readonly summary: ReadSummary | undefined;
}

export interface PartLimits {
  readonly runs: number;
  /** Characters of failure texts: failed runs are much larger than others. */
  readonly text: number;
}

/** One or two thousand failures: a larger transaction would delay other writers. */
export const PART_LIMITS: PartLimits = { runs: 50_000, text: 2_000_000 };
/** The cost of a failure without text. */
const FAILURE_CHARS = 500;
/** Adjacent runs of one test stay in one part, up to this stretch of the limit. */
const STRETCH = 1.2;

export type Reading = AsyncGenerator<ReadItem, ReadSummary>;

/** Returns the summary of a reading that had no facts and so no part. */
// SPEC U73
export async function* cutIntoParts(
  reading: Reading,
  { limits, step }: { readonly limits: PartLimits; readonly step: () => Promise<void> },
): AsyncGenerator<UploadPart, ReadSummary> {
  let facts: ReadFacts | undefined;
  let groups = new Map<string, ReadRun[]>();
  let lastId = '';
  let testRuns = 0;
  let text = 0;
  let no = 0;
  try {
    for (;;) {
      await step();
      const item = await reading.next();
      if (item.done === true) {
        if (facts !== undefined) yield { no, facts, groups, testRuns, summary: item.value };
        return item.value;
      }
      if (item.value.kind === 'facts') {
        facts = item.value;
        continue;
      }
      for (const run of item.value.runs) {
        const isFull = testRuns >= limits.runs || text >= limits.text;
        if (isFull && (lastId !== run.testId || testRuns >= limits.runs * STRETCH)) {
          if (facts === undefined) throw new Error('runs came before what they have in common');
          yield { no, facts, groups, testRuns, summary: undefined };
          no += 1;
          groups = new Map();
          testRuns = 0;
          text = 0;
        }
        const group = groups.get(run.testId);
        if (group === undefined) groups.set(run.testId, [run]);
        else group.push(run);
        lastId = run.testId;
        testRuns += 1;
        if (run.conclusion === 'FAILURE') text += FAILURE_CHARS + lengthOf(run);
      }
    }
  } finally {
    // Closes the files if the consumer stops early.
    await reading.return?.(undefined as never);
  }
}

function lengthOf({ failure }: ReadRun): number {
  return failure === null ? 0 : failure.message.length + failure.text.length;
}

/** The tests of an upload that ran, passed and failed, over all of its parts, for judging a candidate's check. */
export class CheckTally {
  /** Keyed by id: a new test may get another number if its part is stored at the second attempt. */
  readonly #seen = new Map<string, number>();
  readonly #ran = new Set<string>();
  /** Paths by id. */
  readonly #failed = new Map<string, Set<string | null>>();

  note(kept: KeptTests, groups: RunsByTest): void {
    for (const [testId, runs] of groups) {
      const no = kept.byId.get(testId)?.row.no;
      if (no === undefined) continue;
      this.#seen.set(testId, no);
      if (runs.some(({ conclusion }) => conclusion !== 'SKIPPED')) this.#ran.add(testId);
      for (const [path, ofPath] of groupByPath(runs)) {
        if (failsInTheEnd(ofPath.reduce(noteRun, NO_TRIES))) this.#noteFailed(testId, path);
      }
    }
  }

  #noteFailed(testId: string, path: string | null): void {
    const known = this.#failed.get(testId);
    if (known === undefined) this.#failed.set(testId, new Set([path]));
    else known.add(path);
  }

  /** A failure counts in any upload. Of one that is evidence for nothing, a pass does not. */
  // SPEC V60
  results(
    uploadId: string,
    { fields }: Pick<ReadFacts, 'fields'>,
    of: Pick<ReadSummary, 'isWhole' | 'problem'> & { readonly flaw: EvidenceFlaw | null; readonly at: Instant },
  ): CheckResults | undefined {
    const { candidateId, check: named } = fields;
    if (candidateId === null) return undefined;
    const check = named ?? ANY_CHECK;
    const { isWhole, problem, at } = of;
    const failing = [...this.#failed].map(([testId, paths]) => ({
      testNo: this.#seen.get(testId) as number,
      testId,
      paths: [...paths],
    }));
    const common = { candidateId, check, isWhole, problem, failing, at };
    if (of.flaw !== null) return { ...common, uploadIds: [], testNos: [] };
    const skipped = [...this.#seen].filter(([testId]) => !this.#ran.has(testId)).map(([, no]) => no);
    return {
      ...common,
      uploadIds: [uploadId],
      testNos: ascending([...this.#seen.values()]),
      ...(skipped.length > 0 && { skippedNos: ascending(skipped) }),
    };
  }
}

function ascending(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((one, other) => one - other);
}

/** A failed attempt of a case that ended well is no failure. */
function noteRun(tries: Tries, { conclusion, rerunOf, attempt }: ReadRun): Tries {
  if (conclusion === 'SKIPPED' || rerunOf === 'SUCCESS') return tries;
  return noteTry(tries, { hasFailed: conclusion === 'FAILURE', attempt });
}

export function isTied({ fields }: ReadFacts): boolean {
  return fields.candidateId !== null;
}

/** Everything that is counted over all parts of an upload. */
export class UploadTally {
  readonly checks = new CheckTally();
  readonly sharedIds = new SharedIds();
  readonly reached: ReachedLimits;

  /** `issues` are those stored with the earlier parts. */
  constructor(limits: TestLimits, issues: readonly Issue[]) {
    this.reached = new ReachedLimits(limits, issues);
  }
}

const MAX_LISTED = 5;

/** Reports the tests of an upload that share an id across several suites, as an issue. */
// SPEC F36
class SharedIds {
  #count = 0;
  readonly #names: string[] = [];

  note(groups: RunsByTest): void {
    for (const runs of groups.values()) {
      if (runs.length < 2 || groupByPath(runs).size < 2) continue;
      this.#count += 1;
      const { parent, name } = (runs[0] as ReadRun).names;
      if (this.#names.length < MAX_LISTED) this.#names.push(parent === '' ? name : `${parent} > ${name}`);
    }
  }

  issues(): readonly Issue[] {
    if (this.#count === 0) return [];
    const tests = this.#count === 1 ? 'A test id stands' : `${this.#count} test ids stand`;
    const names = this.#names.join(', ').slice(0, 300).toWellFormed();
    const message = `${tests} for tests of one name in several suites: ${names}.`;
    const hint = 'Give each test of a file a name of its own. A quarantine covers only the suites that it was made of.';
    return [{ level: 'warning', file: null, line: null, message, hint }];
  }
}

export interface TestLimits {
  /** An upload with more new tests gets a smaller share of the time. */
  readonly maxNewTests: number;
  /** A repository with more tests takes in only failing new ones. */
  readonly maxRepositoryTests: number;
}

/**
 * The limits that an upload has reached in any of its parts. They are kept as issues, so that they survive a crash with
 * the upload.
 */
export class ReachedLimits {
  readonly #limits: TestLimits;
  readonly #issues = new Map<string, Issue>();
  #newTests = 0;

  /** `issues` are those stored with the earlier parts. */
  constructor(limits: TestLimits, issues: readonly Issue[]) {
    this.#limits = limits;
    for (const issue of [manyTests(limits), fullRepository(limits)])
      if (issues.some(({ message }) => message === issue.message)) this.#issues.set(issue.message, issue);
  }

  get issues(): readonly Issue[] {
    return [...this.#issues.values()];
  }

  /** Tests were left out, so the results are incomplete. */
  get problem(): string | null {
    return this.#issues.get(fullRepository(this.#limits).message)?.message ?? null;
  }

  noteNewTests(count: number): void {
    this.#newTests += count;
    if (this.#newTests > this.#limits.maxNewTests) this.#note(manyTests(this.#limits));
  }

  /** Leaves out new tests beyond the limit, but never a failing one. */
  leaveOut(groups: RunsByTest, of: { readonly known: (id: string) => boolean; readonly count: number }): RunsByTest {
    let room = this.#limits.maxRepositoryTests - of.count;
    const taken = new Map<string, readonly ReadRun[]>();
    for (const [id, runs] of groups) {
      const isKnown = of.known(id);
      if (!isKnown && room <= 0 && !runs.some(({ conclusion }) => conclusion === 'FAILURE')) continue;
      if (!isKnown) room -= 1;
      taken.set(id, runs);
    }
    if (taken.size === groups.size) return groups;
    this.#note(fullRepository(this.#limits));
    return taken;
  }

  #note(issue: Issue): void {
    this.#issues.set(issue.message, issue);
  }
}

function manyTests({ maxNewTests }: TestLimits): Issue {
  const message = `It brings more than ${maxNewTests} tests that were never seen before: the rest was processed behind the uploads of others.`;
  return ofManyNames(message, 'SLUICE_UPLOAD_NEW_TESTS');
}

function fullRepository({ maxRepositoryTests }: TestLimits): Issue {
  const message = `The repository has ${maxRepositoryTests} tests, which is the most it may have: of tests that were never seen before only those that failed were taken in.`;
  return ofManyNames(message, 'SLUICE_REPOSITORY_TESTS');
}

function ofManyNames(message: string, limit: string): Issue {
  const hint = `Do names of tests hold something that changes with every run, such as a time or a random number? ${limit} is the limit.`;
  return { level: 'warning', file: null, line: null, message, hint };
}
