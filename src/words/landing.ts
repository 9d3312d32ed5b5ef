import type { Landed } from '../engine/model/candidate.ts';
import { listNumbers, shortSha } from './phrases.ts';

/** The record has the full list. */
const MAX_LISTED = 20;

/** "has exactly the files that were tested as …". Of several that landed together, only the last was tested. */
// SPEC L18
export function landingProof(landed: Landed): string {
  const { kind, sha, tree, pushedSha, testedSha, testedTree, composedWith } = landed;
  if (kind === 'UNPROVEN') {
    return 'was merged by the forge onto another commit than it was tested on: the result was not tested';
  }
  if (sha === testedSha) return 'is exactly the one that was tested';
  const tested = shortSha(testedSha);
  if (tree === testedTree) return `has exactly the files that were tested as ${tested}`;
  if (kind === 'PREFIX') {
    return `was merged before the last of the pull requests that were tested together as ${tested}, and was not tested alone`;
  }
  const last = sha === pushedSha ? '' : `landed together with others; the last of them, ${shortSha(pushedSha)}, `;
  if (kind === 'COMPOSED') {
    const others = listNumbers(composedWith, MAX_LISTED);
    return `${last}has the files that were tested as ${tested}; ${others} landed in parallel (no shared targets)`;
  }
  return `${last}${pushedSha === testedSha ? 'is exactly the commit that was tested' : `has exactly the files that were tested as ${tested}`}`;
}

export function landedText(landed: Landed): string {
  return `Its commit ${shortSha(landed.sha)} ${landingProof(landed)}.`;
}
