import { commitTree, findMergeBase, mergeTree } from '../hosted/git.ts';
import type { Mergeability, PullRequest, World } from './model.ts';
import { personOf, WEB_FLOW } from './people.ts';
import { branchHead, writeRefs, ZEROS } from './refs.ts';
import { goOn } from './world.ts';

/**
 * The known mergeability. GitHub drops it whenever either side moves, and computes it again on request. So the first
 * reader gets `unknown`.
 */
export async function askMergeability(world: World, pr: PullRequest): Promise<Mergeability> {
  const base = branchHead(pr.repository, pr.baseRef);
  if (pr.merged !== undefined || base === undefined) return unknown(pr, base ?? pr.baseSha);
  if (world.options.mergeability === 'at_once' || isCurrent(pr, base)) return findOut(world, pr, base);
  goOn(world, findOut(world, pr, base));
  return unknown(pr, base);
}

const underway = new WeakMap<PullRequest, { readonly key: string; readonly merge: Promise<Mergeability> }>();

/** Computed once for the same two commits. */
export function findOut(world: World, pr: PullRequest, base: string): Promise<Mergeability> {
  if (isCurrent(pr, base)) return Promise.resolve(pr.merge);
  const key = `${pr.headSha} ${base}`;
  const known = underway.get(pr);
  if (known?.key === key) return known.merge;
  const merge = compute(world, pr, base);
  underway.set(pr, { key, merge });
  return merge;
}

async function compute(world: World, pr: PullRequest, base: string): Promise<Mergeability> {
  const { gitDir } = pr.repository;
  const { headSha } = pr;
  const [tree, common] = await Promise.all([mergeTree(gitDir, base, headSha), findMergeBase(gitDir, base, headSha)]);
  const sha = tree === undefined ? undefined : await writeTrial(world, pr, { tree, base, headSha });
  const merge: Mergeability = {
    kind: tree === undefined ? 'conflict' : 'clean',
    headSha,
    baseSha: base,
    sha,
    tree,
    isBehind: common !== base,
    isContained: common === headSha,
  };
  pr.merge = merge;
  return merge;
}

async function writeTrial(
  world: World,
  pr: PullRequest,
  { tree, base, headSha }: { readonly tree: string; readonly base: string; readonly headSha: string },
): Promise<string> {
  const { repository, number, author } = pr;
  const sha = commitTree(repository.gitDir, {
    tree,
    parents: [base, headSha],
    message: `Merge ${headSha} into ${base}`,
    author: personOf(author, world.now()),
    committer: { ...WEB_FLOW, at: world.now() },
  });
  const ref = `refs/pull/${number}/merge`;
  await writeRefs(repository, [{ ref, before: repository.refs.get(ref) ?? ZEROS, after: sha }]);
  return sha;
}

function isCurrent(pr: PullRequest, base: string): boolean {
  return pr.merge.kind !== 'unknown' && pr.merge.headSha === pr.headSha && pr.merge.baseSha === base;
}

export function unknown(pr: Pick<PullRequest, 'headSha'>, baseSha: string): Mergeability {
  return {
    kind: 'unknown',
    headSha: pr.headSha,
    baseSha,
    sha: undefined,
    tree: undefined,
    isBehind: false,
    isContained: false,
  };
}
