import { formatInstant, type Instant } from '../lib/clock.ts';
import { formGroups } from './batch.ts';
import { type Candidate, type CandidateNumber, isRunAgain, isUnderTest, openChecks } from './candidate.ts';
import { isBehindDirectMerge } from './direct-merge.ts';
import { type Explanation, type ExplanationReason, judgementReasons, openReason, reason } from './explanation.ts';
import { isPossibleRepair, nextHeadTestAt } from './hold.ts';
import { freeSlots } from './plan.ts';
import { parsePriority, raisedValue } from './priority.ts';
import type { BlockReason } from './pull-request.ts';
import { type Entry, findCandidate, type Hold, isAdmitted, isLive, lineLimit, type Queue } from './queue.ts';
import { readinessOf } from './readiness.ts';
import { reasonText } from './reason.ts';
import { admittedInOrder, candidatesFor, lineOf, unlanded } from './roster.ts';
import { isSilent } from './silence.ts';
import { REFERENCE_STRATEGY } from './strategy.ts';
import { isSuspected } from './suspicion.ts';
import { holdEndsAt } from './verdict.ts';
import { voucherOf } from './vouch.ts';

/**
 * Explains in words why an entry is in its state. A pure function of the queue. `last` is the candidate that an ended
 * entry ended with.
 */
// SPEC E12
export function explain(queue: Queue, entry: Entry, now: Instant, last?: Candidate): Explanation {
  if (!isLive(entry.state)) return explainEnded(queue, entry, last);
  if (!isAdmitted(entry)) return explainNotReady(queue, entry);
  return explainAdmitted(queue, entry, now);
}

function explainEnded({ branch }: Queue, entry: Entry, last: Candidate | undefined): Explanation {
  const { reason: code, prNumber, checks, detail } = entry.because;
  const context = { to: entry.state, branch, actor: undefined, prNumber, checks, detail };
  const why = reason(code, reasonText(code, context), { ...whatOf(entry) });
  return {
    summary: `Pull request #${entry.prNumber} left the queue: it is ${entry.state}. ${why.text}`,
    next: entry.state === 'MERGED' ? 'Nothing: it is on the target branch.' : 'Submit it again to queue it again.',
    reasons: [why, ...(last === undefined ? [] : judgementReasons(last))],
  };
}

function explainNotReady(queue: Queue, entry: Entry): Explanation {
  const reasons = [...queueReasons(queue), ...entryReasons(queue, entry)];
  if (reasons.length === 0) reasons.push(...waitsForRoom(queue, entry));
  const [first] = reasons;
  return {
    summary: `Pull request #${entry.prNumber} is submitted and waits to be admitted.${first === undefined ? '' : ` ${first.text}`}`,
    next: 'It enters the queue by itself as soon as nothing of this stands in its way.',
    reasons,
  };
}

function waitsForRoom(queue: Queue, entry: Entry): ExplanationReason[] {
  if (entry.candidate !== undefined) {
    return [
      reason('LANDING_DIRECTLY', 'It is up to date and has passed its checks: it is being landed directly.', {
        testRun: entry.candidate,
      }),
    ];
  }
  if (isBehindDirectMerge(queue, entry)) {
    return [
      reason('BEHIND_DIRECT_MERGE', 'A pull request that it overlaps with is being landed directly: it is next.'),
    ];
  }
  const text = `The line is full: ${queue.index.admitted} pull requests are in it, and it holds ${lineLimit(queue)}.`;
  return [reason('LINE_FULL', text)];
}

function explainAdmitted(queue: Queue, entry: Entry, now: Instant): Explanation {
  const order = admittedInOrder(queue);
  const position = order.findIndex((other) => other.prNumber === entry.prNumber) + 1;
  // While the queue holds, a pending entry waits for nothing else.
  const isHeld = queue.hold !== undefined && entry.candidate === undefined;
  const own = isHeld ? [] : reasonsOf(queue, entry, now, MAX_DEPTH);
  const reasons = [...queueReasons(queue), ...targetReasons(queue), ...own];
  const [first] = reasons;
  return {
    summary: `Pull request #${entry.prNumber} is ${entry.state}, number ${position} of ${order.length} in the queue.${first === undefined ? '' : ` ${first.text}`}`,
    position,
    next: nextOf(queue, entry),
    reasons,
  };
}

/** A line may be long, so reasons of reasons are cut at this depth. */
const MAX_DEPTH = 4;

/** The reasons why an entry of the line waits, with their own reasons. */
function reasonsOf(queue: Queue, entry: Entry, now: Instant, depth: number): ExplanationReason[] {
  if (depth === 0) return [];
  if (entry.conflictsWith !== undefined) return [conflictReason(entry)];
  if (entry.bisection !== undefined) return [bisectionReason(queue, entry, now)];
  const candidate = entry.candidate === undefined ? undefined : findCandidate(queue, entry.candidate);
  if (candidate === undefined) return pendingReasons(queue, entry, now, depth);
  const voucher = voucherOf(queue, entry);
  if (voucher !== undefined) return [vouchReason(voucher)];
  switch (candidate.state) {
    case 'passed':
      return passedReasons(queue, candidate, now, depth);
    case 'failed':
      return isRunAgain(candidate) ? [runAgainReason(candidate)] : failedReasons(queue, candidate, now, depth);
    case 'waiting':
      return [reason('WAITING_FOR_SLOT', 'Its tests start again as soon as a slot is free.')];
    default:
      return [testingReason(queue, candidate, now)];
  }
}

function testingReason(queue: Queue, candidate: Candidate, now: Instant): ExplanationReason {
  const { number, state, sameTreeAs, testingSince, plannedAt, required } = candidate;
  const testRun = number;
  if (state === 'building')
    return reason('BUILDING', 'The commit to test is being built.', { testRun, since: plannedAt });
  if (sameTreeAs === number)
    return reason('CHECKS_WAITING', 'Its commit is built; its checks start when the queue goes on.', { testRun });
  if (sameTreeAs !== undefined) {
    return reason('WAITING_FOR_EQUAL_TREE', 'Exactly the same tree is under test: its result is waited for.', {
      testRun: sameTreeAs,
    });
  }
  const open = openChecks(candidate);
  const total = required?.names.length ?? 0;
  const since = testingSince ?? plannedAt;
  const ahead = unlanded(queue, candidate.beneath).map(({ prNumber }) => `#${prNumber}`);
  const isRepair = candidate.purpose.kind === 'repair';
  const alone = isRepair ? ` alone on ${queue.branch}, which it may repair` : '';
  const where = ahead.length === 0 ? alone : ` on top of ${listOf(ahead)}`;
  const which = open.length === 0 ? '' : ` (${listOf(open)})`;
  const text = `Its tests run${where}: ${open.length} of ${total} required checks are open${which}.`;
  return {
    ...reason('TESTING', text, { testRun, since }),
    reasons: [
      ...silenceReasons(candidate, now),
      ...open.map((check) => openReason(candidate, check)),
      ...judgementReasons(candidate),
    ],
  };
}

/**
 * A new setup often reports under other names or not at all. Without this reason the author would learn it from the
 * timeout.
 */
function silenceReasons(candidate: Candidate, now: Instant): ExplanationReason[] {
  const { number: testRun, testingSince: since } = candidate;
  if (since === undefined || !isSilent(candidate, now)) return [];
  const text = `Nothing was heard of its required checks since ${clockTime(since)}: CI may not run for test branches, or reports under other names.`;
  return [reason('CI_SILENT', text, { testRun, since })];
}

function passedReasons(queue: Queue, candidate: Candidate, now: Instant, depth: number): ExplanationReason[] {
  if (queue.landing?.candidate === candidate.number) {
    return [
      reason('LANDING', 'It is being landed right now.', { testRun: candidate.number, since: queue.landing.since }),
    ];
  }
  const ahead = unlanded(queue, candidate.beneath);
  if (ahead.length > 0) return [...waitingForSome(queue, ahead, now, depth), ...judgementReasons(candidate)];
  return [
    reason('LANDS_NEXT', 'It has passed and lands as soon as the landing before it is done.', {
      testRun: candidate.number,
    }),
    ...judgementReasons(candidate),
  ];
}

function runAgainReason({ number: testRun }: Candidate): ExplanationReason {
  const text = 'The check that had failed is being run again: it is under test again as soon as a slot is free.';
  return reason('CHECK_RUN_AGAIN', text, { testRun });
}

function failedReasons(queue: Queue, candidate: Candidate, now: Instant, depth: number): ExplanationReason[] {
  const { failure, number: testRun } = candidate;
  const what = failure === undefined || failure.checks.length === 0 ? 'Its tests' : listOf(failure.checks);
  const about = {
    testRun,
    ...(failure === undefined ? {} : { since: failure.at }),
    ...(failure?.checks[0] === undefined ? {} : { check: failure.checks[0] }),
  };
  const failed = { ...reason('FAILED_CHECKS', `${what} failed.`, about), reasons: judgementReasons(candidate) };
  const open = unlanded(queue, candidate.beneath).filter(({ state }) => state !== 'TESTS_PASSED');
  if (open.length > 0) {
    const blame = reason('BLAME_OPEN', 'Whether that is its own fault depends on what it was tested on top of.');
    return [failed, { ...blame, reasons: waitingForSome(queue, open, now, depth) }];
  }
  return [failed, ...holdReasons(queue, candidate, now, depth)];
}

/** Why an entry whose failure is its own is still in the queue. */
function holdReasons(queue: Queue, candidate: Candidate, now: Instant, depth: number): ExplanationReason[] {
  // The explanation already begins with the red branch.
  if (queue.hold !== undefined) return [];
  const ahead = unlanded(queue, candidate.beneath);
  if (candidate.members.length > 1 && ahead.length > 0) {
    const text = 'Its batch is split to find out why, as soon as what it was tested on top of has landed.';
    return [{ ...reason('BISECTION_WAITING', text), reasons: waitingForSome(queue, ahead, now, depth) }];
  }
  if (isSuspected(queue, candidate)) {
    const text = `The head of ${queue.branch} is tested by itself first: others failed the same way.`;
    return [reason('TARGET_SUSPECTED', text)];
  }
  const until = formatInstant(holdEndsAt(queue, candidate));
  return [reason('HELD', `It is held for the pull requests behind it, until ${until} at the latest.`)];
}

/** A line may be long, so only the first few entries are named, open ones first. */
const NAMED = 3;

function waitingForSome(queue: Queue, entries: readonly Entry[], now: Instant, depth: number): ExplanationReason[] {
  const open = entries.filter(({ state }) => state !== 'TESTS_PASSED');
  const sorted = [...open, ...entries.filter(({ state }) => state === 'TESTS_PASSED')];
  // Only the first entry is explained to full depth. For the others their state is enough.
  const named = sorted.slice(0, NAMED).map((entry, index) => waitingFor(queue, entry, now, index === 0 ? depth : 1));
  const more = entries.length - named.length;
  return more === 0 ? named : [...named, reason('AND_MORE', `It waits for ${more} more pull requests ahead of it.`)];
}

function pendingReasons(queue: Queue, entry: Entry, now: Instant, depth: number): ExplanationReason[] {
  const groups = formGroups({ queue, at: now, strategy: REFERENCE_STRATEGY });
  const group = groups.find(({ entries }) => entries.some(({ prNumber }) => prNumber === entry.prNumber));
  if (group === undefined) return [];
  const reasons: ExplanationReason[] = raiseReasons(entry);
  const ahead = lineOf(queue).filter(({ number }) => group.ahead.has(number));
  const held = ahead.find((candidate) => candidate.state === 'failed');
  if (held !== undefined) reasons.push(...waitingForSome(queue, unlanded(queue, held.members), now, depth));
  if (group.ahead.size > queue.settings.concurrency) {
    const text = `It stands behind ${group.ahead.size} candidates that have not landed, and is not tested on more than ${queue.settings.concurrency}.`;
    const first = ahead.flatMap((candidate) => unlanded(queue, candidate.members)).slice(0, 1);
    reasons.push({ ...reason('TOO_FAR_BEHIND', text), reasons: waitingForSome(queue, first, now, depth) });
  }
  if (!group.fires && group.waitsUntil !== undefined) {
    const others = group.entries.filter(({ prNumber }) => prNumber !== entry.prNumber);
    const withWhom = others.length === 0 ? '' : ` together with ${listOf(others.map((o) => `#${o.prNumber}`))}`;
    const until = formatInstant(group.waitsUntil);
    reasons.push(
      reason('WAITING_FOR_BATCH', `It waits${withWhom} for others to be tested with, until ${until} at the latest.`),
    );
  }
  if (freeSlots({ queue, strategy: REFERENCE_STRATEGY }) <= 0) {
    const { concurrency } = queue.settings;
    const text = concurrency === 1 ? 'The only slot is taken.' : `All ${concurrency} slots are taken.`;
    reasons.push({ ...reason('WAITING_FOR_SLOT', text), reasons: slotHolders(queue, now, depth) });
  }
  const before = groups[groups.indexOf(group) - 1];
  if (reasons.length === 0 && before !== undefined && group.ahead.has(before.id)) {
    for (const other of before.entries.slice(0, 3)) {
      reasons.push(
        reason('BEHIND', `It stands behind #${other.prNumber}, which waits too.`, { prNumber: other.prNumber }),
      );
    }
  }
  return reasons;
}

function raiseReasons({ priority, raised }: Entry): ExplanationReason[] {
  if (raised === 0) return [];
  const { name } = parsePriority(raisedValue(priority.value, raised)) ?? priority;
  return [reason('PRIORITY_RAISED', `It has waited so long that it counts as ${name} instead of ${priority.name}.`)];
}

function slotHolders(queue: Queue, now: Instant, depth: number): ExplanationReason[] {
  if (depth < MAX_DEPTH) return [];
  const isSharing = queue.settings.bisectionConcurrency === 0;
  const holders = [...lineOf(queue), ...(isSharing ? candidatesFor(queue, 'bisection') : [])].filter(isUnderTest);
  return waitingForSome(
    queue,
    holders.flatMap((candidate) => unlanded(queue, candidate.members)),
    now,
    2,
  );
}

/** "waiting for #12, which is testing since 10:04 and has 2 of 5 required checks open" */
function waitingFor(queue: Queue, entry: Entry, now: Instant, depth: number): ExplanationReason {
  const since = entry.stateChangedAt;
  const candidate = entry.candidate === undefined ? undefined : findCandidate(queue, entry.candidate);
  const checks = candidate === undefined ? '' : checksOf(candidate);
  const text = `It waits for #${entry.prNumber}, which is ${entry.state} since ${clockTime(since)}${checks}.`;
  return {
    ...reason('WAITING_FOR', text, {
      prNumber: entry.prNumber,
      since,
      ...(candidate === undefined ? {} : { testRun: candidate.number }),
    }),
    reasons: reasonsOf(queue, entry, now, depth - 1),
  };
}

function checksOf(candidate: Candidate): string {
  if (candidate.state !== 'testing' || candidate.required === undefined) return '';
  return ` and has ${openChecks(candidate).length} of ${candidate.required.names.length} required checks open`;
}

function conflictReason(entry: Entry): ExplanationReason {
  const text = `It conflicts with #${entry.conflictsWith} ahead of it, and is tried again once that has landed or left.`;
  return reason('CONFLICT_AHEAD', text, {
    ...(entry.conflictsWith === undefined ? {} : { prNumber: entry.conflictsWith }),
  });
}

function bisectionReason(queue: Queue, entry: Entry, now: Instant): ExplanationReason {
  const text = 'Its batch failed, and the batch is split to find out which pull requests are to blame.';
  const bisection = queue.bisections.find(({ number }) => number === entry.bisection);
  const parts = bisection?.chains.flatMap((chain) => chain.parts) ?? [];
  const part = parts.find(({ members }) => members.some(({ submission }) => submission === entry.submission));
  const run = part?.candidate === undefined ? undefined : findCandidate(queue, part.candidate);
  const together =
    part?.members.filter(({ prNumber }) => prNumber !== entry.prNumber).map((m) => `#${m.prNumber}`) ?? [];
  const how = together.length === 0 ? 'alone' : `together with ${listOf(together)}`;
  const testing = run && testingReason(queue, run, now);
  const inner =
    testing === undefined
      ? reason('BISECTION_WAITING', `It is tested ${how} when its turn comes.`)
      : { ...testing, text: `It is tested ${how}. ${testing.text}` };
  return { ...reason('BISECTION', text), reasons: [inner] };
}

function vouchReason(testRun: CandidateNumber): ExplanationReason {
  return reason('VOUCHED', 'A pull request behind it passed together with it: both land together.', { testRun });
}

function nextOf(queue: Queue, entry: Entry): string {
  if (queue.parked !== undefined || queue.state === 'PAUSED') return 'Nothing until the queue is resumed.';
  if (queue.head === undefined) return `Nothing until the branch ${queue.branch} is there.`;
  if (queue.hold !== undefined && entry.state !== 'TESTS_PASSED') return nextWhileHeld(queue, queue.hold, entry);
  switch (entry.state) {
    case 'PENDING':
      return entry.conflictsWith === undefined
        ? 'It is tested together with the pull requests ahead of it as soon as its turn comes.'
        : 'It is tried again when the pull request it conflicts with has ended.';
    case 'TESTING':
      return standsAlone(queue, entry)
        ? 'When all required checks have passed it lands.'
        : 'When all required checks have passed it lands, after those ahead of it.';
    case 'TESTS_PASSED':
      return `It lands on ${queue.branch} as soon as those ahead of it have.`;
    default:
      return 'If nobody else is to blame it leaves the queue as FAILED; otherwise it is tested again.';
  }
}

function standsAlone(queue: Queue, { candidate: number }: Entry): boolean {
  const candidate = number === undefined ? undefined : findCandidate(queue, number);
  return candidate !== undefined && unlanded(queue, candidate.beneath).length === 0;
}

function queueReasons(queue: Queue): ExplanationReason[] {
  if (queue.parked !== undefined) {
    return [reason('QUEUE_PARKED', `The queue stopped itself: ${queue.parked.reason}. An operator must look at it.`)];
  }
  switch (queue.state) {
    case 'RUNNING':
      return [];
    case 'PAUSED':
      return [reason('QUEUE_PAUSED', 'The queue is paused: it admits, tests and lands nothing until it is resumed.')];
    case 'DRAINING':
      return [reason('QUEUE_DRAINING', 'The queue is draining: it finishes what is in it and admits nothing new.')];
    case 'SWITCHING_MODES':
      return [
        reason(
          'QUEUE_SWITCHING_MODES',
          `The queue switches to ${queue.modeSwitch?.to} mode once the pull requests in it have landed or left.`,
        ),
      ];
  }
}

function targetReasons(queue: Queue): ExplanationReason[] {
  const { head, hold, branch } = queue;
  if (head === undefined)
    return [reason('TARGET_UNKNOWN', `The branch ${branch} was not found yet, or does not exist.`)];
  return hold === undefined ? [] : [holdReason(queue, hold)];
}

export function holdReason(queue: Queue, { cause, candidate, since }: Hold): ExplanationReason {
  const { branch } = queue;
  const about = { since, ...(candidate === undefined ? {} : { testRun: candidate }) };
  if (cause.kind === 'configuration') {
    const why = reasonText(cause.reason, { ...NO_CONTEXT, branch });
    const text = `Nothing can be tested on ${branch}, and nobody is removed for that. ${why} ${headTestText(queue)} Setting requiredStatuses of the queue is another way out.`;
    return reason('CONFIGURATION_BROKEN', text, about);
  }
  const what = cause.names.length === 0 ? 'its checks' : listOf(cause.names);
  const text = `The head of ${branch} fails ${what} by itself: nobody is removed for that, and nothing else is tested until it passes or moves. ${headTestText(queue)}`;
  return reason('TARGET_RED', text, about);
}

const NO_CONTEXT = {
  to: 'FAILED',
  actor: undefined,
  prNumber: undefined,
  checks: undefined,
  detail: undefined,
};

function headTestText(queue: Queue): string {
  const at = nextHeadTestAt(queue);
  return at === undefined ? 'It is being tested again now.' : `It is tested again by itself at ${clockTime(at)}.`;
}

function nextWhileHeld(queue: Queue, hold: Hold, entry: Entry): string {
  const { branch } = queue;
  if (hold.cause.kind === 'configuration') return `It is tested as soon as the configuration of ${branch} can be used.`;
  if (entry.candidate !== undefined && findCandidate(queue, entry.candidate)?.purpose.kind === 'repair') {
    return `If it passes it lands at once, and the queue goes on.`;
  }
  const isRepair = isPossibleRepair(hold, entry) && entry.repairTriedOn !== queue.head?.ordinal;
  if (isRepair)
    return `It is tested alone on ${branch} as a possible repair when its turn comes, and lands if it passes.`;
  const advice =
    entry.repairTriedOn === queue.head?.ordinal ? '' : ` If it repairs ${branch}, submit it again as a repair.`;
  return `It is tested once ${branch} passes or moves.${advice}`;
}

function entryReasons(queue: Queue, entry: Entry): ExplanationReason[] {
  const { hasImpactedTargets, requiresImpactedTargets, doesBaseBranchMatch, mergeability } = readinessOf(queue, entry);
  const reasons: ExplanationReason[] = [];
  if (!doesBaseBranchMatch) {
    reasons.push(reason('BASE_BRANCH_MISMATCH', `Its base is ${entry.pr.baseBranch}, the queue's is ${queue.branch}.`));
  }
  if (mergeability === 'NOT_MERGEABLE') {
    const blocks = entry.pr.blockReasons.map((block) => reason(block.toUpperCase(), blockText(entry.pr, block)));
    const text = blocks.length === 0 ? 'It cannot be merged.' : `It cannot be merged: ${blocks[0]?.text}`;
    reasons.push({ ...reason('NOT_MERGEABLE', text), reasons: blocks });
  } else if (mergeability !== 'MERGEABLE') {
    reasons.push(reason('MERGEABILITY_PENDING', 'Whether it can be merged is still being found out.'));
  }
  if (requiresImpactedTargets && !hasImpactedTargets) {
    const text = `Its impacted targets for ${entry.pr.headSha.slice(0, 12)} are not uploaded yet.`;
    reasons.push(reason('IMPACTED_TARGETS_MISSING', text));
  }
  return reasons;
}

function blockText({ failingChecks = [] }: Entry['pr'], block: BlockReason): string {
  if (block !== 'failingCheck' || failingChecks.length === 0) return BLOCK_TEXTS[block];
  return `${failingChecks.length === 1 ? 'a required check' : 'required checks'} of its head failed: ${listOf(failingChecks)}.`;
}

const BLOCK_TEXTS: { readonly [Reason in BlockReason]: string } = {
  conflict: 'it conflicts with the target branch. Merge or rebase it onto the target and push.',
  behind: 'it is behind the target branch, and the forge demands that it is not.',
  draft: 'it is a draft.',
  closed: 'it is closed.',
  pending: 'the forge has not decided yet.',
  awaitingCheck: 'a required check of its head has not reported yet.',
  failingCheck: 'a required check of its head failed.',
  reviewRequired: 'a required review is missing.',
  changesRequested: 'a reviewer asked for changes.',
  other: 'the forge gives no reason. On plain git, the target branch does not exist, or they have no commit in common.',
};

function whatOf({ because }: Entry): { prNumber?: number; testRun?: CandidateNumber; check?: string } {
  return {
    ...(because.prNumber === undefined ? {} : { prNumber: because.prNumber }),
    ...(because.candidate === undefined ? {} : { testRun: because.candidate }),
    ...(because.checks?.[0] === undefined ? {} : { check: because.checks[0] }),
  };
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, 5).join(', ');
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

function clockTime(instant: Instant): string {
  return `${formatInstant(instant).slice(11, 16)} UTC`;
}
