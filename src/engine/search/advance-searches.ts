import type { Work } from '../model/work.ts';
import { concludeHalves } from './halves.ts';
import { concludePrefixes, isUntouched, settleSearched } from './prefix-search.ts';

/** Draws the conclusions from the results of all runs of searches. */
export function advanceSearches(work: Work): void {
  const known = new Set(work.before.bisections);
  for (const search of work.queue.bisections) {
    const { number, how } = search;
    if (how === 'halves') while (concludeHalves(work, number));
    else if (!known.has(search) || !isUntouched(work, search)) {
      while (concludePrefixes(work, number));
      settleSearched(work, number);
    }
  }
}
