import { present } from '../../lib/present.ts';
import { walk } from '../../lib/sorted-list.ts';
import { branchSubjectOf, type Candidate, compositionOf, type Member } from '../model/candidate.ts';
import { searchNumberOf, WAITING } from '../model/place.ts';
import type { PrNumber } from '../model/pull-request.ts';
import { namesOf } from '../model/question.ts';
import { type Because, type Entry, findLiveMember, type Queue } from '../model/queue.ts';
import { runsOfSearch, unlanded } from '../model/roster.ts';
import type { Asking, Search } from '../model/search.ts';
import { entriesAbove } from '../model/stack.ts';
import {
  addCandidate,
  amend,
  type EndCause,
  endCandidate,
  entryOf,
  keep,
  keepCandidate,
  move,
  type Work,
} from '../model/work.ts';
import { aheadTest } from './ahead.ts';
import { findSearch, marksOf } from './marks.ts';
import { startCandidate } from './test-run.ts';

export function keepSearch(work: Work, search: Search): void {
  const hasEnded = search.members.length === 0;
  const kept = hasEnded ? [] : [search];
  const bisections = work.queue.bisections.flatMap((other) => (other.number === search.number ? kept : [other]));
  amend(work, { bisections });
  if (!hasEnded) return;
  // A run with members may go on in another search.
  const controls = runsOfSearch(work.queue, search).filter((run) => run.members.length === 0);
  for (const control of controls) endCandidate(work, control, { reason: 'BISECTION_TEST_RUN_PASSED' });
}

const NEW_SEARCH = { survivors: [], cuts: [], isRestHeld: false, failedSets: [], accused: undefined };

type Begun = Pick<Search, 'how' | 'base' | 'isOnHead' | 'members'> &
  Partial<Pick<Search, 'survivors' | 'cuts' | 'failedSets' | 'signs' | 'asking'>>;

/** Its members are out of the line. A search that comes from another one stands next to it. */
export function beginSearch(work: Work, begun: Begun, from?: Search): number {
  const { bisections, bisectionsEver, admissions } = work.queue;
  const number = bisectionsEver + 1;
  const batch = from?.batch ?? number;
  const search: Search = { ...NEW_SEARCH, ...begun, number, batch, admissions };
  const at = bisections.findLastIndex((other) => other.batch === batch);
  amend(work, {
    bisectionsEver: number,
    bisections: bisections.toSpliced(at < 0 ? bisections.length : at + 1, 0, search),
  });
  for (const { prNumber } of begun.members) {
    keep(work, { ...entryOf(work, prNumber), place: { kind: 'search', search: number } });
  }
  return number;
}

/** Tests the first `length` members on the survivors. Those before `from` are not under test. */
export function startRun(
  work: Work,
  { number, base, survivors, members, asking }: Search,
  {
    from = 0,
    length,
    isAgain = false,
  }: { readonly from?: number; readonly length: number; readonly isAgain?: boolean },
): void {
  const candidate = addCandidate(work, {
    purpose: { kind: 'bisection', bisection: number, ...(isAgain ? { isAgain } : {}) },
    base,
    beneath: [...survivors, ...members.slice(0, from)],
    members: members.slice(from, length),
    parent: undefined,
    ...present({ question: asking?.question }),
  });
  startCandidate(work, candidate);
}

/** Ends the runs of more than `length` members. */
export function endLonger(work: Work, search: Search, length: number, ending: EndCause): void {
  for (const mark of marksOf(work.queue, search)) {
    if (mark.length > length) for (const run of mark.runs) endCandidate(work, run, ending);
  }
}

/** Ends runs of a search. Their members are pending again, unless another run tests them. */
export function dropRuns(
  work: Work,
  search: Search,
  runs: readonly Candidate[],
  because: Because,
  leaving?: PrNumber,
): void {
  for (const run of runs) endCandidate(work, run, because);
  const isOf = (others: readonly Candidate[], { submission }: Member) =>
    others.some(({ members }) => members.some((member) => member.submission === submission));
  const left = runsOfSearch(work.queue, search);
  for (const member of search.members) {
    const entry = isOf(runs, member) && !isOf(left, member) ? findLiveMember(work.queue, member) : undefined;
    if (entry === undefined || entry.state === 'PENDING' || entry.prNumber === leaving) continue;
    move(work, entry, { to: 'PENDING', ...because });
  }
}

/** The first members passed. They return to the line, and the others are tested on them. */
// SPEC B5, K8
export function clear(work: Work, search: Search, length: number, proof: Candidate): void {
  const { number, batch, how, isOnHead, survivors, members, cuts, asking } = search;
  const cleared = members.slice(0, length);
  for (const mark of marksOf(work.queue, search)) {
    for (const run of mark.runs) {
      if (mark.length > length) moveBeneath(work, run, cleared);
      else endCandidate(work, run, { reason: 'BISECTION_TEST_RUN_PASSED' });
    }
  }
  keepSearch(work, {
    ...search,
    survivors: [...survivors, ...cleared],
    members: members.slice(length),
    cuts: cuts.flatMap((cut) => (cut > length ? cut - length : [])),
    accused: undefined,
    ...present({ asking: asking && withPassed(asking, proof) }),
  });
  const isProven = proof.question === undefined && proof.pass?.waived === undefined;
  const clearedBySearch = isOnHead && isProven ? batch : undefined;
  // SPEC B20
  const isCleared = proof.question === undefined || asking?.isWhole === true;
  const mark = how === 'halves' ? { clearedByPart: `${number}.1` } : isCleared && { isCleared };
  const asked = proof.question && namesOf(proof.question);
  const because = { reason: 'BISECTION_TEST_RUN_PASSED' as const, candidate: proof.number, ...present({ asked }) };
  for (const entry of unlanded(work.queue, cleared)) {
    const returned = { ...entry, place: WAITING, wasTested: true, clearedBySearch, ...mark };
    move(work, returned, { to: 'PENDING', ...because });
  }
}

/** Notes when a probe passed: its tests can pass alone, and CI worked then. */
export function withPassed(asking: Asking, { question, testingSince, plannedAt, pass }: Candidate): Asking {
  if (question === undefined || pass === undefined) return asking;
  const passed = [...(asking.passed ?? []), { since: testingSince ?? plannedAt, at: pass.at }];
  return { ...asking, passed: passed.slice(-MOST_PASSED) };
}

/** A control of the begin of a run is still known when the run ends. */
const MOST_PASSED = 5;

/** The first members of a longer run are cleared. From now on it tests only the others. */
function moveBeneath(work: Work, run: Candidate, cleared: readonly Member[]): void {
  const { beneath, members } = run;
  const first = members.filter(({ submission }) => cleared.some((other) => other.submission === submission));
  if (first.length === 0) return;
  const namedFor = branchSubjectOf(run);
  keepCandidate(work, { ...run, namedFor, beneath: [...beneath, ...first], members: members.slice(first.length) });
}

/** Returns the members behind the first `from` to the line, untested. */
export function releaseRest(work: Work, number: number, from: number, because: Because): void {
  const search = findSearch(work.queue, number);
  const rest = search?.members.slice(from) ?? [];
  if (search === undefined || rest.length === 0) return;
  endLonger(work, search, from, because);
  keepSearch(work, { ...search, members: search.members.slice(0, from) });
  for (const entry of unlanded(work.queue, rest)) {
    move(work, { ...entry, place: WAITING, wasTested: true }, { to: 'PENDING', ...because });
  }
}

/** An entry leaves the queue, so the results of all runs of searches that contain it are void. */
// SPEC B9
export function leaveSearches(work: Work, leaving: Entry, because: Because): void {
  const isIt = ({ submission }: Member) => submission === leaving.submission;
  for (const search of work.queue.bisections) {
    const { survivors, members, cuts } = search;
    const place = members.findIndex(isIt);
    if (place < 0 && !survivors.some(isIt)) continue;
    const voided = runsOfSearch(work.queue, search).filter((run) => compositionOf(run).some(isIt));
    dropRuns(work, search, voided, because, leaving.prNumber);
    const moved = cuts.map((cut) => (place < 0 || cut <= place ? cut : cut - 1));
    keepSearch(work, {
      ...search,
      survivors: survivors.filter((member) => !isIt(member)),
      members: members.filter((member) => !isIt(member)),
      cuts: moved.filter((cut, index) => cut > (moved[index - 1] ?? 0)),
      isRestHeld: search.isRestHeld && (moved.at(-1) ?? 0) > (moved.at(-2) ?? 0),
    });
  }
}

/** Returns an entry to the line without a verdict, for example because it conflicts without a removed entry. */
export function releaseFromSearch(work: Work, entry: Entry, because: Because): void {
  leaveSearches(work, entry, because);
  const released = { ...entryOf(work, entry.prNumber), place: WAITING, wasTested: true };
  move(work, released, { to: 'PENDING', ...because });
  releaseAbove(work, entry.prNumber, because);
}

/** Entries built on one do not stay in a search without it: it may be one of the survivors there. */
// SPEC O38
export function releaseAbove(work: Work, prNumber: PrNumber, because: Because): void {
  for (const above of entriesAbove(work.queue, prNumber)) {
    const number = searchNumberOf(entryOf(work, above.prNumber));
    const search = number === undefined ? undefined : findSearch(work.queue, number);
    const isInside = (member: Member) => member.prNumber === prNumber;
    if (search === undefined || [...search.survivors, ...search.members].some(isInside)) continue;
    releaseFromSearch(work, above, because);
  }
}

/** An entry landed that was ahead of the accused one and is not in its runs. It may be what they lacked. */
// SPEC K30
function hasMissed(queue: Queue, search: Search, landed: readonly Entry[]): boolean {
  const known = new Set(search.survivors.map(({ submission }) => submission));
  const missed = landed.filter(({ submission }) => !known.has(submission));
  return unlanded(queue, search.members).some((entry) => missed.some(aheadTest(queue, search, entry)));
}

/** The target branch moved. Entries cleared by a search are known to pass only on top of its base. */
// SPEC B12
export function noteTargetMoved(work: Work, landed: readonly Entry[]): void {
  if (work.queue.bisectionsEver === 0) return;
  const isBy = (number: number) =>
    landed.length > 0 && landed.every(({ clearedBySearch }) => clearedBySearch === number);
  for (const search of work.queue.bisections) {
    if (search.isOnHead && !isBy(search.batch)) keepSearch(work, { ...search, isOnHead: false });
    if (search.accused !== undefined && hasMissed(work.queue, search, landed))
      keepSearch(work, { ...search, isOnHead: false, accused: { isLast: false } });
  }
  if (work.queue.index.cleared === 0) return;
  for (const prNumber of walk(work.queue.index.pending)) {
    const entry = entryOf(work, prNumber);
    if (entry.clearedBySearch !== undefined && !isBy(entry.clearedBySearch))
      keep(work, { ...entry, clearedBySearch: undefined });
  }
}
