import type { LastPass, RunResults } from './judge-check.ts';

/** A test that a probe has to answer. */
interface AskedTest {
  readonly testId: string;
  /** Undefined: the test was forgotten meanwhile. */
  readonly testNo: number | undefined;
}

export interface QuestionFacts {
  readonly asked: readonly AskedTest[];
  /** An upload of the probe is still unprocessed. */
  readonly isWaiting: boolean;
  /** No more results are waited for. */
  readonly isComplete: boolean;
  readonly results: RunResults | undefined;
  /** The results may include those of an earlier run of this probe. */
  readonly isOfSeveralRuns: boolean;
  /** The tests of the last pass of the check on the base; null: no pass is known. */
  readonly lastPass: LastPass | null;
}

/** none: the reports say nothing about the question. open: more results may change that. */
export interface QuestionAnswer {
  readonly kind: 'passed' | 'failed' | 'none' | 'open';
  /** The ids of the tests of the question that failed. */
  readonly failed: readonly string[];
}

/**
 * The answer of the reports of a probe, whatever else ran. A test that neither these reports nor those of
 * the last pass know came with the pull requests that the probe leaves out.
 */
// SPEC B18
export function answerQuestion(facts: QuestionFacts): QuestionAnswer {
  const { asked, results, isWaiting, isComplete } = facts;
  const none = { kind: isComplete && !isWaiting ? 'none' : 'open', failed: [] } as const;
  if (isWaiting || results === undefined || facts.isOfSeveralRuns) return none;
  const failing = new Set(results.failing.map(({ testId }) => testId));
  const failed = asked.flatMap(({ testId }) => (failing.has(testId) ? testId : []));
  if (failed.length > 0) return { kind: 'failed', failed };
  if (!results.isWhole || !asked.every((test) => hasPassed(facts, results, test))) return none;
  return { kind: 'passed', failed: [] };
}

function hasPassed({ lastPass }: QuestionFacts, results: RunResults, { testNo }: AskedTest): boolean {
  if (testNo === undefined || results.skippedNos?.includes(testNo) === true) return false;
  if (results.testNos.includes(testNo)) return true;
  const isKnown = lastPass?.isWhole !== true || lastPass.isWaiting || lastPass.testNos.length === 0;
  return !isKnown && !lastPass.testNos.includes(testNo);
}
