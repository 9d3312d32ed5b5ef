import type { Instant } from '../lib/clock.ts';
import type { CheckResults } from '../storage/test-ingest.ts';
import type { KeptTests } from './kept-tests.ts';
import type { ReadFacts, ReadRun, ReadSummary } from './read/read-run.ts';

/** Which tests of an upload ran, passed and failed, over all of its parts, where a candidate's check is judged by it. */
export class CheckTally {
  /** Numbers by id: a new test may get another number when its part is stored at the second try. */
  readonly #seen = new Map<string, number>();
  readonly #ran = new Set<string>();
  readonly #failed = new Set<string>();

  note(kept: KeptTests, groups: ReadonlyMap<string, readonly ReadRun[]>): void {
    for (const [testId, runs] of groups) {
      const no = kept.byId.get(testId)?.row.no;
      if (no === undefined) continue;
      this.#seen.set(testId, no);
      if (runs.some(({ conclusion }) => conclusion !== 'SKIPPED')) this.#ran.add(testId);
      if (runs.some((run) => isFailure(run, runs))) this.#failed.add(testId);
    }
  }

  results(
    uploadId: string,
    { fields }: Pick<ReadFacts, 'fields'>,
    of: Pick<ReadSummary, 'isWhole' | 'problem'> & { readonly at: Instant },
  ): CheckResults | undefined {
    const { candidateId, check } = fields;
    if (candidateId === null || check === null) return undefined;
    const failing = [...this.#failed];
    const skipped = [...this.#seen].filter(([testId]) => !this.#ran.has(testId)).map(([, no]) => no);
    return {
      candidateId,
      check,
      isWhole: of.isWhole,
      problem: of.problem,
      uploadIds: [uploadId],
      testNos: ascending([...this.#seen.values()]),
      ...(skipped.length > 0 && { skippedNos: ascending(skipped) }),
      failing: failing.map((testId) => ({ testNo: this.#seen.get(testId) as number, testId })),
      at: of.at,
    };
  }
}

function ascending(numbers: readonly number[]): readonly number[] {
  return numbers.toSorted((one, other) => one - other);
}

/**
 * A failed try of a case that ended well is none, nor one that passed at a later try by the report's own count. Any other
 * case of the same name that passed may be another test, as with parameters, and excuses nothing.
 */
function isFailure({ conclusion, rerunOf, attempt }: ReadRun, runs: readonly ReadRun[]): boolean {
  if (conclusion !== 'FAILURE' || rerunOf === 'SUCCESS') return false;
  if (attempt === null) return true;
  return !runs.some((run) => run.conclusion === 'SUCCESS' && run.attempt !== null && run.attempt > attempt);
}

export function isTied({ fields }: ReadFacts): boolean {
  return fields.candidateId !== null && fields.check !== null;
}
