// Trees of a bare repository: changes of files, and simple merges.
import { AskGit, readObject, writeObject } from './object-files.ts';

interface TreeEntry {
  readonly mode: string;
  readonly sha: string;
}

type Tree = Map<string, TreeEntry>;

/** Content by path. Null removes the file. */
export type TreeChanges = Readonly<Record<string, string | null>>;

const FOLDER = '40000';
const FILE = '100644';

/** The tree with these changes. Undefined when no file is left. */
export function changeTree(gitDir: string, tree: string | undefined, changes: TreeChanges): string | undefined {
  const entries = tree === undefined ? new Map() : readTree(gitDir, tree);
  const folders = new Map<string, Record<string, string | null>>();
  for (const [path, text] of Object.entries(changes)) {
    const [first = '', ...rest] = path.split('/');
    const name = Buffer.from(first).toString('latin1');
    if (name === '' || (rest.length > 0 && rest.includes(''))) throw new AskGit(`the path ${path}`);
    if (rest.length > 0) folders.set(name, { ...folders.get(name), [rest.join('/')]: text });
    else if (text === null) entries.delete(name);
    else entries.set(name, { mode: FILE, sha: writeObject(gitDir, { type: 'blob', body: Buffer.from(text) }) });
  }
  for (const [name, inside] of folders) {
    const present = entries.get(name);
    const sha = changeTree(gitDir, present?.mode === FOLDER ? present.sha : undefined, inside);
    if (sha === undefined) entries.delete(name);
    else entries.set(name, { mode: FOLDER, sha });
  }
  return entries.size === 0 ? undefined : writeTree(gitDir, entries);
}

export const EMPTY_TREE = { type: 'tree', body: Buffer.alloc(0) };

export interface ThreeTrees {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Merges trees in which only one side changed each file. Everything else, such as a removed file, is left to git. */
export function mergeTrees(gitDir: string, { base, ours, theirs }: ThreeTrees): string {
  if (ours === theirs || base === theirs) return ours;
  if (base === ours) return theirs;
  const [before, one, other] = [readTree(gitDir, base), readTree(gitDir, ours), readTree(gitDir, theirs)];
  const merged: Tree = new Map();
  for (const name of new Set([...before.keys(), ...one.keys(), ...other.keys()])) {
    merged.set(name, mergeEntries(gitDir, before.get(name), one.get(name), other.get(name)));
  }
  return writeTree(gitDir, merged);
}

function mergeEntries(
  gitDir: string,
  base: TreeEntry | undefined,
  ours: TreeEntry | undefined,
  theirs: TreeEntry | undefined,
): TreeEntry {
  if (base !== undefined && (ours === undefined || theirs === undefined)) throw new AskGit('a file is gone');
  const one = ours ?? theirs;
  const other = theirs ?? ours;
  if (one === undefined || other === undefined) throw new AskGit('no entry at all');
  if (isSame(one, other)) return one;
  if (base === undefined) throw new AskGit('both sides add it');
  if (isSame(base, one)) return refuseNewKind(base, other);
  if (isSame(base, other)) return refuseNewKind(base, one);
  if ([base, one, other].some(({ mode }) => mode !== FOLDER)) throw new AskGit('both sides change it');
  return { mode: FOLDER, sha: mergeTrees(gitDir, { base: base.sha, ours: one.sha, theirs: other.sha }) };
}

/** A folder that only one side changed may have lost files. */
function refuseNewKind(base: TreeEntry, changed: TreeEntry): TreeEntry {
  if (base.mode !== changed.mode || base.mode === FOLDER) throw new AskGit('one side changes a folder');
  return changed;
}

function isSame(one: TreeEntry, other: TreeEntry): boolean {
  return one.sha === other.sha && one.mode === other.mode;
}

export function readTree(gitDir: string, sha: string): Tree {
  const { type, body } = readObject(gitDir, sha);
  if (type !== 'tree') throw new AskGit(`${sha} is a ${type}`);
  const entries: Tree = new Map();
  const width = sha.length / 2;
  for (let at = 0; at < body.length; ) {
    const space = body.indexOf(' ', at);
    const end = body.indexOf(0, space);
    // Names are bytes in any encoding.
    const name = body.toString('latin1', space + 1, end);
    const mode = body.toString('latin1', at, space);
    entries.set(name, { mode, sha: body.toString('hex', end + 1, end + 1 + width) });
    at = end + 1 + width;
  }
  return entries;
}

function writeTree(gitDir: string, entries: Tree): string {
  // Git sorts folders as if their names ended in a slash.
  const keyOf = ([name, { mode }]: [string, TreeEntry]) => Buffer.from(mode === FOLDER ? `${name}/` : name, 'latin1');
  const sorted = [...entries].sort((a, b) => Buffer.compare(keyOf(a), keyOf(b)));
  const parts = sorted.map(([name, { mode, sha }]) =>
    Buffer.concat([Buffer.from(`${mode} ${name}\0`, 'latin1'), Buffer.from(sha, 'hex')]),
  );
  return writeObject(gitDir, { type: 'tree', body: Buffer.concat(parts) });
}
