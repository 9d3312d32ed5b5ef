import type { GitRepository } from '../../git/git.ts';
import type { LineAnswer, LineQuestion } from '../forge.ts';

export async function listLine(git: GitRepository, { head, since, limit }: LineQuestion): Promise<LineAnswer> {
  const find = () => Promise.all([head, since].map((sha) => git.findStoredCommit(sha)));
  let found = await find();
  if (found.includes(undefined)) {
    await git.refresh();
    found = await find();
  }
  if (found.includes(undefined)) return { kind: 'lost' };
  const commits = await git.listLine({ tip: head, since, limit });
  const isWhole = head === since || commits.at(-1)?.parent === since;
  if (isWhole) return { kind: 'line', commits };
  if (commits.length >= limit) return { kind: 'too_long' };
  const isMerged = await git.isAncestor({ ancestor: since, descendant: head });
  return { kind: isMerged ? 'merged' : 'broken' };
}
