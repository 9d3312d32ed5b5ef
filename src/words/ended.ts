import { findBaseTest } from '../engine/evidence/suspicion.ts';
import { blameOf } from '../engine/model/blame.ts';
import type { Entry, Queue } from '../engine/model/queue.ts';
import type { Instant } from '../lib/clock.ts';
import { present } from '../lib/present.ts';
import { type Beyond, commandsOf, type Explanation, reason } from './explanation.ts';
import { headlineOf } from './headlines.ts';
import { flakeReasons } from './new-flakes.ts';
import { listNumbers, listOf, minuteOf, prName, shortSha, theChecks } from './phrases.ts';
import { type Told, tellChange, withCode } from './reasons.ts';
import { failureReasons, isHopeful, isOnlyShadowed, judgementReasons, shadowedTests } from './tests.ts';

const TO_FIX: ReadonlySet<string> = new Set(['TEST_RUN_REQUIRED_STATUS_FAILED', 'TEST_RUN_FAILED_BY_OPTIMIZATION']);

// SPEC E22
export function explainEnded(queue: Queue, entry: Entry, beyond: Beyond): Explanation {
  const { branch } = queue;
  const { state, because, prNumber, landed } = entry;
  const told = tellEnd(queue, entry, beyond);
  const text = withCode({ to: state, because }, told.text);
  const { last, failed = [] } = beyond;
  const headline = headlineOf(queue, entry).text;
  const about = present({ prNumber: because.prNumber, testRun: because.candidate, check: because.checks?.[0] });
  const why = reason(because.reason, text, about, state === 'FAILED' ? failureReasons(failed) : []);
  const isOver = (state === 'MERGED' || landed !== undefined) && entry.lost === undefined;
  return {
    headline,
    summary:
      state === 'MERGED'
        ? `Pull request #${prNumber} (MERGED): ${text}`
        : `Pull request #${prNumber}: ${headline} (${state}). ${text}`,
    next: isOver ? nextAfterLanding(entry, branch) : nextAfterEnd(queue, entry, told),
    commands:
      isOver || (entry.lost !== undefined && queue.hasPages)
        ? []
        : commandsOf(beyond, (place) => [`sluice pr submit ${place} ${prNumber}`]),
    reasons: [why, ...flakeReasons(entry), ...(last === undefined ? [] : judgementReasons(last))],
  };
}

function nextAfterLanding({ newFlakes }: Entry, branch: string): string {
  if (newFlakes.length === 0) return `Nothing to do: it is on ${branch}.`;
  return `It is on ${branch}. Make ${newFlakes.length === 1 ? 'this test' : 'these tests'} reliable in another pull request.`;
}

// SPEC E34
function nextAfterEnd(queue: Queue, entry: Entry, { advice = 'Submit it again.' }: Told): string {
  const { branch } = queue;
  return isDoubtful(queue, entry)
    ? `Other pull requests failed in the same way, so Sluice tests ${branch} alone. If ${branch} fails too, this pull request comes back automatically. If ${branch} passes: ${advice}`
    : advice;
}

/** The branch is under test, because it may be what failed. */
export function isDoubtful(queue: Queue, { prNumber, submission }: Entry): boolean {
  return queue.suspicions.some(
    ({ base, removals }) =>
      removals.some(({ entry }) => entry.prNumber === prNumber && entry.submission === submission) &&
      findBaseTest(queue, base) !== undefined,
  );
}

/** With the facts from beyond the queue, the sentence says more than the timeline does. */
export function tellEnd(queue: Pick<Queue, 'branch' | 'hasPages'>, entry: Entry, beyond: Beyond): Told {
  const { branch } = queue;
  if (entry.lost !== undefined) return tellLoss(queue, entry, entry.lost.at);
  const told = tellChange({ to: entry.state, branch, because: entry.because, landed: entry.landed });
  if (entry.state !== 'FAILED' || !TO_FIX.has(entry.because.reason)) return told;
  const { last, failed = [] } = beyond;
  if (last !== undefined && isOnlyShadowed(last)) {
    const tests = shadowedTests(last);
    const which = `${tests.length === 1 ? 'the quarantined test' : 'quarantined tests'} ${listOf(tests)}`;
    const text = `${theChecks(entry.because.checks)} failed only in ${which}.`;
    return {
      text,
      advice:
        'There is nothing to fix. An administrator sets honorQuarantine ON, so that such failures do not count. Then submit it again.',
    };
  }
  if (entry.because.alone !== undefined || blameOf(entry.state, entry.because) !== 'AUTHOR') return told;
  const only = entry.because.reason === 'TEST_RUN_REQUIRED_STATUS_FAILED' ? ONLY_CHANGE : '';
  const text = onTopText(entry, beyond) ?? told.text + only;
  if (!isHopeful(failed)) return { ...told, text };
  const tests = listOf(failed.flatMap((check) => check.tests.map(({ name, kind }) => `${name} (${kind})`)));
  return {
    text: `${onTopText(entry, beyond) ?? told.text} Only tests failed that fail without it too: ${tests}.`,
    advice: 'The failure may be chance: confirmFailures NEVER of the queue removes at the first one. Submit it again.',
  };
}

const ONLY_CHANGE = ' It was the only new change in that run, so the failure counts as its own.';

/** Forges close a pull request that landed, for good. Plain git has nothing to close. */
function tellLoss({ branch, hasPages }: Pick<Queue, 'branch' | 'hasPages'>, { landed }: Entry, at: Instant): Told {
  const as = landed === undefined ? '' : ` as ${shortSha(landed.sha)}`;
  const again = hasPages ? 'Open it again as a new pull request' : 'Submit it again';
  return {
    text: `Landed${as}; ${branch} was rewritten at ${minuteOf(at)} and no longer contains it.`,
    advice: `${again}, or ask who pushed.`,
  };
}

/** "The check ci failed when it was tested on top of #2 "Add a cart" (landed since as 2644671)." */
function onTopText({ because }: Entry, { gone }: Beyond): string | undefined {
  const { onTopOf = [], checks } = because;
  if (onTopOf.length === 0 || gone === undefined) return undefined;
  const ahead = onTopOf.map((prNumber) => {
    const { title, landedSha } = gone.get(prNumber) ?? {};
    return `${prName({ prNumber, title })}${landedSha === undefined ? '' : ` (landed since as ${shortSha(landedSha)})`}`;
  });
  // Entries that landed are beneath it from now on.
  const left = onTopOf.filter((prNumber) => gone.get(prNumber)?.landedSha === undefined);
  const without =
    left.length === 0
      ? ' That passed without it, so the failure counts as its own.'
      : ` It may pass without ${listNumbers(left)}.`;
  return `${theChecks(checks)} failed when it was tested on top of ${listOf(ahead)}.${without}`;
}
