import type { GitRepository } from '../../git/git.ts';
import type { Sha } from '../../lib/sha.ts';
import type { CandidateEntry } from '../forge.ts';
import { applyEntry, type Recipe, type Tip } from './apply-entry.ts';

export interface Stack {
  readonly start: Tip;
  /** Entries that the start commit already contains. */
  readonly beneath: readonly CandidateEntry[];
  readonly entries: readonly CandidateEntry[];
}

export interface Assembled {
  /** One tip after each applied entry. */
  readonly tips: readonly Tip[];
  /** The first entry that conflicted. The entries after it are not tried. */
  readonly conflicting: CandidateEntry | undefined;
}

export async function assemble(git: GitRepository, recipe: Recipe, stack: Stack): Promise<Assembled> {
  const ahead = await presentHeads(git, stack.beneath);
  const tips: Tip[] = [];
  let tip = stack.start;
  for (const entry of stack.entries) {
    const next = await applyEntry(git, recipe, { tip, entry, ahead });
    if (next === undefined) return { tips, conflicting: entry };
    tips.push(next);
    ahead.push(entry.headSha);
    tip = next;
  }
  return { tips, conflicting: undefined };
}

/** The heads of entries that landed long ago may have been garbage-collected. */
async function presentHeads(git: GitRepository, entries: readonly CandidateEntry[]): Promise<Sha[]> {
  const commits = await Promise.all(entries.map(({ headSha }) => git.findStoredCommit(headSha)));
  return commits.flatMap((commit) => (commit === undefined ? [] : [commit.sha]));
}
