import { findingOf } from '../engine/evidence/breakage.ts';
import { isRetestedSoon, nextHeadTestAt } from '../engine/evidence/hold.ts';
import type { Frozen, FrozenTime } from '../engine/model/freeze.ts';
import type { Hold, HoldCause, Queue } from '../engine/model/queue.ts';
import type { Instant } from '../lib/clock.ts';
import { present } from '../lib/present.ts';
import { type ExplanationReason, type FailedCheck, reason } from './explanation.ts';
import { checksOr, clockTime, count, minuteOf, shortSha, timeOf } from './phrases.ts';
import { tellChange } from './reasons.ts';
import { failureReasons } from './tests.ts';

/** The reasons that keep the whole queue: a decision of a person, or a stop by Sluice. */
export function queueReasons(queue: Queue, now: Instant): ExplanationReason[] {
  if (queue.parked !== undefined) {
    return [reason('QUEUE_PARKED', `Sluice stopped this queue: ${queue.parked.reason}. An operator must look at it.`)];
  }
  switch (queue.state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return [
        reason(
          'QUEUE_PAUSED',
          `${stateText(queue, now, 'paused')} Tests that run already go on; nothing else is admitted, tested or landed until the queue is resumed. Nothing for you to do.`,
        ),
      ];
    case 'DRAINING':
      return [
        reason(
          'QUEUE_DRAINING',
          `${stateText(queue, now, 'draining')} The queue finishes the pull requests that are in it and admits no new ones.`,
        ),
      ];
    case 'SWITCHING_MODES':
      return [
        reason(
          'QUEUE_SWITCHING_MODES',
          `The queue switches to ${queue.modeSwitch?.to} mode once the pull requests in it have landed or left.`,
        ),
      ];
  }
}

/** "The queue has been paused since 12:04 UTC, until 17:00 UTC, by ada: release 4.2." */
function stateText({ stateChange }: Queue, now: Instant, state: string): string {
  if (stateChange === undefined) return `The queue is ${state}.`;
  const { by, at, reason: why, until } = stateChange;
  const end = until === undefined ? '' : `, until ${timeOf(until, now)}`;
  const because = why === undefined ? '.' : `: ${/[.!?]$/.test(why) ? why : `${why}.`}`;
  return `The queue has been ${state} since ${timeOf(at, now)}${end}, by ${by}${because}`;
}

/** "Frozen until 2026-11-23 07:00 UTC (weekend): nothing lands, tests go on." The end comes first: lines are cut. */
export function frozenText({ name, since, until, urgent }: Frozen): string {
  const begin = `Frozen until ${minuteOf(until)} (${name}): nothing lands, tests go on.`;
  const end = `Since ${minuteOf(since)}.`;
  if (urgent === undefined) return `${begin} Urgent pull requests land. ${end}`;
  if (urgent.until === until) return `${begin} ${end}`;
  return `${begin} Urgent pull requests land from ${minuteOf(urgent.until)}, when ${urgent.name} ends. ${end}`;
}

// SPEC Q23
export function freezeReason(freeze: FrozenTime, now: Instant): ExplanationReason {
  const { name, since, until } = freeze;
  const text = `The queue is frozen (${name}) since ${timeOf(since, now)}. Tests go on; it cannot land until ${timeOf(until, now)}. Nothing for you to do.`;
  return reason('QUEUE_FROZEN', text, { since });
}

/** `held` are the failed checks of the branch itself. */
export function targetReasons(queue: Queue, held: readonly FailedCheck[] = []): ExplanationReason[] {
  const { head, heads, hold, branch } = queue;
  if (head === undefined) {
    const text = heads > 0 ? 'does not exist any more' : 'was not found yet, or does not exist';
    return [reason('TARGET_UNKNOWN', `The branch ${branch} ${text}.`)];
  }
  return hold === undefined ? [] : [{ ...holdReason(queue, hold), reasons: failureReasons(held).map(ofBranch) }];
}

/** Failures of the entry itself have another code. */
function ofBranch(failed: ExplanationReason): ExplanationReason {
  return { ...failed, code: 'TARGET_CHECK_FAILED' };
}

export function holdReason(queue: Queue, { cause, candidate, since }: Hold): ExplanationReason {
  const { branch } = queue;
  const about = { since, ...present({ testRun: candidate }) };
  if (cause.kind === 'configuration') {
    const text = `The queue is held: nothing can be tested on ${branch}. ${configurationText(queue, cause)} No pull request is removed for that. ${headTestText(queue)}`;
    return reason('CONFIGURATION_BROKEN', text, about);
  }
  const names = checksOr(cause.names, 'its checks');
  if (cause.isOfMachine) {
    const text = `The queue is held: CI seems to be down, because ${names} ended without a verdict also on ${branch} itself. No pull request is removed for that. ${headTestText(queue)} ${CI_MENDER}`;
    return reason('CI_DOWN', text, about);
  }
  const found = breakageText(queue);
  const text = `The queue is held: the head of ${branch} itself fails ${names}. No pull request is removed for that, and nothing else is tested until ${branch} passes or moves, the queue is resumed (sluice queue resume), or the command of a check changes. ${headTestText(queue)}${found === undefined ? '' : ` ${found}`}`;
  return reason('TARGET_RED', text, about);
}

/** The commit that broke the branch, or how far the search for it is. */
// SPEC V88
export function breakageText({ branch, hold }: Pick<Queue, 'branch' | 'hold'>): string | undefined {
  const breakage = hold?.breakage;
  const finding = hold && findingOf(hold);
  if (breakage === undefined) return undefined;
  const commits = breakage.line.length - 1;
  if (finding === undefined) {
    const among = `the ${count(commits, 'commit')} before it`;
    return breakage.isGivenUp
      ? `The cause was not found: one of ${among} cannot be tested. Look again: sluice breakage --again.`
      : `To find the cause, ${among} are tested, one at a time (run ${Math.max(breakage.runs, 1)} of 7 at most).`;
  }
  const { culprit, before } = finding;
  if (culprit === undefined) {
    const tested = breakage.line[breakage.tested];
    const oldest = `${branch} as it was ${count(commits, 'commit')} ago fails, too`;
    const passed = tested === undefined ? '' : ', and so does a commit that passed when it landed';
    return `No commit of these is the cause: ${oldest}${passed}. Look at CI, and at what tests need from outside.`;
  }
  const sha = shortSha(culprit.sha);
  const proof = `it fails, and ${shortSha(before ?? '')} before it passes`;
  return culprit.prNumber === undefined
    ? `The likely cause is the commit ${sha}, which was pushed past the queue: ${proof}. Take it back: sluice revert ${culprit.sha}`
    : `The likely cause is #${culprit.prNumber}, which landed as ${sha}: ${proof}. Take it back: sluice revert ${culprit.prNumber}`;
}

const CI_MENDER =
  'An administrator of CI mends it (a full disk, a lost machine or a missing command). It goes on sooner if the queue is resumed (sluice queue resume), or the command of a check changes.';

/** The text of the alarm that begins with a hold. `held` are the failed checks of the branch itself. */
export function holdAlarmText(
  queue: Pick<Queue, 'branch'>,
  cause: HoldCause,
  held: readonly FailedCheck[] = [],
): string {
  const { branch } = queue;
  if (cause.kind === 'checks') {
    const how = failureReasons(held).map(({ text, url }) => ` ${text}${url === undefined ? '' : ` ${url}`}`);
    const down = cause.isOfMachine ? ` CI seems to be down. ${CI_MENDER}` : '';
    return `The head of ${branch} itself fails ${checksOr(cause.names, 'its checks')}.${how.join('')}${down} The queue holds until the head passes or moves, somebody resumes the queue, or the command of a check changes; Sluice tests the head again automatically. A pull request that is submitted now is tested alone on it, and lands if it passes.`;
  }
  return `Nothing can be tested on ${branch}. ${configurationText(queue, cause)} The queue holds, and Sluice looks again automatically.`;
}

function configurationText(
  { branch }: Pick<Queue, 'branch'>,
  cause: Extract<HoldCause, { readonly kind: 'configuration' }>,
): string {
  const { text, advice = '' } = tellChange({ to: 'FAILED', branch, because: cause });
  return `${text} ${advice.replace(' Then submit it again.', '')}`;
}

function headTestText(queue: Queue): string {
  const at = nextHeadTestAt(queue);
  return at === undefined
    ? `Sluice tests ${queue.branch} again now.`
    : `Sluice tests ${queue.branch} again at ${clockTime(at)}${queue.hold !== undefined && isRetestedSoon(queue.hold.cause) ? ', and at least every 15 minutes' : ''}.`;
}
