import type { Entry, EntryState } from '../../engine/queue.ts';
import { code, tame } from './markdown.ts';
import type { PageFacts } from './page-facts.ts';

export interface Headline {
  readonly icon: string;
  /** Without the branch. */
  readonly text: string;
}

const HEADLINES: { readonly [State in EntryState]: Headline } = {
  NOT_READY: { icon: '✨', text: 'Submitted, not ready yet' },
  PENDING: { icon: '⏳', text: 'In the queue, waiting to be tested' },
  TESTING: { icon: '🧪', text: 'Being tested' },
  PENDING_FAILURE: { icon: '⚠️', text: 'A check failed; it may not be to blame' },
  TESTS_PASSED: { icon: '👍', text: 'Passed; it lands when its turn comes' },
  FAILED: { icon: '❌', text: 'Failed and removed from the queue' },
  CANCELLED: { icon: '🚫', text: 'Not in the queue any more' },
  MERGED: { icon: '✅', text: 'Landed' },
};

const BISECTED: Headline = { icon: '🔎', text: 'Its batch failed; it is tested again in smaller parts' };
const RETURNED: Headline = { icon: '↩️', text: 'Back in the queue: the branch was broken, not this' };
const UNTESTED: Headline = { icon: '❌', text: 'Could not be tested, and was removed from the queue' };
const REFUSED: Headline = { icon: '❌', text: 'Could not be landed, and was removed from the queue' };
const BY_HAND: Headline = { icon: '✅', text: 'Merged outside the queue' };
const DIRECT: Headline = { icon: '✅', text: 'Landed directly: it was up to date and had passed' };

/** No test of it ever ran. */
export function isUntested({ state, because }: Entry): boolean {
  return state === 'FAILED' && because.reason.startsWith('START_TEST_RUN_');
}

export function headlineOf(entry: Entry): Headline {
  const { state, bisection, because } = entry;
  const { reason } = because;
  if (state === 'MERGED' && reason === 'MANUAL_MERGE') return BY_HAND;
  if (state === 'MERGED' && reason === 'MERGE_GRAPH_DIRECT_MERGE') return DIRECT;
  if (isUntested(entry)) return UNTESTED;
  if (state === 'FAILED' && (reason.startsWith('GITHUB_API_') || reason === 'PR_UPDATED_AT_MERGE_TIME')) return REFUSED;
  if (bisection !== undefined) return BISECTED;
  if (state === 'PENDING' && reason === 'TARGET_BRANCH_AT_FAULT') return RETURNED;
  return HEADLINES[state];
}

/** Markdown, one line. */
export function renderHeadline({ entry, branch, explanation, admitted }: PageFacts): string {
  const { icon, text } = headlineOf(entry);
  const { position } = explanation;
  const place = position === undefined ? '' : `, number ${position} of ${Math.max(position, admitted)}`;
  return `### ${icon} ${text} · ${code(branch)}${place}`;
}

/** Plain text, one line. */
export function titleOf({ entry, run }: PageFacts): string {
  const { text } = headlineOf(entry);
  const checks = run?.failed.filter(({ isWaived }) => !isWaived).map(({ name }) => tame(name, 60)) ?? [];
  if (entry.state === 'MERGED' && entry.landed !== undefined) return `${text} as ${entry.landed.sha.slice(0, 12)}`;
  if (entry.state !== 'FAILED' || checks.length === 0) return text;
  const more = checks.length > 2 ? ` and ${checks.length - 2} more` : '';
  return `${text}: ${checks.slice(0, 2).join(', ')}${more}`;
}
