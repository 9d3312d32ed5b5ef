import type { Sha } from '../../lib/sha.ts';
import type { Base, Candidate } from '../model/candidate.ts';
import { failedChecks, openChecks } from '../model/candidate.ts';
import type { BreakageAsked, LineRead } from '../model/event.ts';
import { type Breakage, type Hold, type HoldCause, type LineStep, mayWork, type Queue } from '../model/queue.ts';
import { APPLIED, amend, ignored, type Outcome, refused, tellAll, type Work } from '../model/work.ts';
import { endBaseTest, findBaseTest, testBase } from './suspicion.ts';

/**
 * While the queue holds on a red head, former heads are tested by themselves to find the commit that broke the branch.
 * It is the first that fails where the one before it passes:
 *
 *   M  #1  #2  #3  #4  #5     #5 is the red head; #3 landed as tested, #4 and #5 did not
 *               pass          first the newest that landed as tested
 *                   fail      then halves: #4 broke it, after two runs
 *
 * A commit that landed as tested and fails by now speaks for a cause outside the branch. So the oldest comes next.
 */

/** One run for the newest that landed as tested, and six that halve as many as this. */
const MOST_AFTER = 64;
/** Two runs failed or were spent before these are halved by five. */
const MOST_BEFORE = 32;

/** Whether former heads may tell what broke the branch: CI works, and the head can be tested. */
export function isSearchable(cause: HoldCause | undefined): boolean {
  return cause?.kind === 'checks' && cause.isOfMachine !== true;
}

// SPEC V90
export function askForLine(work: Work, { again }: BreakageAsked): Outcome {
  const { hold, branch } = work.queue;
  if (!isSearchable(hold?.cause)) {
    const text = `The queue for ${branch} does not hold because its head fails checks: there is nothing to find.`;
    return refused('QUEUE_NOT_HELD', text);
  }
  if (hold?.breakage !== undefined && again !== true) return ignored('The search has begun.');
  endProbe(work);
  amend(work, { hold: { ...(hold as Hold), breakage: undefined } });
  work.effects.push({ kind: 'read_line' });
  return APPLIED;
}

/** `steps` are commits of the first-parent line, oldest first; the last one is the head. */
export function takeLine(work: Work, { steps }: LineRead): Outcome {
  const { hold, head } = work.queue;
  if (hold === undefined || !isSearchable(hold.cause)) return ignored('The queue does not hold for failed checks.');
  if (hold.breakage !== undefined) return ignored('The search has begun.');
  if (steps.length < 2 || steps.at(-1)?.sha !== head?.sha) return ignored('The branch has moved, or is too short.');
  keepBreakage(work, beginSearch(steps));
  return APPLIED;
}

export function beginSearch(steps: readonly LineStep[]): Breakage {
  const last = steps.length - 1;
  const tested = steps.findLastIndex(({ wasTested }) => wasTested === true);
  const isFirst = tested >= 0 && tested < last;
  const from = Math.max(0, last - MOST_AFTER, isFirst ? tested - MOST_BEFORE : 0);
  const line = steps.slice(from);
  return { line, tested: isFirst ? tested - from : -1, passed: -1, failed: line.length - 1, runs: 0 };
}

/** Tests the next former head when the one before has told. */
// SPEC V86
export function searchBreakage(work: Work): void {
  const { hold, head } = work.queue;
  const found = hold?.breakage;
  if (found === undefined || head === undefined || !mayWork(work.queue) || found.isGivenUp) return;
  const { probe } = found;
  if (probe !== undefined) {
    const base = baseOf(work.queue, found, probe);
    // Its commit cannot be tested.
    if (base !== undefined && findBaseTest(work.queue, base) === undefined)
      keepBreakage(work, { ...found, probe: undefined, isGivenUp: true });
    return;
  }
  const next = nextProbe(found);
  const base = next === undefined ? undefined : baseOf(work.queue, found, next);
  if (next === undefined || base === undefined) return;
  keepBreakage(work, { ...found, probe: next, runs: found.runs + 1 });
  const known = findBaseTest(work.queue, base);
  if (known === undefined) testBase(work, base);
  // It may have failed before, and only wait for its other checks.
  else noteProbe(work, known);
}

/** The commit to test next, in `line`. Undefined: the search is over. */
// SPEC V87
export function nextProbe({ tested, passed, failed }: Breakage): number | undefined {
  if (failed - passed === 1) return undefined;
  if (passed < 0 && tested >= 0 && tested < failed) return tested;
  return passed < 0 ? 0 : passed + Math.floor((failed - passed) / 2);
}

/** A former head is an ancestor of each head of this epoch. */
function baseOf({ head }: Queue, { line }: Breakage, index: number): Base | undefined {
  const step = line[index];
  return step === undefined || head === undefined ? undefined : { sha: step.sha, ordinal: 0, epoch: head.epoch };
}

/** Notes the verdict of a test of a former head. True: the run is of no more use. */
export function noteProbe(work: Work, run: Candidate): boolean {
  const { hold } = work.queue;
  const found = hold?.breakage;
  if (hold === undefined || found?.probe === undefined || found.line[found.probe]?.sha !== run.base.sha) return false;
  const isFailed = failsAlike(hold, run);
  if (isFailed === undefined) return false;
  const verdict = isFailed ? { failed: found.probe } : { passed: found.probe };
  keepBreakage(work, { ...found, ...verdict, probe: undefined });
  return true;
}

/** Undefined while the run is not decided, or a check is open that the head fails. */
function failsAlike({ cause }: Hold, run: Candidate): boolean | undefined {
  const names = cause.kind === 'checks' ? cause.names : [];
  const isNamed = (name: string) => names.includes(name);
  if (run.state !== 'failed') return run.state === 'passed' ? false : undefined;
  if (failedChecks(run).some(isNamed) || run.failure?.checks.some(isNamed)) return true;
  return openChecks(run).some(isNamed) ? undefined : false;
}

/** The test of a former head is of no use after the search. */
export function endProbe(work: Work): void {
  const found = work.queue.hold?.breakage;
  const base = found?.probe === undefined ? undefined : baseOf(work.queue, found, found.probe);
  if (base !== undefined) endBaseTest(work, base, { reason: 'TARGET_BRANCH_LEFT' });
}

function keepBreakage(work: Work, breakage: Breakage): void {
  const { hold } = work.queue;
  if (hold === undefined) return;
  amend(work, { hold: { ...hold, breakage } });
  if (breakage.failed - breakage.passed === 1) tellAll(work);
}

export interface Finding {
  /** The commit that broke the branch. Undefined: also the oldest one fails. */
  readonly culprit: LineStep | undefined;
  readonly before: Sha | undefined;
}

/** Undefined while the search goes on, and when it was given up. */
// SPEC V88
export function findingOf({ breakage }: Pick<Hold, 'breakage'>): Finding | undefined {
  if (breakage === undefined || breakage.failed - breakage.passed !== 1) return undefined;
  const { line, passed, failed } = breakage;
  return failed === 0
    ? { culprit: undefined, before: undefined }
    : { culprit: line[failed], before: line[passed]?.sha };
}
