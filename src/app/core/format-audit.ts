import type { BranchReader, ForgeRepository, LineCommit } from '../../forge/forge.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';

/** A longer history is not read further. */
export const MAX_COMMITS = 10_000;

/** Says in a sentence which commits a push added to the target branch or removed. Undefined while the forge is away. */
// SPEC N10
export async function describeMove(
  forge: BranchReader,
  { repository, from, to }: { readonly repository: ForgeRepository; readonly from: Sha; readonly to: Sha },
): Promise<string | undefined> {
  try {
    const line = await forge.listLine({ repository, head: to, since: from, limit: MAX_COMMITS });
    if (line.kind === 'line') return describeCommits(from, line.commits);
    if (line.kind === 'too_long') return `It was at ${from}, and more than ${MAX_COMMITS} commits came.`;
    if (line.kind === 'merged') return `It was at ${from}, which was merged into what is there now.`;
    return `It was at ${from}, which its line does not lead to any more: history was rewritten.`;
  } catch (error) {
    // The alarm must not wait for a forge that is away.
    if (error instanceof Fault) return undefined;
    throw error;
  }
}

function describeCommits(from: Sha, commits: readonly LineCommit[]): string {
  const first = commits.at(-1);
  if (first === undefined) return `It was at ${from}.`;
  const what = commits.length === 1 ? '1 commit' : `${commits.length} commits, the first`;
  return `It was at ${from}. What came: ${what} by ${first.author || 'nobody'}: ${JSON.stringify(first.subject)}.`;
}
