// Commits of a bare repository, and how they follow each other.
import { AskGit, hasObject, lendObject, readObject, writeObject } from './object-files.ts';
import { EMPTY_TREE, mergeTrees, readTree } from './tree-files.ts';

export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
  /** With address and time, in git's format. */
  readonly author: string;
  readonly committer: string;
  readonly message: Buffer;
  readonly encoding?: string | undefined;
}

export function writeCommit(gitDir: string, commit: CommitObject): string {
  const head = [
    `tree ${commit.tree}`,
    ...commit.parents.map((parent) => `parent ${parent}`),
    `author ${commit.author}`,
    `committer ${commit.committer}`,
    ...(commit.encoding === undefined ? [] : [`encoding ${commit.encoding}`]),
  ];
  const body = Buffer.concat([Buffer.from(`${head.join('\n')}\n\n`), commit.message]);
  return writeObject(gitDir, { type: 'commit', body });
}

export function readCommitFile(gitDir: string, sha: string): CommitObject {
  const { type, body } = readObject(gitDir, sha);
  if (type !== 'commit') throw new AskGit(`${sha} is a ${type}`);
  const end = body.indexOf('\n\n');
  const lines = body.toString('utf8', 0, end).split('\n');
  const valuesOf = (name: string) =>
    lines.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  return {
    tree: valuesOf('tree')[0] ?? '',
    parents: valuesOf('parent'),
    author: valuesOf('author')[0] ?? '',
    committer: valuesOf('committer')[0] ?? '',
    message: body.subarray(end + 2),
    encoding: valuesOf('encoding')[0],
  };
}

/** The tree of a commit, or the empty tree without one. */
export function treeOf(gitDir: string, commit: string | undefined): string {
  return commit === undefined ? writeObject(gitDir, EMPTY_TREE) : readCommitFile(gitDir, commit).tree;
}

/** Includes the commit itself, nearest first. */
export function ancestorsOf(gitDir: string, sha: string): ReadonlySet<string> {
  const found = new Set([sha]);
  for (const next of found) for (const parent of readCommitFile(gitDir, next).parents) found.add(parent);
  return found;
}

/** Undefined when the two share no commit. With several equal merge bases, git has to choose. */
export function findBase(gitDir: string, one: string, other: string): string | undefined {
  const known = ancestorsOf(gitDir, one);
  const common = [...ancestorsOf(gitDir, other)].filter((sha) => known.has(sha));
  const beneath = new Set(common.flatMap((sha) => readCommitFile(gitDir, sha).parents));
  const best = common.filter((sha) => !beneath.has(sha));
  if (best.length > 1) throw new AskGit(`${one} and ${other} have several merge bases`);
  return best[0];
}

/** Handles simple merges only. Others throw `AskGit`. */
export function mergeCommits(gitDir: string, ours: string, theirs: string): string {
  const base = findBase(gitDir, ours, theirs);
  if (base === undefined) throw new AskGit(`${ours} and ${theirs} have nothing in common`);
  const tree = (sha: string) => treeOf(gitDir, sha);
  return mergeTrees(gitDir, { base: tree(base), ours: tree(ours), theirs: tree(theirs) });
}

/** Commits of `tip` that `without` lacks, newest first. When lines meet, git has to decide the order. */
export function listBetween(gitDir: string, without: string | undefined, tip: string): readonly string[] {
  const old = without === undefined ? new Set() : ancestorsOf(gitDir, without);
  const found: string[] = [];
  for (let next: string | undefined = tip; next !== undefined && !old.has(next); ) {
    found.push(next);
    const { parents }: CommitObject = readCommitFile(gitDir, next);
    if (parents.length > 1) throw new AskGit(`${next} is a merge`);
    next = parents[0];
  }
  return found;
}

/** Copies a commit and its history, as far as the other repository lacks it. */
export function lendCommit(from: string, to: string, sha: string): void {
  for (const each of listMissing(from, to, sha)) lendObject(from, to, each);
}

function listMissing(from: string, to: string, sha: string): readonly string[] {
  const found = new Set<string>();
  const wanted = [sha];
  for (let next = wanted.pop(); next !== undefined; next = wanted.pop()) {
    if (found.has(next) || hasObject(to, next)) continue;
    found.add(next);
    wanted.push(...linksOf(from, next));
  }
  return [...found];
}

function linksOf(gitDir: string, sha: string): readonly string[] {
  const { type } = readObject(gitDir, sha);
  if (type === 'commit') {
    const { tree, parents } = readCommitFile(gitDir, sha);
    return [...parents, tree];
  }
  if (type === 'tag') throw new AskGit(`${sha} is a tag`);
  if (type === 'blob') return [];
  // The commit that a submodule names is in another repository.
  return [...readTree(gitDir, sha).values()].filter(({ mode }) => mode !== '160000').map((entry) => entry.sha);
}
