// Objects of a bare repository, read and written as files. Starting git for each costs more than most tests.
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';

export interface GitObject {
  readonly type: string;
  readonly body: Buffer;
}

/** Plain files do not have the answer, for example when an object is packed. The caller asks git. */
export class AskGit extends Error {}

/** Works on files if possible, else with git. */
export async function orGit<T>(byFiles: () => T, askGit: () => Promise<T>): Promise<T> {
  try {
    return byFiles();
  } catch (error) {
    if (error instanceof AskGit) return askGit();
    throw error;
  }
}

export function readObject(gitDir: string, sha: string): GitObject {
  const bytes = inflate(gitDir, sha);
  const end = bytes.indexOf(0);
  return { type: bytes.toString('latin1', 0, bytes.indexOf(' ')), body: bytes.subarray(end + 1) };
}

function inflate(gitDir: string, sha: string): Buffer {
  try {
    return inflateSync(readFileSync(findFile(gitDir, sha) ?? ''));
  } catch {
    throw new AskGit(`${sha} is not in a file of its own, or damaged`);
  }
}

export function hasObject(gitDir: string, sha: string): boolean {
  return findFile(gitDir, sha) !== undefined;
}

export function writeObject(gitDir: string, { type, body }: GitObject): string {
  const bytes = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
  const sha = createHash(formatOf(gitDir)).update(bytes).digest('hex');
  const file = fileOf(gitDir, sha);
  if (existsSync(file)) return sha;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, deflateSync(bytes, { level: 1 }), { mode: 0o444 });
  return sha;
}

/** Links an object from another repository on the same disk. */
export function lendObject(from: string, to: string, sha: string): void {
  const file = fileOf(to, sha);
  mkdirSync(dirname(file), { recursive: true });
  linkSync(findFile(from, sha) ?? '', file);
}

export function formatOf(gitDir: string): 'sha1' | 'sha256' {
  return /^\s*objectformat\s*=\s*sha256$/im.test(readFileSync(join(gitDir, 'config'), 'utf8')) ? 'sha256' : 'sha1';
}

function findFile(gitDir: string, sha: string): string | undefined {
  const own = fileOf(gitDir, sha);
  if (existsSync(own)) return own;
  return lendersOf(gitDir)
    .map((objects) => join(objects, sha.slice(0, 2), sha.slice(2)))
    .find((file) => existsSync(file));
}

function fileOf(gitDir: string, sha: string): string {
  return join(gitDir, 'objects', sha.slice(0, 2), sha.slice(2));
}

function lendersOf(gitDir: string): readonly string[] {
  const file = join(gitDir, 'objects', 'info', 'alternates');
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}
