import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { CommitReader, ConflictHunks, GitRepository, LineCommit } from '../../git/git.ts';
import { assert } from '../../lib/assert.ts';
import { present } from '../../lib/present.ts';
import type { Sha } from '../../lib/sha.ts';
import type {
  AncestryQuestion,
  CheckOutRequest,
  ConflictQuestion,
  FileQuestion,
  LineCommit as ForgeLineCommit,
  ForgeRepository,
  LineAnswer,
  LineQuestion,
  OwnCommitsQuestion,
} from '../forge.ts';
import { getCommit } from './apply-entry.ts';
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

/** A forge's way to the local copy of a repository. */
export interface CommitAccess {
  ask<Answer>(repository: ForgeRepository, question: (git: GitRepository) => Promise<Answer>): Promise<Answer>;
  /** Gets commits into the local copy, unless it was refreshed within `maxAgeMs`. Answers those that are not to be had. */
  obtain(git: GitRepository, shas: readonly Sha[], maxAgeMs?: number): Promise<readonly Sha[]>;
}

/** A fetch for every unknown commit would let any caller trigger fetches. Commits of the last second may be missed. */
const LATEST_MS = 1_000;

/** A commit that the repository does not have, such as a head that was forced away, is no ancestor. */
export async function isAncestor({ ask, obtain }: CommitAccess, question: AncestryQuestion): Promise<boolean> {
  const { repository, ancestor, descendant } = question;
  checkShas([ancestor, descendant]);
  return ask(repository, async (git) => {
    const lost = await obtain(git, [ancestor, descendant]);
    await getCommit(git, descendant);
    return !lost.includes(ancestor) && git.isAncestor({ ancestor, descendant });
  });
}

export async function listOwnCommits(
  { ask, obtain }: CommitAccess,
  { repository, head, without }: OwnCommitsQuestion,
): Promise<readonly Sha[]> {
  checkShas([head, without]);
  return ask(repository, async (git) => {
    const lost = await obtain(git, [head, without]);
    return lost.length > 0 ? [] : git.listOwn({ tip: head, without: [without] });
  });
}

export async function findTree(
  { ask, obtain }: CommitAccess,
  repository: ForgeRepository,
  sha: Sha,
): Promise<Sha | undefined> {
  checkShas([sha]);
  return ask(repository, async (git) => {
    const known = await git.findStoredCommit(sha);
    if (known !== undefined) return known.tree;
    const missing = await obtain(git, [sha], LATEST_MS);
    return missing.length > 0 ? undefined : (await git.findStoredCommit(sha))?.tree;
  });
}

export async function readFile(
  { ask, obtain }: CommitAccess,
  { repository, sha, path }: FileQuestion,
): Promise<Buffer | undefined> {
  checkShas([sha]);
  return ask(repository, async (git) => {
    await obtain(git, [sha]);
    return git.findFile(sha, path);
  });
}

/** Undefined if the two merge, or one of them is lost. */
export async function showConflict(
  { ask, obtain }: CommitAccess,
  { repository, target, head, maxLength }: ConflictQuestion,
): Promise<ConflictHunks | undefined> {
  checkShas([target, head]);
  return ask(repository, async (git) => {
    const lost = await obtain(git, [target, head]);
    return lost.length > 0 ? undefined : git.showConflict({ target, head }, maxLength);
  });
}

export async function checkOut({ ask, obtain }: CommitAccess, request: CheckOutRequest): Promise<string | undefined> {
  const { repository, sha, folder, isIsolated } = request;
  checkShas([sha]);
  return ask(repository, async (git) => {
    // Another server may have built it.
    await obtain(git, [sha]);
    return git.checkOut({ sha, folder, isIsolated });
  });
}

export async function listLine({ ask, obtain }: CommitAccess, question: LineQuestion): Promise<LineAnswer> {
  const { repository, head, since, limit, heads = new Map(), proofKey } = question;
  checkShas([head, since, ...heads.values()]);
  return ask(repository, async (git) => {
    if ((await obtain(git, [head, since])).length > 0) return { kind: 'lost' };
    const commits = await git.listLine({ tip: head, since, limit, trailer: PULL_REQUEST });
    const isWhole = head === since || commits.at(-1)?.parent === since;
    if (isWhole) {
      const landed = commits.flatMap(({ trailer }) => heads.get(Number(trailer) as PrNumber) ?? []);
      await obtain(git, landed).catch(() => undefined);
      const views = commits.map((each) => viewCommit(git, each, { heads, proofKey }));
      return { kind: 'line', commits: await Promise.all(views) };
    }
    if (commits.length >= limit) return { kind: 'too_long' };
    const isMerged = await git.isAncestor({ ancestor: since, descendant: head });
    return { kind: isMerged ? 'merged' : 'broken' };
  });
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
