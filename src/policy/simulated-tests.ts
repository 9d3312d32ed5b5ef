import type { Candidate } from '../engine/model/candidate.ts';
import type { JudgementFinding } from '../engine/model/judgement.ts';
import type { FailedTest } from '../engine/model/signature.ts';
import { Prng } from '../lib/prng.ts';
import type { Chance } from './workload.ts';

/** The reports of a simulated run. */
export type SimulatedReport = Pick<JudgementFinding, 'signature' | 'isWhole' | 'answer'>;

/** A run that fails at random fails in one of so many tests. */
const FLAKY_TESTS = 20;

export interface SimulatedRun {
  readonly passes: boolean;
  readonly report: SimulatedReport;
}

/**
 * The reports of a run. `broken` are the tests that fail on its tree. A probe runs only the tests of its question,
 * and meets the flakes of these tests alone. With masking a suite may stop at its first failure.
 */
export function runTests(
  { question }: Pick<Candidate, 'question'>,
  of: { readonly broken: readonly string[]; readonly chance: Chance; readonly draw: string },
): SimulatedRun {
  const { broken, chance, draw } = of;
  const { flakeRate, maskRate = 0 } = chance;
  const prng = new Prng(draw);
  const flake = flakeRate > 0 && prng.chance(flakeRate) ? [`flaky-${prng.integer(FLAKY_TESTS)}`] : [];
  const failing = [...new Set([...broken, ...flake])];
  const asked = question?.flatMap(({ tests }) => tests.map(({ id }) => id));
  if (asked !== undefined) {
    const failed = failing.filter((id) => asked.includes(id));
    const passes = failed.length === 0;
    return { passes, report: { answer: passes ? 'passed' : 'failed', signature: failed.map(toFailed) } };
  }
  const isMasked = failing.length > 0 && maskRate > 0 && prng.chance(maskRate);
  const shown = isMasked ? failing.slice(0, 1) : failing;
  return {
    passes: failing.length === 0,
    report: { signature: shown.map(toFailed), ...(!isMasked && { isWhole: true }) },
  };
}

function toFailed(id: string): FailedTest {
  return { id, name: id };
}
