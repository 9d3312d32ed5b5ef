import type { Sha } from '../lib/sha.ts';
import type { Landed } from './candidate.ts';
import type { PrNumber } from './pull-request.ts';

/** The record has the full list. */
const MAX_LISTED = 20;

/**
 * The proof for the entry's own commit, as the end of a sentence: "has exactly the files that were tested as …". Of
 * several entries that landed together, only the last commit was tested.
 */
// SPEC L18
export function landingProof(landed: Landed): string {
  const { kind, sha, tree, pushedSha, testedSha, testedTree, composedWith } = landed;
  if (kind === 'UNPROVEN') {
    return 'was merged by the forge onto something else than it was tested on: what is there now was not tested';
  }
  if (sha === testedSha) return 'is exactly the one that was tested';
  const tested = shortSha(testedSha);
  if (tree === testedTree) return `has exactly the files that were tested as ${tested}`;
  if (kind === 'PREFIX') {
    return `was merged before the last of those that were tested together as ${tested}, and was not tested by itself`;
  }
  const last = sha === pushedSha ? '' : `landed together with others; the last of them, ${shortSha(pushedSha)}, `;
  if (kind === 'COMPOSED') {
    return `${last}has the files that were tested as ${tested}, and what ${listOf(composedWith)} had landed in other files`;
  }
  return `${last}${pushedSha === testedSha ? 'is exactly the commit that was tested' : `has exactly the files that were tested as ${tested}`}`;
}

export function landedText(landed: Landed): string {
  return `Its commit ${shortSha(landed.sha)} ${landingProof(landed)}.`;
}

function shortSha(sha: Sha): string {
  return sha.slice(0, 12);
}

function listOf(numbers: readonly PrNumber[]): string {
  const shown = numbers.slice(0, MAX_LISTED).map((number) => `#${number}`);
  const more = numbers.length - shown.length;
  return more === 0 ? shown.join(', ') : `${shown.join(', ')} and ${more} more`;
}
