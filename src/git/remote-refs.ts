import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoteAccess } from './environment.ts';

const ASK_TIMEOUT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;
const RESULT = 'application/x-git-upload-pack-result';

/** Node's fetch goes through no proxy. Without it the remote may not be reached, and only the timeout tells. */
const PROXY = /^(?:https?_proxy|all_proxy)$/i;

interface Question {
  readonly gitDir: string;
  readonly access: RemoteAccess;
  readonly refs: readonly string[];
  readonly signal: AbortSignal;
}

/** One request over HTTP; a fetch of nothing starts seven processes. False where the answer is not clear. */
// SPEC G158
export async function isCurrent({ gitDir, access, refs, signal }: Question): Promise<boolean> {
  if (!refs.every(isPlainName) || Object.keys(process.env).some((name) => PROXY.test(name))) return false;
  try {
    const [remote, local] = await Promise.all([askRefs(access, refs, signal), readRefs(gitDir, refs)]);
    return remote !== undefined && refs.every((ref) => remote.get(ref) === local.get(ref));
  } catch {
    return false;
  }
}

/** Patterns and commits are for git. */
function isPlainName(ref: string): boolean {
  return ref.startsWith('refs/') && !ref.endsWith('*');
}

/** `ls-refs` of git's protocol version 2. */
async function askRefs(
  { url, authorization, isHttpAllowed }: RemoteAccess,
  refs: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  if (!url.startsWith('https://') && !(isHttpAllowed && url.startsWith('http://'))) return undefined;
  const answer = await fetch(`${url}/git-upload-pack`, {
    method: 'POST',
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(ASK_TIMEOUT_MS)]),
    headers: {
      'content-type': 'application/x-git-upload-pack-request',
      accept: RESULT,
      'git-protocol': 'version=2',
      'user-agent': 'git/2 (sluice)',
      ...(authorization === undefined ? {} : { authorization }),
    },
    body: [packet('command=ls-refs\n'), '0001', ...refs.map((ref) => packet(`ref-prefix ${ref}\n`)), '0000'].join(''),
  });
  const isResult = answer.ok && answer.headers.get('content-type') === RESULT;
  const text = isResult ? await readText(answer) : undefined;
  if (!isResult) await answer.body?.cancel();
  return text === undefined ? undefined : parseRefs(text);
}

function packet(text: string): string {
  return `${(Buffer.byteLength(text) + 4).toString(16).padStart(4, '0')}${text}`;
}

async function readText(answer: Response): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

/** Undefined where the answer does not end as it should. */
export function parseRefs(text: string): ReadonlyMap<string, string> | undefined {
  const bytes = Buffer.from(text);
  const refs = new Map<string, string>();
  for (let at = 0; ; ) {
    const head = bytes.toString('latin1', at, at + 4);
    const length = Number.parseInt(head, 16);
    if (head === '0000') return refs;
    if (!/^[0-9a-f]{4}$/.test(head) || length <= 4 || at + length > bytes.length) return undefined;
    const [sha = '', name] = bytes
      .toString('utf8', at + 4, at + length)
      .trimEnd()
      .split(' ');
    if (name === undefined || !/^[0-9a-f]{40,64}$/.test(sha)) return undefined;
    refs.set(name, sha);
    at += length;
  }
}

/** The mirror is ours, and keeps refs as files. */
async function readRefs(gitDir: string, refs: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  let packed: string | undefined;
  for (const ref of refs) {
    const loose = await readOrEmpty(join(gitDir, ref));
    if (loose === '') packed ??= await readOrEmpty(join(gitDir, 'packed-refs'));
    const sha = loose === '' ? findPacked(packed ?? '', ref) : loose.trim();
    if (sha !== undefined) found.set(ref, sha);
  }
  return found;
}

function findPacked(packed: string, ref: string): string | undefined {
  const at = packed.indexOf(` ${ref}\n`);
  return at < 0 ? undefined : packed.slice(packed.lastIndexOf('\n', at) + 1, at);
}

async function readOrEmpty(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}
