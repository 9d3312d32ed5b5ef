// Refs of a bare repository, read and written as files, with the locks that git takes.
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { treeOf } from './commit-files.ts';
import { AskGit } from './object-files.ts';

export interface RefWrite {
  readonly ref: string;
  /** Undefined deletes the ref. */
  readonly after: string | undefined;
  /** The expected value. Null: the ref must not exist. Undefined: any value. */
  readonly before?: string | null | undefined;
}

export function readRef(gitDir: string, ref: string): string | undefined {
  return readLoose(gitDir, ref) ?? readPacked(gitDir).get(ref);
}

/** By name, in git's order. */
export function readRefs(gitDir: string): Map<string, string> {
  const found = new Map(readPacked(gitDir));
  for (const ref of listLoose(gitDir, 'refs')) {
    const sha = readLoose(gitDir, ref);
    if (sha !== undefined) found.set(ref, sha);
  }
  return new Map([...found].sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b))));
}

/**
 * Writes one ref after the other. A ref with another value than expected, or one that git has locked, is left to git.
 */
export function writeRefFiles(gitDir: string, writes: readonly RefWrite[]): void {
  const isPacked = existsSync(join(gitDir, 'packed-refs'));
  if (isPacked && writes.some(({ after }) => after === undefined)) throw new AskGit('a packed ref may go away');
  const locks: string[] = [];
  try {
    for (const write of writes) locks.push(lock(gitDir, write));
    for (const { ref, after } of writes) {
      if (after === undefined) rmSync(join(gitDir, ref), { force: true });
      else renameSync(join(gitDir, `${ref}.lock`), join(gitDir, ref));
    }
  } finally {
    for (const file of locks) rmSync(file, { force: true });
  }
}

/** Names that are valid without git's further rules. */
const PLAIN_NAME = /^refs(?:\/[\w@#$%;'-][\w@#$%;'.-]*)+$/u;

function lock(gitDir: string, { ref, before, after }: RefWrite): string {
  if (!PLAIN_NAME.test(ref) || /\.\.|\.(?:lock)?(?:\/|$)/.test(ref)) throw new AskGit(`the name ${ref}`);
  const file = join(gitDir, `${ref}.lock`);
  try {
    mkdirSync(dirname(file), { recursive: true });
    closeSync(openSync(file, 'wx'));
  } catch {
    throw new AskGit(`${ref} cannot be locked`);
  }
  const present = readRef(gitDir, ref);
  const isExpected = before === undefined || present === (before ?? undefined);
  if (isExpected && !hasFolder(gitDir, ref)) {
    if (after !== undefined) writeFileSync(file, `${after}\n`);
    return file;
  }
  rmSync(file);
  throw new AskGit(`${ref} is ${present}`);
}

/** `a` cannot be a ref beside `a/b`. Like git, removes empty folders that refs left. */
function hasFolder(gitDir: string, ref: string): boolean {
  const path = join(gitDir, ref);
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return false;
  if (listLoose(gitDir, ref).length > 0) return true;
  rmSync(path, { recursive: true });
  return false;
}

function readLoose(gitDir: string, ref: string): string | undefined {
  try {
    const text = readFileSync(join(gitDir, ref), 'utf8').trim();
    if (!/^[0-9a-f]{40,64}$/.test(text)) throw new AskGit(`${ref} is symbolic`);
    return text;
  } catch (error) {
    if (error instanceof AskGit) throw error;
    return undefined;
  }
}

function readPacked(gitDir: string): ReadonlyMap<string, string> {
  const file = join(gitDir, 'packed-refs');
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
  const pairs = lines.filter((line) => /^[0-9a-f]{40,64} /.test(line)).map((line) => line.split(' '));
  return new Map(pairs.map(([sha = '', ref = '']) => [ref, sha]));
}

function listLoose(gitDir: string, folder: string): readonly string[] {
  const path = join(gitDir, folder);
  if (!existsSync(path)) return [];
  const files: string[] = [];
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const name = `${folder}/${entry.name}`;
      if (entry.isDirectory()) files.push(...listLoose(gitDir, name));
      else if (!entry.name.endsWith('.lock')) files.push(name);
    }
  } catch {
    // The path is a file, or the folder vanished meanwhile.
  }
  return files;
}

/** `rev-parse` of a ref, a branch, a commit, or the tree of one of these. */
export function parseRevision(gitDir: string, name: string): string {
  const [, start = '', wantsTree] = /^([\w/-]+)(\^\{tree\})?$/.exec(name) ?? [];
  const sha = /^[0-9a-f]{40,64}$/.test(start) ? start : (readRef(gitDir, start) ?? readBranch(gitDir, start));
  if (sha === undefined) throw new AskGit(`the name ${name}`);
  return wantsTree === undefined ? sha : treeOf(gitDir, sha);
}

function readBranch(gitDir: string, name: string): string | undefined {
  const isTag = readRef(gitDir, `refs/tags/${name}`) !== undefined;
  return isTag || name.startsWith('refs/') ? undefined : readRef(gitDir, `refs/heads/${name}`);
}
