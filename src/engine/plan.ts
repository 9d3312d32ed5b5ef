import { assert } from '../lib/assert.ts';
import { changedKeys, getIn } from '../lib/int-map.ts';
import { firstOf, walk } from '../lib/sorted-list.ts';
import { raiseWaiting } from './ageing.ts';
import { ALL_GROUPS, type Demand, formGroups, type Group, hopsBehind } from './batch.ts';
import { advanceBisections, startBisectionRuns } from './bisect.ts';
import {
  type Candidate,
  type CandidateNumber,
  compositionOf,
  isOfLine,
  isRunAgain,
  isUnderTest,
  type Member,
} from './candidate.ts';
import { isBehindDirectMerge, planDirectMerges } from './direct-merge.ts';
import { withMode } from './entry-index.ts';
import { concludeBaseTests, concludeRepairs, retestHead, startRepair } from './hold.ts';
import { freeSlotFor, makeWayForUrgent } from './interrupt.ts';
import { abandon } from './line.ts';
import type { PrNumber } from './pull-request.ts';
import {
  type Entry,
  findCandidate,
  lineLimit,
  mayStartTests,
  mayTest,
  mayWork,
  mustBeExact,
  type Queue,
  toMember,
} from './queue.ts';
import { removeEntry } from './remove-entry.ts';
import { countEarlyReports } from './report-check.ts';
import { resumeHeld } from './restart.ts';
import { reviewUnheard } from './review-required.ts';
import { candidatesFor, candidatesOf, lineOf, unlanded } from './roster.ts';
import { releaseSetAside } from './set-aside.ts';
import { tellOfSilence } from './silence.ts';
import { testSuspectedBases } from './suspicion.ts';
import type { NodeId } from './targets.ts';
import { reopenCandidate, runOrphans, startCandidate } from './test-run.ts';
import { blame, denyOverdue, failOverdue, isFailure, takeBackWaivers } from './verdict.ts';
import { mayVouch, settleVouches } from './vouch.ts';
import { addCandidate, entryOf, keep, move, type Work } from './work.ts';

/**
 * Decides what follows from the state, in this order: timeouts; what the results mean for each entry; admissions;
 * interruptions; landings; new tests. Running it again on its own result changes nothing.
 */
export function plan(work: Work): void {
  endPause(work);
  cancelOverdue(work);
  raiseWaiting(work);
  takeBackWaivers(work);
  denyOverdue(work);
  failOverdue(work);
  tellOfSilence(work);
  reviewUnheard(work);
  concludeBaseTests(work);
  concludeRepairs(work);
  repeat(work, () => {
    repeat(work, settle);
    proceed(work);
  });
}

/** A pause with an end is over then. */
// SPEC Q11
function endPause(work: Work): void {
  const { state, stateChange, modeSwitch } = work.queue;
  const until = stateChange?.until;
  if (state !== 'PAUSED' || until === undefined || work.at < until) return;
  const change = { by: 'sluice', at: work.at, reason: `the pause by ${stateChange?.by} ended` };
  const resumed = modeSwitch === undefined ? 'RUNNING' : 'SWITCHING_MODES';
  const from = modeSwitch && { ...modeSwitch, from: 'RUNNING' as const };
  work.queue = { ...work.queue, state: resumed, stateChange: change, modeSwitch: from };
  resumeHeld(work, change.by);
}

/** No plan needs this many rounds. A queue whose plan never ends is parked. */
const MAX_ROUNDS = 1_000;

/** Repeats until nothing changes. An ended run or an admitted entry changes what the results of others mean. */
function repeat(work: Work, decide: (work: Work) => void): void {
  let before: Queue;
  let rounds = 0;
  do {
    before = work.queue;
    decide(work);
    rounds += 1;
    assert(rounds < MAX_ROUNDS, 'a plan comes to an end');
  } while (work.queue !== before);
}

/** Concludes from the results and admits entries. */
// SPEC V11
function settle(work: Work): void {
  settleVouches(work);
  blame(work);
  advanceBisections(work);
  finishModeSwitch(work);
  planDirectMerges(work);
  releaseSetAside(work);
  admitReady(work);
  makeWayForUrgent(work);
}

function proceed(work: Work): void {
  landNext(work);
  testSuspectedBases(work);
  retestHead(work);
  startRepair(work);
  startTests(work);
}

/** Cancels entries that were not ready for too long. Entries that only wait for the queue do not count. */
// SPEC O4
function cancelOverdue(work: Work): void {
  const limitMs = work.queue.settings.notReadyTimeoutHours * 3_600_000;
  if (limitMs === 0) return;
  // Sorted by submission. An entry cannot have been unready for longer than since its submission.
  for (const prNumber of walk(work.queue.index.unready)) {
    const entry = entryOf(work, prNumber);
    if (work.at < entry.submittedAt + limitMs) return;
    if (work.at < entry.unreadySince + limitMs) continue;
    removeEntry(work, entry, { to: 'CANCELLED', reason: 'NOT_READY_TIMEOUT_EXPIRED' });
  }
}

// SPEC Q4
function finishModeSwitch(work: Work): void {
  const { queue } = work;
  if (queue.modeSwitch === undefined || queue.index.admitted > 0 || queue.landing !== undefined) return;
  const { to, from } = queue.modeSwitch;
  work.queue = withMode({ ...queue, state: from, modeSwitch: undefined }, to);
}

/**
 * Admits ready entries in order while the line has room. An urgent entry is always admitted. Entries behind a direct
 * merge wait.
 */
// SPEC O3, Q3
function admitReady(work: Work): void {
  if (work.queue.state !== 'RUNNING' || work.queue.parked !== undefined) return;
  for (const prNumber of walk(work.queue.index.ready)) {
    const entry = entryOf(work, prNumber);
    if (work.queue.index.admitted >= lineLimit(work.queue) && entry.priority.value > 0) return;
    if (!isBehindDirectMerge(work.queue, entry)) admit(work, entry);
  }
}

function admit(work: Work, entry: Entry): void {
  const ordinal = work.queue.admissions + 1;
  work.queue = { ...work.queue, admissions: ordinal };
  move(work, { ...entry, admission: { at: work.at, ordinal } }, { to: 'PENDING', reason: 'MERGE_ITEM_NOW_READY' });
}

/**
 * Lands the first passed candidate that has nothing unlanded beneath it except entries it vouches for. Only one landing
 * runs at a time, because the next one needs the new head.
 */
function landNext(work: Work): void {
  takeBackLanding(work);
  if (!mayWork(work.queue) || work.queue.landing !== undefined) return;
  const { queue } = work;
  const ahead = [...candidatesFor(queue, 'direct'), ...candidatesFor(queue, 'repair')];
  for (const { number } of [...ahead, ...lineOf(queue)]) {
    const candidate = findCandidate(work.queue, number);
    if (candidate === undefined || !isLandable(work.queue, candidate)) continue;
    if (mustBeExact(work.queue) && candidate.composedWith.length > 0) {
      abandon(work, candidate, {
        reason: 'LANDING_NOT_COMPOSABLE',
        prNumber: candidate.composedWith.at(-1) as PrNumber,
      });
      continue;
    }
    land(work, candidate);
    return;
  }
}

/** Takes a landing back that has not begun, if the queue may no longer land it. */
// SPEC L5
function takeBackLanding(work: Work): void {
  const { landing } = work.queue;
  if (landing === undefined || landing.isBegun) return;
  const candidate = findCandidate(work.queue, landing.candidate);
  const isStillRight = candidate !== undefined && mayWork(work.queue) && isLandable(work.queue, candidate);
  if (!isStillRight) work.queue = { ...work.queue, landing: undefined };
}

// SPEC L2
export function isLandable(queue: Queue, candidate: Candidate): boolean {
  if (candidate.state !== 'passed' || candidate.commit === undefined) return false;
  return mayVouch(queue, candidate) || unlanded(queue, candidate.beneath).length === 0;
}

// SPEC L1, L30
function land(work: Work, { number }: Candidate): void {
  const { head } = work.queue;
  if (head === undefined) return;
  const { landingMode } = work.queue.settings;
  work.queue = {
    ...work.queue,
    landing: { candidate: number, expectedHead: head.sha, since: work.at, isBegun: false, landingMode },
  };
  work.effects.push({ kind: 'land_candidate', candidate: number, expectedHead: head.sha });
}

/** How many candidates of the line may still start. */
// SPEC C3
export function freeSlots({ queue, strategy }: Pick<Work, 'queue' | 'strategy'>): number {
  const isSharing = queue.settings.bisectionConcurrency === 0;
  const taken = candidatesOf(queue).filter(
    (candidate) => isUnderTest(candidate) && (isOfLine(candidate) || (isSharing && isOfBisection(candidate))),
  );
  return strategy.slots(queue) - taken.length;
}

// SPEC B8
function freeBisectionSlots(work: Work): number {
  const { settings } = work.queue;
  if (settings.bisectionConcurrency === 0) return freeSlots(work);
  const taken = candidatesOf(work.queue).filter((other) => isUnderTest(other) && isOfBisection(other));
  return (settings.bisectionConcurrency ?? work.strategy.slots(work.queue)) - taken.length;
}

function isOfBisection({ purpose }: Candidate): boolean {
  return purpose.kind === 'bisection';
}

function startTests(work: Work): void {
  for (const number of runOrphans(work)) countEarlyReports(work, number);
  reopenRunAgain(work);
  startReplacements(work);
  if (!mayStartTests(work.queue)) return;
  startBisectionRuns(work, freeBisectionSlots(work));
  // The group that started may have separated others that now form one group.
  while (startGroups(work) > 0 && work.queue.settings.batch);
}

/** Reopens failed candidates whose checks run again, as far as slots are free. */
// SPEC V26
function reopenRunAgain(work: Work): void {
  for (const { number } of candidatesOf(work.queue)) {
    const candidate = findCandidate(work.queue, number);
    if (candidate === undefined || !isRunAgain(candidate) || !mayTest(work.queue, candidate)) continue;
    if (slotsFor(work, candidate) > 0) reopenCandidate(work, candidate);
  }
}

/** The head and a repair have a slot of their own. */
function slotsFor(work: Work, { purpose }: Candidate): number {
  if (purpose.kind === 'head' || purpose.kind === 'repair') return 1;
  return purpose.kind === 'bisection' ? freeBisectionSlots(work) : freeSlots(work);
}

/** Replacements start first, because their places are ahead of everything new. */
function startReplacements(work: Work): void {
  for (const candidate of candidatesOf(work.queue)) {
    if (candidate.state !== 'waiting' || !mayTest(work.queue, candidate)) continue;
    if (slotsFor(work, candidate) > 0) startCandidate(work, candidate);
  }
}

/**
 * Returns how many it started. If no slot is free for an urgent entry, a candidate is interrupted. Then groups are
 * formed again, because the interrupted entries are ahead of others now, and only the urgent entry's group starts.
 */
function startGroups(work: Work, urgent?: PrNumber): number {
  const { pending } = work.queue.index;
  if (isAsBefore(work)) return 0;
  const isUrgentWaiting = pending.size > 0 && entryOf(work, firstOf(pending) as PrNumber).priority.value === 0;
  let slots = urgent === undefined ? freeSlots(work) : 1;
  if (pending.size === 0 || (slots <= 0 && !isUrgentWaiting)) return 0;
  const gate = new Gate(work);
  const groups = formGroups(work, gate.demand(isUrgentWaiting ? pending.size : slots));
  const numbers = new Map<NodeId, CandidateNumber>();
  for (const group of groups) {
    const ahead = [...group.ahead].map((id) => numbers.get(id) ?? id);
    if (!group.fires || ahead.some((id) => id < 0) || !gate.lets(group, groups)) continue;
    if (urgent !== undefined && !group.entries.some(({ prNumber }) => prNumber === urgent)) continue;
    if (slots <= 0) {
      const next = freeSlotFor(work, group.entries);
      return numbers.size + (next === undefined ? 0 : startGroups(work, next));
    }
    numbers.set(group.id, startGroup(work, group, ahead as CandidateNumber[]));
    if (urgent !== undefined) break;
    slots = freeSlots(work);
  }
  return numbers.size;
}

/**
 * Nothing that decides what can start has changed in this step, so nothing can start. Most steps are like that, and
 * scanning all pending entries is expensive.
 */
function isAsBefore({ before, queue, strategy }: Work): boolean {
  if (queue.settings.batch || queue.index.pending !== before.index.pending) return false;
  if (queue.settings !== before.settings || queue.state !== before.state || queue.head !== before.head) return false;
  if (queue.hold !== before.hold || queue.parked !== before.parked) return false;
  if (freeSlots({ queue, strategy }) !== freeSlots({ queue: before, strategy })) return false;
  if (didTargetsChange(before, queue)) return false;
  const [then, now] = [lineOf(before), lineOf(queue)];
  return then.length === now.length && then.every((candidate, index) => isAlike(before, queue, candidate, now[index]));
}

function didTargetsChange(before: Queue, queue: Queue): boolean {
  return changedKeys(before.entries, queue.entries).some(
    (key) => getIn(before.entries, key)?.targets !== getIn(queue.entries, key)?.targets,
  );
}

function isAlike(before: Queue, queue: Queue, then: Candidate, now: Candidate | undefined): boolean {
  if (now === undefined || then.number !== now.number) return false;
  return isUnderTest(then) === isUnderTest(now) && isFailure(before, then) === isFailure(queue, now);
}

/** Decides which groups may start now. A group may not start too deep in the line or behind an unsettled failure. */
class Gate {
  readonly #queue: Queue;
  readonly #failures: readonly Candidate[];
  readonly #reach: number;
  readonly #hops = new Map<NodeId, ReadonlyMap<NodeId, number>>();

  constructor({ queue, strategy }: Work) {
    this.#queue = queue;
    this.#failures = lineOf(queue).filter((candidate) => isFailure(queue, candidate));
    this.#reach = strategy.reach(queue);
  }

  demand(slots: number): Demand {
    // Within the depth, entries behind a failure may start. The depth is known only after all groups are formed.
    if (this.#failures.length > 0 && this.#queue.settings.pendingFailureDepth > 0) return ALL_GROUPS;
    return { limit: slots, canStart: (ahead) => ahead.size <= this.#reach && !this.#isBehindFailure(ahead) };
  }

  // SPEC C23
  lets(group: Group, groups: readonly Group[]): boolean {
    if (group.ahead.size > this.#reach) return false;
    if (this.#queue.settings.pendingFailureDepth === 0) return !this.#isBehindFailure(group.ahead);
    return this.#failures.every((failure) => {
      if (!group.ahead.has(failure.number)) return true;
      const hops = this.#hopsFrom(failure, groups).get(group.id);
      return hops !== undefined && hops <= this.#queue.settings.pendingFailureDepth;
    });
  }

  #hopsFrom(failure: Candidate, groups: readonly Group[]): ReadonlyMap<NodeId, number> {
    const known = this.#hops.get(failure.number);
    if (known !== undefined) return known;
    const hops = new Map(hopsBehind(this.#queue, failure, groups).map((successor) => [successor.id, successor.hops]));
    this.#hops.set(failure.number, hops);
    return hops;
  }

  // SPEC V7
  #isBehindFailure(ahead: ReadonlySet<NodeId>): boolean {
    return this.#failures.some(({ number }) => ahead.has(number));
  }
}

/** Everything unlanded ahead of it goes beneath it, in the order of the line. */
// SPEC C1
function startGroup(work: Work, group: Group, ahead: readonly CandidateNumber[]): CandidateNumber {
  const { queue } = work;
  const { head } = queue;
  if (head === undefined) throw new TypeError('tests start only on a known target');
  const predecessors = lineOf(queue).filter(({ number }) => ahead.includes(number));
  const beneath = new Map<number, Member>();
  for (const candidate of predecessors) {
    for (const entry of unlanded(queue, candidate.members)) beneath.set(entry.submission, toMember(entry));
  }
  const candidate = addCandidate(work, {
    purpose: { kind: 'main' },
    base: head,
    beneath: [...beneath.values()],
    members: group.entries.map(toMember),
    parent: findParent(queue, predecessors, [...beneath.values()]),
  });
  for (const { prNumber } of group.entries) {
    keep(work, { ...entryOf(work, prNumber), candidate: candidate.number, wasTested: true });
  }
  startCandidate(work, candidate);
  return candidate.number;
}

/** The last candidate ahead, if its commit is exactly the head of the target branch plus everything beneath. */
function findParent(
  queue: Queue,
  predecessors: readonly Candidate[],
  beneath: readonly Member[],
): CandidateNumber | undefined {
  const last = predecessors.at(-1);
  if (last === undefined || last.composedWith.length > 0 || last.purpose.kind !== 'main') return undefined;
  const composition = unlanded(queue, compositionOf(last));
  const isSame =
    composition.length === beneath.length && composition.every((e, i) => e.submission === beneath[i]?.submission);
  return isSame ? last.number : undefined;
}
