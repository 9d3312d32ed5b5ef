import { assert } from '../lib/assert.ts';
import { changedKeys, getIn } from '../lib/int-map.ts';
import { present } from '../lib/present.ts';
import { walk } from '../lib/sorted-list.ts';
import { searchBreakage } from './evidence/breakage.ts';
import { concludeBaseTests, concludeRepairs, retestHead, startRepair } from './evidence/hold.ts';
import { denyOverdue, failOverdue, readOverdue, takeBackWaivers } from './evidence/judge.ts';
import { testSuspectedBases } from './evidence/suspicion.ts';
import { countEarlyReports } from './facts/report-check.ts';
import { resumeHeld } from './facts/restart.ts';
import { reviewUnheard } from './facts/review-required.ts';
import { isOverLimit } from './line/actor-limit.ts';
import { raiseWaiting } from './line/ageing.ts';
import { alignStack } from './line/align-stack.ts';
import { isBehindDirectMerge, planDirectMerges } from './line/direct-merge.ts';
import { noteFreeze } from './line/frozen.ts';
import { askForTargets, awaitsLanes, noteMeetings } from './line/lanes.ts';
import { abandon, isBeingLanded } from './line/line.ts';
import { removeEntry, removeNewFlakes } from './line/remove-entry.ts';
import { tellOfSilence } from './line/silence.ts';
import { freeSearchSlots, freeSlots, freeSlotsFor, lineLimit } from './line/slots.ts';
import { reopenCandidate, runOrphans, startCandidate } from './line/test-run.ts';
import { isFailure, mayVouch } from './line/vouch.ts';
import {
  type Candidate,
  type CandidateNumber,
  compositionOf,
  isRunAgain,
  isUnderTest,
  type Member,
} from './model/candidate.ts';
import { withMode } from './model/entry-index.ts';
import { candidateNumberOf, inLine } from './model/place.ts';
import { policyOf } from './model/policy.ts';
import type { PrNumber } from './model/pull-request.ts';
import {
  type Entry,
  findCandidate,
  findEntry,
  isPending,
  mayStartTests,
  mayTest,
  mayWork,
  mustBeExact,
  type Queue,
  toMember,
} from './model/queue.ts';
import { candidatesFor, candidatesOf, composedWithOf, isFrozen, lineOf, unlanded } from './model/roster.ts';
import { awayBelow, entriesBelow, lonelyUntil, missingBelow, waitingForBelow } from './model/stack.ts';
import type { Proposal } from './model/strategy.ts';
import type { NodeId } from './model/targets.ts';
import { addCandidate, amend, entryOf, keep, move, stillLive, type Work } from './model/work.ts';
import { overruns, strategyOf } from './policy/adaptive.ts';
import { advanceSearches } from './search/advance-searches.ts';
import { startControls } from './search/control.ts';
import { startNextPart } from './search/halves.ts';
import { freeSlotFor, makeWayForUrgent, releaseSetAside, separateUrgent } from './search/interrupt.ts';
import { dissolveScouts, searchCandidate, startPrefix, startScout } from './search/prefix-search.ts';
import { blame, isOnFailure, settleVouches } from './search/verdict.ts';

/**
 * Decides what follows from the state, in this order: timeouts; what the results mean for each entry; admissions;
 * interruptions; landings; new tests. Running it again on its own result changes nothing.
 */
export function plan(work: Work): void {
  noteFreeze(work);
  endPause(work);
  cancelOverdue(work);
  raiseWaiting(work);
  takeBackWaivers(work);
  denyOverdue(work);
  if (policyOf(work.queue).confirms) readOverdue(work);
  failOverdue(work);
  tellOfSilence(work);
  reviewUnheard(work);
  concludeBaseTests(work);
  concludeRepairs(work);
  repeat(work, () => {
    repeat(work, settle);
    proceed(work);
  });
  askForTargets(work);
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
  amend(work, { state: resumed, stateChange: change, modeSwitch: from });
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
  dissolveScouts(work);
  searchOverruns(work);
  blame(work);
  advanceSearches(work);
  removeNewFlakes(work);
  finishModeSwitch(work);
  planDirectMerges(work);
  releaseSetAside(work);
  admitReady(work);
  separateUrgent(work);
  makeWayForUrgent(work);
}

/** A run that takes far too long goes on as a search, so that the line can go on without it. */
function searchOverruns(work: Work): void {
  for (const candidate of stillLive(work, overruns(work.queue, work.at))) {
    if (!isBeingLanded(work.queue, candidate)) searchCandidate(work, candidate);
  }
}

function proceed(work: Work): void {
  landNext(work);
  testSuspectedBases(work);
  retestHead(work);
  searchBreakage(work);
  startRepair(work);
  startTests(work);
  startControls(work);
}

/** Cancels entries that were not ready for too long. Entries that only wait for the queue do not count. */
// SPEC O4
function cancelOverdue(work: Work): void {
  cancelLonely(work);
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

/** Cancels entries that waited too long for those below them. */
// SPEC O36
function cancelLonely(work: Work): void {
  for (const entry of waitingForBelow(work.queue)) {
    if (work.at < lonelyUntil(work.queue, entry)) continue;
    const [missing] = awayBelow(work.queue, entry);
    const reason = { reason: 'NOT_READY_TIMEOUT_EXPIRED' as const, ...present({ prNumber: missing?.number }) };
    removeEntry(work, entry, { to: 'CANCELLED', ...reason });
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
 * Admits ready entries in order while the line has room, which an urgent one does not need. Entries behind a direct
 * merge wait, and so do those of a submitter who has as many as allowed.
 */
// SPEC O3, Q3
function admitReady(work: Work): void {
  if (work.queue.state !== 'RUNNING' || work.queue.parked !== undefined) return;
  for (const prNumber of walk(work.queue.index.ready)) {
    const entry = entryOf(work, prNumber);
    if (work.queue.index.admitted >= lineLimit(work.queue) && entry.priority.value > 0) return;
    if (missingBelow(work.queue, entry).length > 0) continue;
    if (!isBehindDirectMerge(work.queue, entry) && !isOverLimit(work.queue, entry)) admit(work, entry);
  }
}

// SPEC O35
function admit(work: Work, { heldPlace, ...entry }: Entry): void {
  const below = entriesBelow(work.queue, { heldPlace, ...entry });
  const isInPlace =
    heldPlace !== undefined && below.every((other) => (other.admission?.ordinal ?? 0) < heldPlace.ordinal);
  const admission = isInPlace ? heldPlace : { at: work.at, ordinal: work.queue.admissions + 1 };
  if (!isInPlace) amend(work, { admissions: admission.ordinal });
  const admitted = { ...entry, heldPlace: undefined, admission };
  move(work, admitted, { to: 'PENDING', reason: 'MERGE_ITEM_NOW_READY' });
  alignStack(work, admitted);
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
  for (const candidate of stillLive(work, [...ahead, ...lineOf(queue)])) {
    if (!isLandable(work.queue, candidate)) continue;
    const composedWith = mustBeExact(work.queue) ? composedWithOf(work.queue, candidate) : [];
    if (composedWith.length > 0) {
      abandon(work, candidate, {
        reason: 'LANDING_NOT_COMPOSABLE',
        prNumber: composedWith.at(-1) as PrNumber,
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
  if (!isStillRight) amend(work, { landing: undefined });
}

// SPEC L2
export function isLandable(queue: Queue, candidate: Candidate): boolean {
  if (candidate.state !== 'passed' || candidate.commit === undefined || isFrozen(queue, candidate)) return false;
  if (awaitsLanes(queue, candidate)) return false;
  return mayVouch(queue, candidate) || unlanded(queue, candidate.beneath).length === 0;
}

// SPEC L1, L30
function land(work: Work, { number }: Candidate): void {
  const { head } = work.queue;
  if (head === undefined) return;
  const { landingMode } = work.queue.settings;
  amend(work, { landing: { candidate: number, expectedHead: head.sha, since: work.at, isBegun: false, landingMode } });
  work.effects.push({ kind: 'land_candidate', candidate: number, expectedHead: head.sha });
}

function startTests(work: Work): void {
  startOrphans(work);
  reopenRunAgain(work);
  startReplacements(work);
  if (!mayStartTests(work.queue) || isAsBefore(work)) return;
  while (startProposed(work));
}

/** The checks of an orphan may have reported already, so the test of a head or a repair may be over at once. */
function startOrphans(work: Work): void {
  const orphans = runOrphans(work);
  for (const number of orphans) countEarlyReports(work, number);
  const states = orphans.map((number) => findCandidate(work.queue, number)?.state);
  if (!states.some((state) => state === 'passed' || state === 'failed')) return;
  concludeBaseTests(work);
  concludeRepairs(work);
}

/** Carries out the proposals of the strategy; false if none could be carried out. */
function startProposed(work: Work): boolean {
  const before = work.queue;
  const strategy = work.strategy ?? strategyOf(before);
  const numbers = new Map<NodeId, CandidateNumber>();
  for (const proposal of strategy.propose(work.queue, work.at)) {
    if (carryOut(work, proposal, numbers) === 'ask again') return true;
  }
  return work.queue !== before && policyOf(work.queue).asksAgain;
}

/** The candidates of this round, by the ids of their groups. */
type Started = Map<NodeId, CandidateNumber>;

/** Starts as much of a proposal as the slots allow. */
// SPEC I5
function carryOut(work: Work, proposal: Proposal, started: Started): 'ask again' | undefined {
  switch (proposal.kind) {
    case 'line':
      return startLine(work, proposal.group, started);
    case 'search':
      if (freeSearchSlots(work.queue) > 0 && proposal.entries.length > 0 && arePending(work, proposal.entries, []))
        startScout(work, proposal.entries);
      return undefined;
    case 'prefix':
      return startSearchRun(work, proposal);
  }
}

/** If no slot is free for an urgent entry, another run gives up its slot. The interrupted entries are behind it then. */
function startLine(work: Work, group: StartableGroup, started: Started): 'ask again' | undefined {
  const ahead = [...group.ahead].map((id) => started.get(id) ?? id);
  if (group.entries.length === 0 || ahead.some((id) => id < 0) || !arePending(work, group.entries, ahead))
    return undefined;
  if (isOnFailure(work.queue, ahead as CandidateNumber[])) return undefined;
  if (freeSlots(work.queue) > 0) started.set(group.id, startGroup(work, group, ahead as CandidateNumber[]));
  else if (freeSlotFor(work, group.entries) !== undefined) return 'ask again';
  return undefined;
}

type StartableGroup = Extract<Proposal, { kind: 'line' }>['group'];

/** Nothing below them is missing, either. */
// SPEC O31
function arePending({ queue }: Work, entries: readonly Entry[], ahead: readonly NodeId[]): boolean {
  const carried = new Set<PrNumber>();
  return entries.every((entry) => {
    const now = findEntry(queue, entry.prNumber);
    if (now?.submission !== entry.submission || !isPending(now)) return false;
    const below = entriesBelow(queue, now);
    const isCarried = (other: Entry) => carried.has(other.prNumber) || ahead.includes(candidateNumberOf(other) ?? 0);
    carried.add(now.prNumber);
    return missingBelow(queue, now).length === 0 && below.every(isCarried);
  });
}

function startSearchRun(work: Work, { search, length, isAgain }: PrefixProposal): 'ask again' | undefined {
  const found = work.queue.bisections.find(({ number }) => number === search);
  if (found === undefined || freeSearchSlots(work.queue) <= 0) return undefined;
  if (found.how === 'prefixes') {
    startPrefix(work, search, length, isAgain);
    return undefined;
  }
  const before = work.queue;
  startNextPart(work, search);
  return work.queue === before ? undefined : 'ask again';
}

type PrefixProposal = Extract<Proposal, { kind: 'prefix' }>;

/** Reopens failed candidates whose checks run again, as far as slots are free. */
// SPEC V26
function reopenRunAgain(work: Work): void {
  for (const candidate of stillLive(work, candidatesOf(work.queue))) {
    if (!isRunAgain(candidate) || !mayTest(work.queue, candidate)) continue;
    if (freeSlotsFor(work.queue, candidate) > 0) reopenCandidate(work, candidate);
  }
  // A candidate may have waited for its slot longer than its checks may take.
  failOverdue(work);
}

/** Replacements start first, because their places are ahead of everything new. */
function startReplacements(work: Work): void {
  for (const candidate of candidatesOf(work.queue)) {
    if (candidate.state !== 'waiting' || !mayTest(work.queue, candidate)) continue;
    if (freeSlotsFor(work.queue, candidate) > 0) startCandidate(work, candidate);
  }
}

/**
 * Nothing that decides what can start has changed in this step, so nothing can start. Most steps are like that, and
 * scanning all pending entries is expensive.
 */
function isAsBefore({ before, queue }: Work): boolean {
  if (policyOf(queue).asksAgain || queue.bisections !== before.bisections) return false;
  if (freeSearchSlots(queue) !== freeSearchSlots(before) || queue.index.pending !== before.index.pending) return false;
  if (queue.settings !== before.settings || queue.state !== before.state || queue.head !== before.head) return false;
  if (queue.hold !== before.hold || queue.parked !== before.parked) return false;
  if (freeSlots(queue) !== freeSlots(before)) return false;
  if (didTargetsChange(before, queue)) return false;
  // Flakes became more likely, so that a failure has to be confirmed once more.
  if (queue.bisections.length > 0 && queue.learned !== before.learned) return false;
  // Failed tests of a run of a search became known.
  const searched = candidatesFor(queue, 'bisection');
  if (candidatesFor(before, 'bisection').some((run, index) => run !== searched[index])) return false;
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

/** Everything unlanded ahead of it goes beneath it, in the order of the line. */
// SPEC C1
function startGroup(work: Work, group: StartableGroup, ahead: readonly CandidateNumber[]): CandidateNumber {
  const { queue } = work;
  const { head } = queue;
  if (head === undefined) throw new TypeError('tests start only on a known target');
  const predecessors = lineOf(queue).filter(({ number }) => ahead.includes(number));
  const beneath = new Map<number, Member>();
  for (const candidate of predecessors) {
    for (const entry of unlanded(queue, candidate.members)) beneath.set(entry.submission, toMember(entry));
  }
  noteMeetings(work, group.entries, [...beneath.values()]);
  const candidate = addCandidate(work, {
    purpose: { kind: 'main' },
    base: head,
    beneath: [...beneath.values()],
    members: group.entries.map(toMember),
    parent: findParent(queue, predecessors, [...beneath.values()]),
  });
  for (const { prNumber } of group.entries) {
    keep(work, { ...entryOf(work, prNumber), place: inLine(candidate), wasTested: true });
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
  if (last === undefined || composedWithOf(queue, last).length > 0 || last.purpose.kind !== 'main') return undefined;
  const composition = unlanded(queue, compositionOf(last));
  const isSame =
    composition.length === beneath.length && composition.every((e, i) => e.submission === beneath[i]?.submission);
  return isSame ? last.number : undefined;
}
