import type { EvidenceFlaw } from '../flaky/core/evidence.ts';
import { groupByPath } from '../flaky/core/paths.ts';
import type { Issue } from '../flaky/identity/issue.ts';
import type { TestCounts } from '../flaky/outage.ts';
import { failsInTheEnd, NO_TRIES, noteTry, type Tries } from '../junit/junit-case.ts';
import type { Instant } from '../lib/clock.ts';
import { ANY_CHECK, type CheckResults } from '../storage/test-ingest.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ReadFacts, ReadRun, ReadSummary } from './read/read-run.ts';
import { ReachedLimits, type TestLimits } from './test-limits.ts';
import type { RunsByTest } from './upload-parts.ts';

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

/** Counts the tests that ran, and those that failed without passing, in small memory for any size of upload. */
export class TestCount {
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
export function countTests(groups: RunsByTest): TestCounts {
  const counts = { ran: 0, failed: 0 };
  for (const runs of groups.values()) {
    if (runs.every(({ conclusion }) => conclusion === 'SKIPPED')) continue;
    counts.ran += 1;
    if (!runs.some(({ conclusion }) => conclusion === 'SUCCESS')) counts.failed += 1;
  }
  return counts;
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
