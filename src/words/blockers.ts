import { type Candidate, openChecks } from '../engine/model/candidate.ts';
import { type Entry, type EntryState, ownRunOf } from '../engine/model/queue.ts';
import { present } from '../lib/present.ts';
import { type ExplanationReason, reason } from './explanation.ts';
import { clockTime, count, prName } from './phrases.ts';
import { named, type View } from './view.ts';

/** Only the first few entries are named, open ones first. */
const NAMED = 3;

export function waitingForSome(view: View, entries: readonly Entry[], depth: number): ExplanationReason[] {
  const open = entries.filter(({ state }) => state !== 'TESTS_PASSED');
  const sorted = [...open, ...entries.filter(({ state }) => state === 'TESTS_PASSED')];
  // Only the first entry is explained to full depth. For the others their state is enough.
  const shown = sorted.slice(0, NAMED).map((entry, index) => waitingFor(view, entry, index === 0 ? depth : 1));
  const more = entries.length - shown.length;
  if (more === 0) return shown;
  return [...shown, reason('AND_MORE', `Blocked by ${count(more, 'more pull request')} ahead of it.`)];
}

/** With the time at which it came into the state. */
const STATES: { readonly [State in EntryState]?: (time: string) => string } = {
  NOT_READY: (time) => `has not been ready since ${time}`,
  PENDING: (time) => `has been waiting since ${time} to be tested`,
  TESTING: (time) => `has been under test since ${time}`,
  TESTS_PASSED: (time) => `passed at ${time}`,
  PENDING_FAILURE: (time) => `failed at ${time}; the cause is not known yet`,
};

/** "Blocked by #12, which has been under test since 10:04 UTC; 2 of 5 required checks are open." */
function waitingFor(view: View, entry: Entry, depth: number): ExplanationReason {
  const { prNumber, stateChangedAt: since, state } = entry;
  const candidate = ownRunOf(view.queue, entry);
  const checks = candidate === undefined ? '' : checksOf(candidate);
  const text = `Blocked by ${prName(named(entry))}, which ${STATES[state]?.(clockTime(since)) ?? state}${checks}.`;
  const about = { prNumber, since, ...present({ testRun: candidate?.number }) };
  return reason('WAITING_FOR', text, about, view.why(entry, depth - 1));
}

function checksOf(candidate: Candidate): string {
  if (candidate.state !== 'testing' || candidate.required === undefined) return '';
  const open = openChecks(candidate).length;
  return `; ${open} of ${count(candidate.required.names.length, 'required check')} ${open === 1 ? 'is' : 'are'} open`;
}
