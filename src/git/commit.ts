import type { Sha } from '../lib/sha.ts';
import type { Commit, CommitDraft, StoredCommit } from './git.ts';

/** Its end may be cut off. Bytes invalid in the commit's own encoding are replaced, and a missing header is empty. */
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

/** Parses the same bytes for a caller that rebuilds the commit. A cut message stays cut. */
export function parseStoredCommit(sha: Sha, bytes: Buffer): StoredCommit {
  const end = bytes.indexOf('\n\n');
  const headBytes = end < 0 ? bytes : bytes.subarray(0, end);
  const head = headBytes.toString('latin1');
  const encoding = findHeader(head, 'encoding');
  return {
    sha,
    tree: (findHeader(head, 'tree') ?? '') as Sha,
    parents: [...head.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1] as Sha),
    author: Buffer.from(wellFormed(findHeader(head, 'author') ?? ''), 'latin1'),
    authorName: nameAndEmail(findHeader(decoderOf(encoding)(headBytes), 'author') ?? ''),
    encoding,
    message: end < 0 ? Buffer.alloc(0) : bytes.subarray(end + 2),
  };
}

/** Converts the message to UTF-8. */
export function decodeMessage({ encoding, message }: Pick<StoredCommit, 'encoding' | 'message'>): string {
  return decoderOf(encoding)(message);
}

export function formatCommit({ tree, parents, author, committer, encoding, message }: CommitDraft): Buffer {
  return Buffer.concat([
    Buffer.from([`tree ${tree}\n`, ...parents.map((parent) => `parent ${parent}\n`), 'author '].join('')),
    author,
    Buffer.from('\ncommitter '),
    committer,
    Buffer.from(`\n${encoding === undefined ? '' : `encoding ${encoding}\n`}\n`),
    // Git refuses a commit with a NUL byte.
    Buffer.from(message.filter((byte) => byte !== 0)),
  ]);
}

/** The authors that git accepts in a new commit. Old commits contain worse. */
const AUTHOR = /^[^<>\0]+ <[^<>\0]*> (?:0|[1-9]\d{0,9}) [+-]\d{4}$/;

function wellFormed(author: string): string {
  if (AUTHOR.test(author)) return author;
  const [, date = '0 +0000'] = / ((?:0|[1-9]\d{0,9}) [+-]\d{4})$/.exec(author) ?? [];
  return `${nameAndEmail(author)} ${date}`;
}

function nameAndEmail(author: string): string {
  const [, name = author, email = ''] = /^(.*?)<([^>]*)/.exec(author) ?? [];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must go.
  const clean = (text: string) => text.replace(/[<> \u0000-\u001f\u007f]+/g, ' ').trim();
  return `${clean(name) || clean(email) || 'Unknown'} <${clean(email)}>`;
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
    // The commit names an unknown encoding. Its ASCII is readable all the same.
    return (bytes) => bytes.toString('utf8');
  }
}
