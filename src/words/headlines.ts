import { findSearch } from '../engine/line/marks.ts';
import type { Entry, EntryState, HoldCause, Queue } from '../engine/model/queue.ts';
import { freezeOf } from '../engine/model/roster.ts';
import { confirmingOf } from './search.ts';

export interface Headline {
  readonly icon: string;
  /** Without the branch. */
  readonly text: string;
}

const HEADLINES: { readonly [State in EntryState]: Headline } = {
  NOT_READY: { icon: '✨', text: 'Submitted, not ready yet' },
  PENDING: { icon: '⏳', text: 'In the queue, waiting to be tested' },
  TESTING: { icon: '🧪', text: 'Being tested' },
  PENDING_FAILURE: { icon: '⚠️', text: 'A check failed; the cause is not known yet' },
  TESTS_PASSED: { icon: '👍', text: 'Passed, waiting to land' },
  FAILED: { icon: '❌', text: 'Failed and removed from the queue' },
  CANCELLED: { icon: '🚫', text: 'Removed from the queue' },
  MERGED: { icon: '✅', text: 'Landed' },
};

const BISECTED: Headline = { icon: '🔎', text: 'Its batch failed; it is tested again in smaller parts' };
const RETURNED: Headline = { icon: '↩️', text: 'Back in the queue: the branch was broken, not this pull request' };
const UNTESTED: Headline = { icon: '❌', text: 'Could not be tested, and was removed from the queue' };
const REFUSED: Headline = { icon: '❌', text: 'Could not be landed, and was removed from the queue' };
const UNDECIDED: Headline = { icon: '❌', text: 'Removed from the queue, undecided' };
const BY_HAND: Headline = { icon: '✅', text: 'Merged outside the queue' };
const DIRECT: Headline = { icon: '✅', text: 'Landed directly: it was up to date and had passed' };
const APART: Headline = { icon: '🔎', text: 'Tested apart from the line' };
const ACCUSED: Headline = { icon: '❌', text: 'Failed; it stays until the pull requests ahead of it have left' };
const FROZEN: Headline = { icon: '🧊', text: 'Passed; lands when the freeze ends' };
const PAUSED: Headline = { icon: '⏸️', text: 'In the queue, which is paused' };

/** No test of it ever ran. */
export function isUntested({ state, because }: Entry): boolean {
  return state === 'FAILED' && because.reason.startsWith('START_TEST_RUN_');
}

export function headlineOf(queue: Queue, entry: Entry): Headline {
  const { state, place, because } = entry;
  const { reason } = because;
  if (entry.lost !== undefined) return { icon: '⚠️', text: `Landed, and no longer on ${queue.branch}` };
  if (state === 'MERGED' && reason === 'MANUAL_MERGE') return BY_HAND;
  if (state === 'MERGED' && reason === 'MERGE_GRAPH_DIRECT_MERGE') return DIRECT;
  if (isUntested(entry)) return UNTESTED;
  if (reason === 'TEST_RUN_UNDECIDED') return UNDECIDED;
  if (state === 'FAILED' && (reason.startsWith('GITHUB_API_') || reason === 'PR_UPDATED_AT_MERGE_TIME')) return REFUSED;
  if (place.kind === 'search') return searchedHeadline(queue, entry);
  if (state === 'PENDING' && queue.state === 'PAUSED') return PAUSED;
  if (state === 'TESTS_PASSED' && freezeOf(queue, entry) !== undefined) return FROZEN;
  if (state === 'PENDING' && queue.hold !== undefined && entry.place.kind !== 'line')
    return heldOf(queue.branch, queue.hold.cause);
  if (state === 'PENDING' && (reason === 'TARGET_BRANCH_AT_FAULT' || reason === 'FAILED_TESTS_FLAKY')) return RETURNED;
  return HEADLINES[state];
}

function searchedHeadline(queue: Queue, entry: Entry): Headline {
  const { state, place } = entry;
  const search = place.kind === 'search' ? findSearch(queue, place.search) : undefined;
  if (search?.accused?.isLast === true && state !== 'PENDING_FAILURE')
    return { icon: '🔎', text: `Failed on an older ${queue.branch}; tested once more` };
  const confirming = search?.how === 'prefixes' ? confirmingOf(queue, entry, search) : undefined;
  if (search !== undefined && confirming !== undefined) {
    const { run, of, isWaiting } = confirming;
    if (isWaiting) return { icon: '⚠️', text: 'Failed; waiting for a run that shows that CI works' };
    if (search.accused === undefined || search.accused.isLast)
      return { icon: '⚠️', text: `Failed, being confirmed: run ${run} of ${of}` };
  }
  if (search?.accused !== undefined) return ACCUSED;
  return search?.how === 'prefixes' ? APART : BISECTED;
}

function heldOf(branch: string, cause: HoldCause): Headline {
  const broken = cause.kind === 'checks' ? `${branch} itself is broken` : `nothing can be tested on ${branch}`;
  const isDown = cause.kind === 'checks' && cause.isOfMachine === true;
  return { icon: '🛑', text: `Held, because ${isDown ? 'CI seems to be down' : broken}` };
}
