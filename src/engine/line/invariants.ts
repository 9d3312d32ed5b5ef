import { changedKeys, getIn, listOf, valuesOf } from '../../lib/int-map.ts';
import { walk } from '../../lib/sorted-list.ts';
import { type Candidate, contains, isOfLine, verdictOfRequired } from '../model/candidate.ts';
import { buildIndex } from '../model/entry-index.ts';
import { footprintOf, targetsOf } from '../model/footprint.ts';
import { candidateNumberOf, searchNumberOf } from '../model/place.ts';
import { orderKey } from '../model/priority.ts';
import {
  type Entry,
  findCandidate,
  findEntry,
  findLiveMember,
  isAdmitted,
  isLanding,
  isLive,
  ownRunOf,
  type Queue,
} from '../model/queue.ts';
import { candidatesOf, lineOf, stateUnder, unlanded } from '../model/roster.ts';
import { entriesBelow, needsOf } from '../model/stack.ts';
import { waivedIn } from '../model/waiver.ts';
import type { Step } from '../model/work.ts';
import { mayVouch, voucherOf } from './vouch.ts';

/**
 * The invariants of every queue. Production checks the part that a step touched, tests check all of it. Returns a
 * sentence about the broken invariant; undefined if none is broken.
 */
// SPEC I1
export function findBreach(before: Queue, step: Step): string | undefined {
  const { queue } = step;
  const entries = changedKeys(before.entries, queue.entries).flatMap((key) => getIn(queue.entries, key) ?? []);
  const candidates = changedKeys(before.candidates, queue.candidates).flatMap(
    (key) => getIn(queue.candidates, key) ?? [],
  );
  return (
    findFirst(entries, (entry) => breachOfEntry(queue, entry)) ??
    findFirst(candidates, (candidate) => breachOfCandidate(queue, candidate)) ??
    breachOfEndings(step) ??
    breachOfProbes(before, step) ??
    breachOfLanding(before, step)
  );
}

/** Checks everything. The cost grows with the length of the queue. */
export function findBreachAnywhere(queue: Queue): string | undefined {
  return (
    findFirst(valuesOf(queue.entries), (entry) => breachOfEntry(queue, entry)) ??
    findFirst(candidatesOf(queue), (candidate) => breachOfCandidate(queue, candidate)) ??
    breachOfPasses(queue) ??
    breachOfOrder(queue) ??
    breachOfBisections(queue) ??
    breachOfIndex(queue)
  );
}

/** The state of an entry matches its place. */
function breachOfEntry(queue: Queue, entry: Entry): string | undefined {
  const name = `#${entry.prNumber}`;
  if (!isLive(entry.state)) return `${name} has ended and is still in the queue`;
  if ((entry.state === 'NOT_READY') !== !isAdmitted(entry)) return `${name} is ${entry.state}, against its admission`;
  if (entry.place.kind !== 'line') {
    const isWaiting = entry.state === 'NOT_READY' || entry.state === 'PENDING' || entry.place.kind === 'search';
    return isWaiting ? undefined : `${name} is ${entry.state} without a candidate`;
  }
  const candidate = findCandidate(queue, entry.place.candidate);
  if (candidate === undefined) return `${name} names candidate ${entry.place.candidate}, which has ended`;
  if (candidate.purpose.kind === 'direct' && entry.state === 'NOT_READY') return undefined;
  const state = voucherOf(queue, entry) === undefined ? stateUnder(candidate) : 'TESTS_PASSED';
  return entry.state === state ? undefined : `${name} is ${entry.state} where its candidate makes it ${state}`;
}

/** At most one live candidate of the line has an entry as a member. Every member is in the queue or has landed. */
function breachOfCandidate(queue: Queue, candidate: Candidate): string | undefined {
  const name = `candidate ${candidate.number}`;
  if (candidate.endedAt !== undefined) return `${name} has ended and is still in the queue`;
  if (candidate.state === 'passed' && candidate.pass === undefined) return `${name} passed without a proof`;
  const { pass, purpose, question } = candidate;
  if ((pass?.by === 'own_run' || pass?.by === 'question') && verdictOfRequired(candidate) !== 'passed')
    return `${name} passed against its checks`;
  if (pass !== undefined && (pass.by === 'question') !== (question !== undefined))
    return `${name} passed as if other tests had run`;
  if (question !== undefined && purpose.kind !== 'bisection') return `${name} is a probe outside a search`;
  if ((candidate.pass?.waived !== undefined) !== (candidate.pass !== undefined && waivedIn(candidate).length > 0))
    return `${name} hides what it waived`;
  if ((candidate.state === 'failed') !== (candidate.failure !== undefined)) return `${name} failed without a failure`;
  const carried = new Set(candidate.beneath.map(({ prNumber }) => prNumber));
  for (const member of candidate.members) {
    const entry = findLiveMember(queue, member);
    if (entry === undefined) return `${name} tests #${member.prNumber}, which has left`;
    const lacking = needsOf(entry).find(({ number }) => !carried.has(number));
    if (lacking !== undefined) return `${name} tests #${member.prNumber} without #${lacking.number}, which is below it`;
    carried.add(member.prNumber);
    if (isOfLine(candidate) && candidateNumberOf(entry) !== candidate.number) {
      return `${name} claims #${member.prNumber}, which is in another place`;
    }
  }
  return undefined;
}

/** A pass by a waiver or by a probe proves no other candidate. */
function breachOfPasses(queue: Queue): string | undefined {
  const provesNothing = (candidate: Candidate | undefined) =>
    candidate?.pass?.waived !== undefined || candidate?.question !== undefined;
  const remembered = listOf(queue.passes).find(provesNothing);
  if (remembered !== undefined) return `candidate ${remembered.number} is remembered although it proves nothing`;
  const isOfNothing = ({ number, pass, sameTreeAs }: Candidate) =>
    (pass?.by === 'reused_run' && provesNothing(findCandidate(queue, pass.provenBy))) ||
    (sameTreeAs !== undefined && sameTreeAs !== number && findCandidate(queue, sameTreeAs)?.question !== undefined);
  const reused = candidatesOf(queue).find(isOfNothing);
  return reused === undefined ? undefined : `candidate ${reused.number} rests on one that proves nothing`;
}

/** A probe shows no more than its question: an entry that it clears was not seen to pass, and nothing is learned of it. */
// SPEC B19
function breachOfProbes(before: Queue, { queue, transitions, endedCandidates }: Step): string | undefined {
  const probes = new Set<number>(endedCandidates.flatMap(({ number, question }) => (question ? number : [])));
  const isByProbe = ({ because }: Step['transitions'][number]) => probes.has(because.candidate ?? 0);
  const cleared = transitions.filter((each) => each.because.reason === 'BISECTION_TEST_RUN_PASSED' && isByProbe(each));
  const proven = cleared.find(({ prNumber }) => findEntry(queue, prNumber)?.clearedBySearch !== undefined);
  if (proven !== undefined) return `#${proven.prNumber} counts as tested by a probe`;
  if (queue.learned.records === before.learned.records) return undefined;
  const hasPassed = (run: Candidate | undefined) => run?.pass?.by === 'own_run';
  const isTaught = [...endedCandidates, ...candidatesOf(queue)].some(hasPassed);
  return isTaught ? undefined : 'the queue learned from something else than a run of all tests';
}

/** An entry leaves once and does not stay after it left. Every transition has a reason. */
function breachOfEndings({ ended, endedCandidates, queue, transitions }: Step): string | undefined {
  const back = endedCandidates.find(({ number }) => findCandidate(queue, number) !== undefined);
  if (back !== undefined) return `candidate ${back.number} ended and stayed`;
  const submissions = new Set<number>();
  for (const entry of ended) {
    if (submissions.has(entry.submission)) return `#${entry.prNumber} left twice in one step`;
    submissions.add(entry.submission);
    if (findEntry(queue, entry.prNumber)?.submission === entry.submission) return `#${entry.prNumber} left and stayed`;
    const { reason, landedAs } = entry.because;
    const isByQueue = entry.state === 'MERGED' && reason !== 'MANUAL_MERGE' && landedAs === undefined;
    if (isByQueue !== (entry.landed !== undefined)) return `#${entry.prNumber} is ${entry.state} against its landing`;
  }
  return transitions.some(({ because }) => because.reason === undefined) ? 'a transition has no reason' : undefined;
}

/** A candidate lands only if it passed, the queue may land, and the expected head is the known one. */
function breachOfLanding(before: Queue, { queue, effects }: Step): string | undefined {
  for (const effect of effects) {
    if (effect.kind !== 'land_candidate') continue;
    const candidate = findCandidate(queue, effect.candidate);
    if (queue.state === 'PAUSED' || queue.parked !== undefined) return 'a paused queue lands';
    // Only resuming a parked queue requests the landing again that was under way.
    const isUnderWay = before.landing !== undefined && queue.landing === before.landing;
    if (isUnderWay && before.parked === undefined) return 'two landings at once';
    if (candidate?.state !== 'passed') return `candidate ${effect.candidate} lands without having passed`;
    if (candidate.question !== undefined) return `candidate ${effect.candidate} lands although few tests ran`;
    if (effect.expectedHead !== queue.head?.sha) return 'a landing expects another head than the one known';
    const [waiting] = unlanded(queue, candidate.beneath);
    if (waiting !== undefined && !mayVouch(queue, candidate))
      return `candidate ${effect.candidate} lands before #${waiting.prNumber}`;
  }
  return undefined;
}

/**
 * A candidate of the line contains every entry ahead that it overlaps with, and comes after everything it is built on.
 * Entries that are landing are exempt.
 */
function breachOfOrder(queue: Queue): string | undefined {
  for (const entry of valuesOf(queue.entries)) {
    const behind = entriesBelow(queue, entry).find((other) => isAdmitted(entry) && orderKey(other) > orderKey(entry));
    if (behind !== undefined) return `#${entry.prNumber} is ahead of #${behind.prNumber}, which is below it`;
  }
  const line = lineOf(queue);
  for (const candidate of line) {
    const members = candidate.members.filter((member) => {
      const entry = findLiveMember(queue, member);
      return entry !== undefined && !isLanding(queue, entry);
    });
    const footprint = footprintOf(queue, members);
    for (const other of line) {
      if (other === candidate) break;
      for (const entry of unlanded(queue, other.members)) {
        if (isLanding(queue, entry)) continue;
        if (!contains(candidate, entry.prNumber) && footprint.overlaps(targetsOf(queue, entry))) {
          return `candidate ${candidate.number} lacks #${entry.prNumber}, which is ahead of it`;
        }
      }
    }
    for (const entry of unlanded(queue, candidate.beneath)) {
      const own = ownRunOf(queue, entry);
      if (own === undefined || own.place >= candidate.place) {
        return `candidate ${candidate.number} is built on #${entry.prNumber}, which is not ahead of it`;
      }
    }
  }
  return undefined;
}

function breachOfBisections(queue: Queue): string | undefined {
  const searched = new Map<number, number>();
  for (const { number, members } of queue.bisections) {
    for (const member of members) {
      if (searched.has(member.prNumber)) return `#${member.prNumber} is searched twice`;
      searched.set(member.prNumber, number);
      const entry = findLiveMember(queue, member);
      if (entry === undefined || searchNumberOf(entry) !== number)
        return `#${member.prNumber} is not in bisection ${number}`;
    }
  }
  for (const entry of valuesOf(queue.entries)) {
    if (searched.get(entry.prNumber) !== searchNumberOf(entry)) return `#${entry.prNumber} is lost by its bisection`;
  }
  const isStray = ({ purpose, members }: Candidate) =>
    purpose.kind === 'bisection' && members.some(({ prNumber }) => searched.get(prNumber) !== purpose.bisection);
  const stray = candidatesOf(queue).find(isStray);
  return stray === undefined ? undefined : `candidate ${stray.number} belongs to no bisection`;
}

function breachOfIndex(queue: Queue): string | undefined {
  const fresh = buildIndex(queue);
  for (const list of ['pending', 'aside', 'unready', 'ready'] as const) {
    if ([...walk(fresh[list])].join() !== [...walk(queue.index[list])].join()) return `the index of ${list} is wrong`;
  }
  return fresh.admitted === queue.index.admitted ? undefined : 'the count of admitted entries is wrong';
}

function findFirst<T>(values: Iterable<T>, find: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
