import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CommitReader, LineCommit, RefStore } from '../../git/git.ts';
import { assert } from '../../lib/assert.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type { LineCommit as ForgeLineCommit, LineAnswer, LineQuestion } from '../forge.ts';
import { findProvenCandidate, PULL_REQUEST } from './trailers.ts';

/** Commit ids become arguments of git commands, so nothing else may pass for one. */
export function checkShas(shas: readonly Sha[]): void {
  assert(
    shas.every((sha) => /^[0-9a-f]{40,64}$/.test(sha)),
    'a commit is named by something that is no sha',
  );
}

/** The commits that the local copy of the repository lacks. */
export async function listMissing(git: CommitReader, shas: readonly Sha[]): Promise<readonly Sha[]> {
  const wanted = [...new Set(shas)];
  const commits = await Promise.all(wanted.map((sha) => git.findStoredCommit(sha)));
  return wanted.filter((_, index) => commits[index] === undefined);
}

/** `obtain` gets commits into the local copy, if they are to be had. */
export async function listLine(
  git: CommitReader & Pick<RefStore, 'refresh'>,
  { head, since, limit, heads = new Map(), proofKey }: LineQuestion,
  obtain: (shas: readonly Sha[]) => Promise<unknown> = async () => {},
): Promise<LineAnswer> {
  const find = () => Promise.all([head, since].map((sha) => git.findStoredCommit(sha)));
  let found = await find();
  if (found.includes(undefined)) {
    await git.refresh();
    found = await find();
  }
  if (found.includes(undefined)) return { kind: 'lost' };
  const commits = await git.listLine({ tip: head, since, limit, trailer: PULL_REQUEST });
  const isWhole = head === since || commits.at(-1)?.parent === since;
  if (isWhole) {
    await obtain(commits.flatMap(({ trailer }) => heads.get(Number(trailer) as PrNumber) ?? []));
    return {
      kind: 'line',
      commits: await Promise.all(commits.map((each) => viewCommit(git, each, { heads, proofKey }))),
    };
  }
  if (commits.length >= limit) return { kind: 'too_long' };
  const isMerged = await git.isAncestor({ ancestor: since, descendant: head });
  return { kind: isMerged ? 'merged' : 'broken' };
}

async function viewCommit(
  git: CommitReader,
  { sha, tree, author, subject, trailer, parent }: LineCommit,
  { heads, proofKey: key }: { heads: ReadonlyMap<PrNumber, Sha>; proofKey: Uint8Array | undefined },
): Promise<ForgeLineCommit> {
  const prNumber = Number(trailer) as PrNumber;
  const isLanding = await contains(git, { sha, tree }, heads.get(prNumber));
  const isSigned = key !== undefined && trailer !== '' && parent !== undefined;
  const message = isSigned ? (await git.findStoredCommit(sha))?.message : undefined;
  const provenCandidate =
    isSigned && message !== undefined ? findProvenCandidate(message, { key, parent, tree }) : undefined;
  return { sha, tree, author, subject, ...(isLanding ? { prNumber } : {}), ...present({ provenCandidate }) };
}

/** The message of a commit alone proves nothing: a person may have picked it from another branch. */
async function contains(
  git: CommitReader,
  { sha, tree }: Pick<LineCommit, 'sha' | 'tree'>,
  head: Sha | undefined,
): Promise<boolean> {
  if (head === undefined || (await git.findStoredCommit(head)) === undefined) return false;
  const merge = await git.testMerge({ target: sha, head });
  return merge.kind === 'clean' && merge.tree === tree;
}
