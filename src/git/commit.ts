import type { Sha } from '../engine/pull-request.ts';
import type { Commit } from './git.ts';

/**
 * Reads the bytes of a commit object, of which the end may be missing. Git never promised that they are text: what is
 * not valid in the commit's own encoding is replaced, and a header that is missing is empty.
 */
export function parseCommit(sha: Sha, bytes: Buffer): Commit {
  const end = bytes.indexOf('\n\n');
  const head = end < 0 ? bytes : bytes.subarray(0, end);
  const body = end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 2);
  const decode = decoderOf(findHeader(head.toString('latin1'), 'encoding'));
  const author = findHeader(decode(head), 'author') ?? '';
  return {
    sha,
    tree: (findHeader(head.toString('latin1'), 'tree') ?? '') as Sha,
    author: parseName(author),
    message: decode(body),
  };
}

function findHeader(head: string, name: string): string | undefined {
  const line = head.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line?.slice(name.length + 1);
}

function parseName(author: string): string {
  const match = /^(.*?)\s*<([^>]*)>/.exec(author);
  if (match === null) return author.trim();
  return match[1] || match[2] || '';
}

function decoderOf(encoding: string | undefined): (bytes: Buffer) => string {
  try {
    const decoder = new TextDecoder(encoding ?? 'utf-8', { ignoreBOM: true });
    return (bytes) => decoder.decode(bytes);
  } catch {
    // The commit names an encoding nobody knows. Its ASCII is readable all the same.
    return (bytes) => bytes.toString('utf8');
  }
}
