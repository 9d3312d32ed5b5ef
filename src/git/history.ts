import { assert } from '../lib/assert.ts';
import type { Sha } from '../lib/sha.ts';
import { type RunOptions, type RunResult, runGit } from './exec.ts';
import type { AncestryPair, CommitRange, FileSearch, LineCommit, LineRange, MergePair, TreePair } from './git.ts';
import type { Mirror } from './mirror.ts';

const MAX_BYTES = 128 * 1024 * 1024;
/** A branch of many years must not become one endless message. */
const MAX_COMMITS = 1_000;
/** Names and subjects contain no line breaks. Both can be arbitrarily long, so git truncates them. */
const FIELDS = ['%H', '%T', '%P', '%<(60,trunc)%an', '%<(100,trunc)%s'];

export async function listFirstParents(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return revList(mirror, ['--first-parent', '--reverse'], range);
}

/** Newest first. */
export async function listOwn(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return revList(mirror, [`--max-count=${MAX_COMMITS}`], range);
}

/** Commits that are no merges, oldest first. */
export async function listCommits(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return revList(mirror, ['--no-merges', '--reverse', `--max-count=${MAX_COMMITS}`], range);
}

/** Every object of the range. Throws when one is missing. */
export async function listObjects(mirror: Mirror, range: CommitRange): Promise<readonly Sha[]> {
  return revList(mirror, ['--objects', '--no-object-names'], range);
}

async function revList(mirror: Mirror, args: readonly string[], range: CommitRange): Promise<readonly Sha[]> {
  const revisions = [range.tip, ...range.without.map((sha) => `^${sha}`)];
  return shasIn(await read(mirror, ['rev-list', ...args, '--end-of-options', ...revisions, '--']));
}

export async function listLine(
  mirror: Mirror,
  { tip, since, limit, trailer }: LineRange,
): Promise<readonly LineCommit[]> {
  const fields = [...FIELDS, `%(trailers:key=${trailer},valueonly,separator=%x20)`];
  const format = ['--no-commit-header', `--format=${fields.join('%n')}`, '--encoding=UTF-8'];
  const revisions = ['--end-of-options', tip, `^${since}`, '--'];
  const args = ['rev-list', '--first-parent', `--max-count=${limit}`, ...format, ...revisions];
  const lines = (await read(mirror, args)).stdout.toString().split('\n');
  const count = Math.floor(lines.length / fields.length);
  return Array.from({ length: count }, (_, index) => parseCommit(lines.slice(index * fields.length)));
}

function parseCommit([
  sha,
  tree,
  parents = '',
  author = '',
  subject = '',
  trailer = '',
]: readonly string[]): LineCommit {
  const [parent] = parents.split(' ');
  return {
    sha: sha as Sha,
    tree: tree as Sha,
    parent: parent === '' ? undefined : (parent as Sha),
    author: author.trim(),
    subject: subject.trim(),
    trailer: trailer.trim(),
  };
}

/** Criss-cross merges have several merge bases. */
export async function listMergeBases(mirror: Mirror, { target, head }: MergePair): Promise<readonly Sha[]> {
  return shasIn(await read(mirror, ['merge-base', '--all', '--end-of-options', target, head], { expected: [0, 1] }));
}

export async function isAncestor(mirror: Mirror, { ancestor, descendant }: AncestryPair): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant];
  return (await read(mirror, args, { expected: [0, 1] })).exitCode === 0;
}

type ReadOptions = Partial<Pick<RunOptions, 'expected' | 'purpose'>>;

function read(mirror: Mirror, args: readonly string[], options: ReadOptions = {}): Promise<RunResult> {
  return runGit(args, {
    purpose: 'read the history of the repository',
    ...options,
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    maxBytes: MAX_BYTES,
  });
}

function shasIn({ stdout }: RunResult): readonly Sha[] {
  return stdout
    .toString('latin1')
    .split('\n')
    .filter((line) => line !== '') as Sha[];
}

export async function diffTrees(mirror: Mirror, { from, to }: TreePair): Promise<ReadonlyMap<string, string>> {
  const args = [
    'diff-tree',
    '-r',
    '-z',
    '--no-renames',
    '--ignore-submodules=none',
    '--end-of-options',
    from,
    to,
    '--',
  ];
  const { stdout } = await read(mirror, args, { purpose: 'compare two trees' });
  return parseDiff(stdout.toString('latin1'));
}

/** Parses records of `:mode mode object object letter NUL path NUL`. */
function parseDiff(output: string): ReadonlyMap<string, string> {
  const fields = output.split('\0');
  const changes = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [oldMode, newMode, , newObject] = fields[index]?.split(' ') ?? [];
    assert(oldMode?.startsWith(':') === true, 'git diff-tree answered with a line nobody knows');
    changes.set(fields[index + 1] ?? '', `${newMode} ${newObject}`);
  }
  return changes;
}

/** Git knows these trees without having them, by the length of an object id. */
const EMPTY_TREES: Readonly<Record<number, Sha>> = {
  40: '4b825dc642cb6eb9a060e54bf8d69288fbee4904' as Sha,
  64: '6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321' as Sha,
};

interface FoundBlob {
  readonly path: string;
  readonly object: string;
  readonly size: number;
}

/** Git looks for the names itself: the list of all files of a large repository has many megabytes. */
export async function findBlobs(mirror: Mirror, { commit, names }: FileSearch): Promise<readonly FoundBlob[]> {
  const patterns = names.map((name) => `:(top,glob)**/${name}`);
  const from = EMPTY_TREES[commit.length] ?? commit;
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--end-of-options', from, commit, '--', ...patterns];
  const { stdout } = await read(mirror, args, { purpose: 'look for files' });
  const blobs = [...parseDiff(stdout.toString('latin1'))].flatMap(([path, mode]) => {
    const [kind = '', object = ''] = mode.split(' ');
    return kind.startsWith('100') ? [{ path: Buffer.from(path, 'latin1').toString(), object }] : [];
  });
  if (blobs.length === 0) return [];
  const sizes = await runGit(['cat-file', '--batch-check=%(objectsize)', '--buffer'], {
    purpose: 'look for files',
    gitDir: mirror.gitDir,
    extra: mirror.environment,
    maxBytes: MAX_BYTES,
    input: Buffer.from(blobs.map(({ object }) => `${object}\n`).join('')),
  });
  const lines = sizes.stdout.toString('latin1').split('\n');
  return blobs.map((blob, index) => ({ ...blob, size: Number(lines[index] ?? '') || 0 }));
}
