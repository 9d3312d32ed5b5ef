import type { Foreseen } from '../engine/foresee.ts';
import { type Candidate, isUnderTest } from '../engine/model/candidate.ts';
import { candidateNumberOf } from '../engine/model/place.ts';
import { type Entry, isAdmitted, ownRunOf } from '../engine/model/queue.ts';
import { unlanded } from '../engine/model/roster.ts';
import type { Instant } from '../lib/clock.ts';
import { explain } from './explain.ts';
import { count, listPrs } from './phrases.ts';
import { named, orderOf } from './view.ts';

// SPEC O18
export function foreseenText(foreseen: Foreseen, now: Instant): string {
  const { outcome, entry } = foreseen;
  if (outcome.kind === 'ignored') return 'Nothing changes: it is in the queue exactly so.';
  if (outcome.kind === 'parked') return `The queue would stop itself instead: ${outcome.detail}.`;
  if (entry === undefined) return 'It leaves the queue at once.';
  return [ownText(foreseen, entry, now), ...costText(foreseen, entry)].join(' ');
}

function ownText({ after, was }: Foreseen, entry: Entry, now: Instant): string {
  if (!isAdmitted(entry)) {
    const why = explain(after, entry, now).reasons[0]?.text;
    const first = entry.priority.value === 0 ? ['Once it starts, it goes ahead of the others.'] : [];
    return ['It does not start yet.', ...(why === undefined ? [] : [why]), ...first].join(' ');
  }
  const run = ownRunOf(after, entry);
  if (run !== undefined && was !== undefined && candidateNumberOf(was) === run.number) return keptText(after, run);
  if (entry.place.kind === 'search') return 'It stays in the search for the cause of a failure.';
  if (run !== undefined && isUnderTest(run)) {
    const again = was?.place.kind !== 'line' ? 'It is tested at once' : 'Its run ends, and it is tested again at once';
    return `${again}, ${placeText(after, run)}.`;
  }
  const ahead = orderOf(after).findIndex(({ prNumber }) => prNumber === entry.prNumber);
  return ahead === 0 ? 'It is the next to be tested.' : `It waits: ${count(ahead, 'pull request')} stay ahead of it.`;
}

// SPEC O2
function keptText(queue: Foreseen['after'], run: Candidate): string {
  const how = isUnderTest(run) ? 'is under test already' : run.state === 'passed' ? 'has passed' : 'was tested already';
  const beneath = unlanded(queue, run.beneath);
  const after = beneath.length === 0 ? '' : ` behind ${listPrs(beneath.map(named))}`;
  return `It ${how}, and keeps its place${after}. If it has to be tested again, its new priority counts.`;
}

function placeText(queue: Foreseen['after'], run: Candidate): string {
  const beneath = unlanded(queue, run.beneath);
  return beneath.length === 0 ? `on ${queue.branch}` : `on top of ${listPrs(beneath.map(named))}`;
}

function costText({ interrupted, testedAgain }: Foreseen, entry: Entry): string[] {
  if (testedAgain.length === 0 && interrupted.length === 0)
    return entry.priority.value === 0 && isAdmitted(entry) ? ['No run is interrupted.'] : [];
  const runs =
    interrupted.length === 0
      ? []
      : [`${count(interrupted.length, 'run')} end${interrupted.length === 1 ? 's' : ''} before the result.`];
  const again = testedAgain.filter(({ place }) => place.kind === 'line').map(named);
  const later = testedAgain.filter(({ place }) => place.kind !== 'line').map(named);
  return [
    ...runs,
    ...(again.length === 0 ? [] : [`Tested again behind it: ${listPrs(again)}.`]),
    ...(later.length === 0 ? [] : [`Tested again later: ${listPrs(later)}.`]),
  ];
}
