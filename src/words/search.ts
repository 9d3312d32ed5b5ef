import { findBaseTest } from '../engine/evidence/suspicion.ts';
import { findSearch, isSettledFailure, marksOf, shortestFailure } from '../engine/line/marks.ts';
import { isOfMachine } from '../engine/model/blame.ts';
import { type Candidate, isUnderTest, type Member } from '../engine/model/candidate.ts';
import { confirmationsNeeded, flakeChance, rateOf } from '../engine/model/learned.ts';
import { policyOf } from '../engine/model/policy.ts';
import type { Entry, Queue } from '../engine/model/queue.ts';
import type { Search } from '../engine/model/search.ts';
import { isWaitingForControl } from '../engine/search/control.ts';
import { doubtOf, isOpen, MOST_OWN_RUNS, MOST_RUNS_IN_FLAKY_TESTS } from '../engine/search/doubt.ts';
import { entriesAhead } from '../engine/search/prefixes.ts';
import { type ExplanationReason, reason } from './explanation.ts';
import { count, listPrs } from './phrases.ts';
import { named, type View } from './view.ts';

export function searchOf(queue: Queue, { place }: Entry): Search | undefined {
  const search = place.kind === 'search' ? findSearch(queue, place.search) : undefined;
  return search?.how === 'prefixes' ? search : undefined;
}

/** Why an entry is in a search in prefixes, and how far the search is. */
// SPEC K21
export function searchReason(view: View, entry: Entry, search: Search): Omit<ExplanationReason, 'reasons'> {
  const { queue } = view;
  if (search.accused !== undefined) return accusedReason(queue, entry, search);
  const failed = shortestFailure(marksOf(queue, search));
  if (failed === undefined) return scoutReason(queue, entry, search);
  const suspects = search.members.slice(0, failed.length);
  const isSuspect = suspects.some((member) => isIt(member, entry));
  if (!isSuspect) return reason('BEHIND_CULPRIT', behindText(suspects));
  if (failed.length === 1) return reason('CONFIRMING', confirmingText(queue, entry, search));
  const others = suspects.filter((member) => !isIt(member, entry));
  return reason(
    'BISECTION',
    `A run with it failed. Sluice searches for the cause: this pull request or ${listPrs(others)}.`,
  );
}

function isIt({ submission }: Member, entry: Entry): boolean {
  return submission === entry.submission;
}

function behindText(suspects: readonly Member[]): string {
  const who = suspects.length === 1 ? `${listPrs(suspects)} failed` : `One of ${listPrs(suspects)} failed`;
  return `${who} in a run with it. It returns to the line, untested, as soon as the cause is known.`;
}

/**
 * The run of its own that is under way or next, and how many it takes if all fail. `isWaiting`: the failures suffice as
 * soon as CI is seen to work. Undefined unless the entry failed by itself, and runs of its own confirm that.
 */
// SPEC E62
export function confirmingOf(queue: Queue, entry: Entry, search: Search) {
  const [first] = marksOf(queue, search);
  const isFirst = search.members[0]?.submission === entry.submission;
  if (!isFirst || first?.length !== 1 || !first.runs.some(isSettledFailure) || !policyOf(queue).confirms)
    return undefined;
  const { missing } = doubtOf(queue, search);
  // The run that began the search is none of its own.
  const ended = first.runs.filter((run) => !isOpen(queue, run)).length - (search.signs === undefined ? 1 : 0);
  const run = Math.max(1, ended + 1);
  const most = Number.isFinite(missing) ? MOST_OWN_RUNS : MOST_RUNS_IN_FLAKY_TESTS;
  const isWaiting = missing <= 0 && isWaitingForControl(queue, search);
  return {
    run,
    of: Math.max(run, Math.min(ended + missing, run + Math.max(0, most - entry.ownRuns))),
    isWaiting: isWaiting && entriesAhead(queue, search, entry).length === 0,
  };
}

function confirmingText(queue: Queue, entry: Entry, search: Search): string {
  const { run, of } = confirmingOf(queue, entry, search) ?? { run: 1, of: 1 };
  return `The failure is being confirmed: run ${run} of ${of}, alone on ${queue.branch}. ${doubtText(queue, search)}`;
}

/** Why one failure does not decide. */
function doubtText(queue: Queue, search: Search): string {
  const { learned, branch } = queue;
  const { test, missing } = doubtOf(queue, search);
  if (isMaybeOfMachine(queue, search))
    return `CI may be to blame: the first such failure does not count, and ${branch} is tested too.`;
  if (test !== undefined && learned.records.tests[test.id] !== undefined) {
    const often = Number.isFinite(missing) ? '' : ', too often to judge by it';
    return `The test ${test.name} also fails in about ${percentOf(rateOf(learned, test.id))} of the runs without it${often}.`;
  }
  return confirmationsNeeded(learned) > 1
    ? 'The queue is young and does not know yet how often runs fail by chance.'
    : `About ${percentOf(flakeChance(learned))} of the runs here fail by chance.`;
}

function isMaybeOfMachine(queue: Queue, search: Search): boolean {
  const last = marksOf(queue, search)[0]?.runs.findLast(isSettledFailure);
  return last !== undefined && isOfMachine(last);
}

function percentOf(rate: number): string {
  return `${Math.max(1, Math.round(100 * rate))}%`;
}

function scoutReason(queue: Queue, entry: Entry, search: Search): Omit<ExplanationReason, 'reasons'> {
  const others = search.members.filter((member) => !isIt(member, entry));
  const withWhom = others.length === 0 ? '' : `, together with ${listPrs(others)}`;
  const run = runOf(queue, search);
  if (run?.namedFor?.isBisection === false) {
    return reason('OVERRUN', `Its run takes much longer than others. The queue goes on without it${withWhom}.`);
  }
  const why = 'the pull requests ahead of it may not pass all together';
  return reason('AHEAD_OF_TURN', `It is tested ahead of its turn on ${queue.branch}${withWhom}: ${why}.`);
}

function runOf(queue: Queue, search: Search): Candidate | undefined {
  return marksOf(queue, search)
    .flatMap(({ runs }) => runs)
    .findLast(isUnderTest);
}

function accusedReason(queue: Queue, entry: Entry, search: Search): Omit<ExplanationReason, 'reasons'> {
  const confirming = confirmingOf(queue, entry, search);
  if (search.accused?.isLast === true && !confirming?.isWaiting) {
    if (confirming !== undefined) return reason('CONFIRMING', confirmingText(queue, entry, search));
    return reason(
      'LAST_TEST',
      `It failed on an older ${queue.branch}. It is tested again, alone on ${queue.branch} as it is now.`,
    );
  }
  const times = count(doubtOf(queue, search).failures, 'time');
  const ahead = entriesAhead(queue, search, entry);
  if (confirming?.isWaiting) {
    const whose = findBaseTest(queue, search.base) === undefined ? 'another pull request' : queue.branch;
    const text = `It failed ${times} in the same way, which decides if CI works. It waits for a run of ${whose}, which shows that CI works.`;
    return reason('WAITING_FOR_CONTROL', text);
  }
  if (ahead.length === 0)
    return reason(
      'ACCUSED',
      `It failed ${times} on top of what passed. Sluice tests whether ${queue.branch} itself is to blame.`,
    );
  const whom = listPrs(ahead.slice(0, NAMED).map(named));
  const more = ahead.length > NAMED ? ` and ${ahead.length - NAMED} more` : '';
  return reason(
    'ACCUSED',
    `It failed ${times} on top of what passed. It stays until ${whom}${more} have landed or left, because it may need one of them.`,
  );
}

const NAMED = 3;

const BEGIN_REPAIR = 'You can begin the repair now.';

export function nextInPrefixes(queue: Queue, entry: Entry, search: Search): string {
  const { run, of, isWaiting } = confirmingOf(queue, entry, search) ?? { run: 1, of: 1, isWaiting: false };
  if (isWaiting)
    return `If that run passes, this pull request is removed. If it fails too, nobody is removed for that. ${BEGIN_REPAIR}`;
  if (search.accused?.isLast === true) return 'If it passes, it lands in its turn. If it fails, it is removed.';
  if (search.accused !== undefined)
    return 'It is tested once more then, and removed if it fails again. Push a fix and submit it again if you know the cause.';
  const failed = shortestFailure(marksOf(queue, search));
  if (failed === undefined)
    return 'If this run passes, it is cleared and lands with the next run. If it fails, Sluice searches for the cause.';
  const place = search.members.findIndex((member) => isIt(member, entry));
  if (place >= failed.length) return 'It is tested automatically once the cause is known.';
  if (failed.length === 1) {
    const undecided = Number.isFinite(doubtOf(queue, search).missing) ? '' : ', undecided';
    const fails = run < of ? 'it is tested once more' : `it is removed${undecided}`;
    const repair = isMaybeOfMachine(queue, search) ? '' : ` ${BEGIN_REPAIR}`;
    return `The line goes on without this pull request. If its run passes, it returns to its place. If its run fails, ${fails}.${repair}`;
  }
  return 'If its run passes, it is cleared and lands in its turn. If it caused the failure, it is removed.';
}
