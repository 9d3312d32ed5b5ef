import type { Instant } from '../../lib/clock.ts';
import { firstOf, walk } from '../../lib/sorted-list.ts';
import { ALL_GROUPS, formGroups, isBatchable, type Sizing } from '../line/batch.ts';
import { freeSlots } from '../line/slots.ts';
import type { Candidate } from '../model/candidate.ts';
import { footprintOf, targetsOf } from '../model/footprint.ts';
import { chancesOf, failureChance } from '../model/learned.ts';
import { policyOf } from '../model/policy.ts';
import { raisedValue } from '../model/priority.ts';
import { hasProbes } from '../model/question.ts';
import { type Entry, findCandidate, findEntry, mayStartTests, type Queue } from '../model/queue.ts';
import { lineOf, unlanded } from '../model/roster.ts';
import { carriedOnly, isCarriedBy, isHeldBelow, needsOf } from '../model/stack.ts';
import type { Proposal, Strategy } from '../model/strategy.ts';
import { bestSplit, isAccused, isAwaitingQuestion } from '../search/prefixes.ts';
import { proposeSearches, REFERENCE_STRATEGY } from './reference.ts';

/**
 * Sizes groups, searches and speculation by what the queue has learned. One setting, the cost of a run, says how many
 * pull requests that wait for the duration of a run are worth one more run.
 */
const ADAPTIVE_STRATEGY: Strategy = { propose, wakeAt: overrunsAt };

/** The strategy of the queue's policy. */
export function strategyOf(queue: Queue): Strategy {
  return policyOf(queue).kind === 'adaptive' ? ADAPTIVE_STRATEGY : REFERENCE_STRATEGY;
}

/** Below this chance that the line passes, a group is tested on the head instead of on top of the line. */
const LEAST_CHANCE_TO_STACK = 0.75;
/** Probes soon tell what failed ahead. Measured. */
const LEAST_CHANCE_WITH_PROBES = 0.5;
/** A search that ends earlier also releases its other members earlier. Measured, like the chance above. */
const SPLIT_WEIGHT = 1.5;
/** From this cost of a run on, lanes group entries even while slots are free. */
const GROUPS_ALWAYS_FROM = 4;
const MEDIUM = 100;

function propose(queue: Queue, at: Instant): readonly Proposal[] {
  const first = firstOf(queue.index.pending);
  const isUrgent = first !== undefined && findEntry(queue, first)?.priority.value === 0;
  if (freeSlots(queue) <= 0 && !isUrgent) return [];
  const pool = poolOf(queue);
  if (isUrgent) return proposeUrgent(queue, at, pool);
  const proven = carriedOnly(queue, provenGroup(queue, pool), 'with line');
  if (proven.length > 0) return [onLine(queue, proven)];
  const searches = proposeSearches(queue);
  if (searches.length > 0) return searches;
  const starts = queue.settings.mode === 'SINGLE' ? proposeForLine(queue, at, pool) : proposeForLanes(queue, at);
  return starts.length > 0 ? starts : proposeSplit(queue);
}

function proposeUrgent(queue: Queue, at: Instant, pool: readonly Entry[]): readonly Proposal[] {
  if (queue.settings.mode === 'PARALLEL') return proposeForLanes(queue, at);
  const urgent = peersOf(queue, pool);
  if (chanceOf(queue, lineOf(queue)) > 0) return [onLine(queue, urgent)];
  // It does not wait for the failure ahead of it to be decided.
  return urgent.every(isScoutable) && carriedOnly(queue, urgent, 'alone').length === urgent.length
    ? [{ kind: 'search', entries: urgent }]
    : proposeSearches(queue);
}

/** A group of the only line is on top of all of it. */
function onLine(queue: Queue, entries: readonly Entry[]): Proposal {
  return { kind: 'line', group: { id: -1, entries, ahead: new Set(lineOf(queue).map(({ number }) => number)) } };
}

/** The first entries that may be in one candidate: of one priority above medium, or of medium and below. */
// SPEC K15
function peersOf(queue: Queue, pool: readonly Entry[]): readonly Entry[] {
  const [first] = pool;
  if (first === undefined || !isBatchable(queue, first)) return pool.slice(0, 1);
  const end = pool.findIndex((entry) => classOf(entry) !== classOf(first) || !isBatchable(queue, entry));
  return pool.slice(0, Math.min(end === -1 ? pool.length : end, queue.settings.maxGroupSize));
}

function classOf({ priority, raised }: Entry): number {
  return Math.min(raisedValue(priority.value, raised), MEDIUM);
}

/** The next start in SINGLE mode, if it is worth a run. The line is never left empty. */
function proposeForLine(queue: Queue, at: Instant, pool: readonly Entry[]): readonly Proposal[] {
  const start = nextStart(queue, at, pool);
  return start !== undefined && start.value >= queue.settings.runCost ? [start.proposal] : [];
}

interface Start {
  readonly proposal: Proposal;
  /** In pull requests that wait for the duration of a run. */
  readonly value: number;
}

function nextStart(queue: Queue, at: Instant, pool: readonly Entry[]): Start | undefined {
  const line = lineOf(queue);
  if (pool.length === 0) return undefined;
  if (line.length === 0) return { proposal: onLine(queue, nextGroup(queue, pool)), value: Number.POSITIVE_INFINITY };
  const chance = chanceOf(queue, line);
  const weight = 1 + queue.index.pending.size * failureChance(queue.learned, 0);
  if (chance >= (hasProbes(queue.probing) ? LEAST_CHANCE_WITH_PROBES : LEAST_CHANCE_TO_STACK)) {
    const group = nextGroup(queue, pool);
    const value = group.length * chance * remainingOf(queue, line.at(-1), at) * weight;
    return { proposal: onLine(queue, group), value };
  }
  const entries = golombGroup(queue, carriedOnly(queue, peersOf(queue, pool.filter(isScoutable)), 'alone'));
  if (entries.length === 0) return undefined;
  return {
    proposal: { kind: 'search', entries },
    value: Math.max(1, entries.length * soundness(queue, entries)) * weight,
  };
}

/** The value of the next run that would test this entry; undefined if it is not its turn, or in PARALLEL mode. */
export function valueOfRun(queue: Queue, at: Instant, { prNumber }: Entry): number | undefined {
  if (queue.settings.mode === 'PARALLEL') return undefined;
  const start = nextStart(queue, at, poolOf(queue));
  const entries = start?.proposal.kind === 'line' ? start.proposal.group.entries : [];
  const searched = start?.proposal.kind === 'search' ? start.proposal.entries : entries;
  return searched.some((entry) => entry.prNumber === prNumber) ? start?.value : undefined;
}

/** The first entries that wait, as many as the next group could be chosen from. */
function poolOf(queue: Queue): readonly Entry[] {
  const pool: Entry[] = [];
  const most = POOL_FACTOR * queue.settings.maxGroupSize;
  for (const prNumber of walk(queue.index.pending)) {
    const entry = findEntry(queue, prNumber);
    if (entry !== undefined && !isHeldBelow(queue, entry)) pool.push(entry);
    if (pool.length >= most) break;
  }
  return pool;
}

/** Cleared entries stand before untested ones, so more than one group of entries has to be looked at. */
const POOL_FACTOR = 4;

/** The entries that a search has just cleared on the head. Their tree has passed, so they land without a run. */
// SPEC K16
function provenGroup(queue: Queue, pool: readonly Entry[]): readonly Entry[] {
  if (queue.settings.mode === 'PARALLEL' || lineOf(queue).length > 0) return [];
  const search = pool.find(({ clearedBySearch }) => clearedBySearch !== undefined)?.clearedBySearch;
  if (search === undefined) return [];
  return pool.filter(({ clearedBySearch }) => clearedBySearch === search).slice(0, queue.settings.maxGroupSize);
}

/** The next group of the line. Cleared entries ride along, unless too much is lost if an untested one fails. */
// SPEC K20
function nextGroup(queue: Queue, pool: readonly Entry[]): readonly Entry[] {
  const peers = peersOf(queue, pool);
  // One below them may have come back with another head, and is untested.
  const cleared = carriedOnly(
    queue,
    peers.filter(({ isCleared }) => isCleared),
    'with line',
  );
  const untested = new Set(
    golombGroup(
      queue,
      peers.filter(({ isCleared }) => !isCleared),
    ),
  );
  const together = peers.filter((entry) => entry.isCleared || untested.has(entry));
  const loss = cleared.length * (1 - soundness(queue, together));
  const chosen = loss >= queue.settings.runCost || cleared.length > untested.size ? cleared : together;
  return withStack(queue, peers, carriedOnly(queue, chosen, 'with line'));
}

/** The entries that follow on the last ones and are built on them are tested together with them. */
// SPEC O37
function withStack(queue: Queue, peers: readonly Entry[], group: readonly Entry[]): readonly Entry[] {
  const last = group.at(-1);
  const whole = [...group];
  for (const entry of last === undefined ? [] : peers.slice(peers.indexOf(last) + 1)) {
    if (needsOf(entry).length === 0 || !isCarriedBy(queue, whole, entry, 'with line')) break;
    whole.push(entry);
  }
  return whole;
}

/** As many entries as make a pass about as likely as a failure: each run then tells the most. */
// SPEC K4
function golombGroup(queue: Queue, entries: readonly Entry[]): readonly Entry[] {
  return entries.slice(0, golombSize(chancesOf(queue, entries)));
}

export function golombSize(chances: readonly number[]): number {
  let sound = 1;
  for (const [index, chance] of chances.entries()) {
    if (index > 0 && sound + sound * (1 - chance) <= 1) return index;
    sound *= 1 - chance;
  }
  return chances.length;
}

function soundness(queue: Queue, entries: readonly Entry[]): number {
  return chancesOf(queue, entries).reduce((sound, chance) => sound * (1 - chance), 1);
}

/** How likely all these candidates pass. */
function chanceOf(queue: Queue, candidates: readonly Candidate[]): number {
  if (candidates.some(({ state }) => state === 'failed')) return 0;
  const open = candidates.filter(({ state }) => state !== 'passed');
  return soundness(
    queue,
    unlanded(
      queue,
      open.flatMap(({ members }) => members),
    ),
  );
}

/** The share of its run that a candidate has still to go. */
function remainingOf({ learned }: Queue, tail: Candidate | undefined, at: Instant): number {
  if (tail === undefined || tail.state === 'passed') return 0;
  if (learned.durationMs === undefined || tail.testingSince === undefined) return 1;
  return Math.max(0, 1 - (at - tail.testingSince) / Math.max(1, learned.durationMs));
}

/** Groups of PARALLEL mode, each on what it overlaps with. A group is stacked if that is likely enough to pass. */
// SPEC K17
function proposeForLanes(queue: Queue, at: Instant): readonly Proposal[] {
  const { runCost } = queue.settings;
  const groups = formGroups(queue, at, ALL_GROUPS, sizingFor(queue));
  return groups.flatMap((group): Proposal[] => {
    const ahead = [...group.ahead].map((id) => (id < 0 ? undefined : findCandidate(queue, id as Candidate['number'])));
    const known = ahead.filter((candidate) => candidate !== undefined);
    if (known.length < ahead.length) return [];
    if (chanceOf(queue, known) >= leastChanceInLanes(runCost)) return [{ kind: 'line', group }];
    const isScout = runCost < 1 && group.entries.every(isScoutable);
    return isScout && carriedOnly(queue, group.entries, 'alone').length === group.entries.length
      ? [{ kind: 'search', entries: group.entries }]
      : [];
  });
}

function isScoutable({ isCleared, isScoutSpent }: Entry): boolean {
  return !isCleared && !isScoutSpent;
}

function leastChanceInLanes(runCost: number): number {
  if (runCost < 2) return 0.1;
  return runCost < 4 ? 0.2 : 0.3;
}

function sizingFor(queue: Queue): Sizing {
  const most = largestGroupInLanes(queue);
  return {
    most,
    isFull: (entries) => {
      const chances = chancesOf(queue, entries);
      return entries.length >= most || golombSize([...chances, failureChance(queue.learned, 0)]) <= entries.length;
    },
    mayJoin: (entries, entry) => entries.every((other) => classOf(other) === classOf(entry)),
  };
}

/** A group waits for its slowest member and for its culprits, so entries are grouped only as far as slots are short. */
function largestGroupInLanes(queue: Queue): number {
  const { maxGroupSize, runCost } = queue.settings;
  if (runCost >= GROUPS_ALWAYS_FROM) return maxGroupSize;
  return Math.min(maxGroupSize, Math.ceil(queue.index.pending.size / Math.max(1, freeSlots(queue))));
}

/** A second run in a search that has one under way. */
function proposeSplit(queue: Queue): readonly Proposal[] {
  let best: { readonly proposal: Proposal; readonly value: number } | undefined;
  const isProbing = hasProbes(queue.probing);
  for (const search of queue.bisections) {
    if (search.how !== 'prefixes' || isAccused(queue, search)) continue;
    // When its run has failed, probes find out in a fraction of a run.
    if ((isProbing && search.asking?.question === undefined) || isAwaitingQuestion(queue, search)) continue;
    const split = bestSplit(queue, search);
    const value = split === undefined ? 0 : SPLIT_WEIGHT * split.mass * search.members.length;
    if (split === undefined || value < queue.settings.runCost || value <= (best?.value ?? 0)) continue;
    best = { proposal: { kind: 'prefix', search: search.number, length: split.length }, value };
  }
  return best === undefined ? [] : [best.proposal];
}

const LEAST_OVERRUN_MS = 60_000;

/** The candidates of the line that take too long, while others wait. */
// SPEC K18
export function overruns(queue: Queue, at: Instant): readonly Candidate[] {
  return overrunTimes(queue)
    .filter(({ candidate, until }) => until <= at && isInTheWay(queue, candidate))
    .map(({ candidate }) => candidate);
}

/** An entry that waits overlaps with it. In lanes, most runs are in nobody's way. */
function isInTheWay(queue: Queue, { members }: Candidate): boolean {
  if (queue.settings.mode === 'SINGLE') return true;
  const footprint = footprintOf(queue, members);
  for (const prNumber of walk(queue.index.pending)) {
    const entry = findEntry(queue, prNumber);
    if (entry !== undefined && footprint.overlaps(targetsOf(queue, entry))) return true;
  }
  return false;
}

function overrunsAt(queue: Queue, now: Instant): Instant | undefined {
  const later = overrunTimes(queue).flatMap(({ until }) => (until > now ? until : []));
  return later.length === 0 ? undefined : Math.min(...later);
}

function overrunTimes(queue: Queue): readonly { readonly candidate: Candidate; readonly until: Instant }[] {
  const { durationMs } = queue.learned;
  const { overrun } = policyOf(queue);
  if (!Number.isFinite(overrun) || durationMs === undefined || queue.index.pending.size === 0 || !mayStartTests(queue))
    return [];
  const limitMs = Math.max(overrun * durationMs, LEAST_OVERRUN_MS);
  return lineOf(queue).flatMap((candidate) => {
    const { testingSince } = candidate;
    if (candidate.state !== 'testing' || testingSince === undefined) return [];
    return unlanded(queue, candidate.beneath).length > 0 ? [] : { candidate, until: testingSince + limitMs };
  });
}
