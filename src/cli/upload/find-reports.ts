import { open, stat } from 'node:fs/promises';
import path from 'node:path';
import { findFiles } from '../../lib/find-files.ts';
import { parseGlob } from '../../lib/glob.ts';
import { usageError } from '../core/exit.ts';

export interface ReportFile {
  /** The shown and sent name: relative to the searched folder, absolute outside of it; with slashes. */
  readonly name: string;
  readonly path: string;
  readonly sizeBytes: number;
}

/** More files in one upload mean a wrong pattern. */
const MAX_FILES = 5_000;

/** Folders with foreign files, which may include report fixtures. */
const SKIPPED = ['node_modules', '.git'];

/** Finds files by name or pattern (`**` is any folders). A folder stands for every .xml file below it. */
// SPEC W5
export async function findReports(patterns: readonly string[], folder: string) {
  const files = new Map<string, ReportFile>();
  const unmatched: string[] = [];
  for (const pattern of patterns) {
    const before = files.size;
    let isFound = false;
    for await (const file of matchesOf(pattern, folder)) {
      isFound = true;
      files.set(file.path, file);
      if (files.size > MAX_FILES)
        throw usageError(`More than ${MAX_FILES} files fit. Name the reports more closely than by ${pattern}.`);
    }
    if (!isFound && files.size === before) unmatched.push(pattern);
  }
  const inOrder = [...files.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { files: inOrder, unmatched };
}

async function* matchesOf(pattern: string, folder: string): AsyncGenerator<ReportFile> {
  const named = await statOf(path.resolve(folder, pattern));
  if (named?.isFile()) return yield describe(path.resolve(folder, pattern), folder, named.size);
  const { root, rest } = named?.isDirectory()
    ? { root: path.resolve(folder, pattern), rest: '**/*.xml' }
    : splitPattern(pattern, folder);
  const glob = parseGlob(rest);
  if (typeof glob === 'string') throw usageError(`The pattern ${pattern} ${glob}.`);
  const skipped = SKIPPED.filter((name) => !pattern.split('/').includes(name));
  const skips = (names: readonly string[]) => skipped.includes(names.at(-1) ?? '');
  for await (const name of findFiles({ root, globs: [glob], followsLinks: true, skips })) {
    const file = path.resolve(root, name);
    const found = await statOf(file);
    if (found?.isFile()) yield describe(file, folder, found.size);
  }
}

/** The folder that a pattern begins with, which may be outside of the searched one, and the rest of the pattern. */
function splitPattern(pattern: string, folder: string): { readonly root: string; readonly rest: string } {
  const parts = pattern.split('/');
  const first = parts.findIndex((part, index) => /[*?[{\\]/.test(part) || index === parts.length - 1);
  const root = first === 0 ? folder : path.resolve(folder, `${parts.slice(0, first).join('/')}/`);
  return { root, rest: parts.slice(first).join('/') };
}

function describe(file: string, folder: string, sizeBytes: number): ReportFile {
  const relative = path.relative(folder, file);
  const name = (relative.startsWith('..') ? file : relative).split(path.sep).join('/').replace(/^\/+/, '');
  return { name, path: file, sizeBytes };
}

/** Undefined if it does not exist or is not accessible. */
async function statOf(file: string) {
  return stat(file).catch(() => undefined);
}

export type Packing = 'gzip' | 'zstd' | 'none';

/** Detects the packing by the first bytes; the file's name proves nothing. */
export function packingOf(head: Uint8Array): Packing {
  const begins = (...bytes: number[]): boolean => bytes.every((byte, index) => head[index] === byte);
  if (begins(0x1f, 0x8b)) return 'gzip';
  return begins(0x28, 0xb5, 0x2f, 0xfd) ? 'zstd' : 'none';
}

export async function readHead(file: string): Promise<Uint8Array> {
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The root of the work tree; the folder itself if there is none, as in an image of sources alone. */
export async function findRoot(folder: string): Promise<string> {
  for (let each = folder; ; each = path.dirname(each)) {
    if ((await stat(path.join(each, '.git')).catch(() => undefined)) !== undefined) return each;
    if (path.dirname(each) === each) return folder;
  }
}
