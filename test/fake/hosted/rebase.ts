import { commitTree, getCommit, mergeTree, type Person, readCommits } from './git.ts';

interface Rebase {
  readonly base: string;
  readonly head: string;
  readonly committer: Person;
}

/** Rewrites every commit, even when the branch could be fast-forwarded. Undefined when a commit conflicts. */
export async function rebaseCommits(gitDir: string, { base, head, committer }: Rebase): Promise<string | undefined> {
  const commits = await readCommits(gitDir, { tip: head, without: base });
  let tip = base;
  for (const commit of commits.filter(({ parents }) => parents.length < 2)) {
    const [parent] = commit.parents;
    const { tree: onto } = await getCommit(gitDir, tip);
    // Git 2.39 has no `--merge-base`, and finds the base as the parent of this stand-in.
    const parents = parent === undefined ? [] : [parent];
    const draft = { parents, message: 'Stand-in', author: committer, committer };
    const ours = commitTree(gitDir, { ...draft, tree: onto });
    const theirs = commitTree(gitDir, { ...draft, message: 'Theirs', tree: commit.tree });
    const tree = await mergeTree(gitDir, ours, theirs);
    if (tree === undefined) return undefined;
    const { author, message } = commit;
    tip = commitTree(gitDir, { tree, parents: [tip], author, committer, message });
  }
  return tip;
}
