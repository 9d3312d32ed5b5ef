import { findSearch, marksOf, shortestFailure } from '../engine/line/marks.ts';
import { type Candidate, isUnderTest, type Member } from '../engine/model/candidate.ts';
import type { Entry, Queue } from '../engine/model/queue.ts';
import type { Search } from '../engine/model/search.ts';
import { doubtOf } from '../engine/search/doubt.ts';
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
  if (failed.length === 1) return reason('CONFIRMING', confirmingText(queue, search));
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

function confirmingText(queue: Queue, search: Search): string {
  const { failures, missing } = doubtOf(queue, search);
  if (!Number.isFinite(missing))
    return 'It failed on top of what passed, in tests that often fail by chance. Sluice repeats the run.';
  const run = Math.max(1, failures);
  return `It failed on top of what passed. Sluice repeats the run to be sure that it is not chance: ${run} of ${run + Math.max(1, missing) - 1}.`;
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
  if (search.accused?.isLast === true) {
    return reason(
      'LAST_TEST',
      `It failed on an older ${queue.branch}. It is tested again, alone on ${queue.branch} as it is now.`,
    );
  }
  const times = count(doubtOf(queue, search).failures, 'time');
  const ahead = entriesAhead(queue, search, entry);
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

export function nextInPrefixes(queue: Queue, entry: Entry, search: Search): string {
  if (search.accused?.isLast === true) return 'If it passes, it lands in its turn. If it fails, it is removed.';
  if (search.accused !== undefined)
    return 'It is tested once more then, and removed if it fails again. Push a fix and submit it again if you know the cause.';
  const failed = shortestFailure(marksOf(queue, search));
  if (failed === undefined)
    return 'If this run passes, it is cleared and lands with the next run. If it fails, Sluice searches for the cause.';
  const place = search.members.findIndex((member) => isIt(member, entry));
  if (place >= failed.length) return 'It is tested automatically once the cause is known.';
  if (failed.length === 1) {
    const isLast = doubtOf(queue, search).missing <= 1;
    return `If it passes, the failure was a flake. If it fails, ${isLast ? 'it caused the failure' : 'it is repeated'}.`;
  }
  return 'If its run passes, it is cleared and lands in its turn. If it caused the failure, it is removed.';
}
