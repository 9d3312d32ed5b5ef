import type { Issue } from '../flaky/identity/issue.ts';
import { DECODE_LIMITS, type DecodeLimits, decodeBody } from './decode-body.ts';
import { type BundledFile, type BundleMeta, parseMeta } from './meta.ts';
import { readTar, TAR_LIMITS, type TarEntry, type TarLimits } from './read-tar.ts';
import { Unreadable } from './unreadable.ts';

/** meta.json is always first. A body can be read once, before the next part is requested, or not at all. */
export type BundlePart = { readonly kind: 'meta'; readonly meta: BundleMeta } | BundleFile;

export interface BundleFile {
  /** `internal`: the runs (decode-internal.ts). `junit`: a report. `bep`: events of Bazel (bep.ts). */
  readonly kind: 'internal' | 'junit' | 'code-owners' | 'bep';
  /** The entry of the archive. */
  readonly path: string;
  /** The name that people see. */
  readonly originalPath: string;
  readonly size: number;
  readonly body: AsyncIterable<Uint8Array>;
}

export interface BundleLimits extends DecodeLimits, TarLimits {}

export const BUNDLE_LIMITS: BundleLimits = { ...DECODE_LIMITS, ...TAR_LIMITS };

export interface BundleOptions {
  readonly onIssue: (issue: Issue) => void;
  readonly limits?: BundleLimits;
}

const META = 'meta.json';
const INTERNAL = 'internal.bin';
const CODE_OWNERS = 'CODEOWNERS';
const BEP = 'bazel_bep.json';

/** One pass, because clients write meta.json first. If it comes later, `open` is called again: reports need it. */
// SPEC U9
export async function* readBundle(
  open: () => AsyncIterable<Uint8Array>,
  options: BundleOptions,
): AsyncGenerator<BundlePart> {
  const entries = openBundle(open, options);
  try {
    const first = await entries.next();
    if (first.done === true) throw new Unreadable('BAD_META', 'The bundle is empty.');
    const isFirst = normalise(first.value.path) === META;
    const meta = isFirst ? await readMeta(first.value) : await findMeta(entries);
    yield { kind: 'meta', meta };
    // The first meta.json counts; a second one is reported as an issue.
    const seen = new Set(isFirst ? [META] : []);
    yield* readFiles(isFirst ? entries : openBundle(open, options), { meta, seen, onIssue: options.onIssue });
  } finally {
    await entries.return(undefined);
  }
}

function openBundle(open: () => AsyncIterable<Uint8Array>, { limits = BUNDLE_LIMITS, onIssue }: BundleOptions) {
  const trailing = () => onIssue(warning(null, 'Something follows the bundle and is not read.', 'Upload it as it is.'));
  return readTar(decodeBody(open(), 'zstd', limits, { trailing }), limits);
}

async function findMeta(entries: AsyncIterable<TarEntry>): Promise<BundleMeta> {
  for await (const entry of entries) {
    if (normalise(entry.path) === META) return readMeta(entry);
  }
  throw new Unreadable('BAD_META', 'The bundle has no meta.json.');
}

async function readMeta({ body }: TarEntry): Promise<BundleMeta> {
  return parseMeta(await readMetaText(body));
}

/** For small files only: the caller checks the entry's size before. */
async function readAllText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(Uint8Array.from(part));
  return new TextDecoder().decode(Buffer.concat(parts));
}

/** GitHub reads no more of a CODEOWNERS. */
const MAX_CODE_OWNERS_BYTES = 3_000_000;

/** The text of a CODEOWNERS; undefined: it is too long. */
export async function readCodeOwners({ body, size }: BundleFile): Promise<string | undefined> {
  return size > MAX_CODE_OWNERS_BYTES ? undefined : readAllText(body);
}

async function* readFiles(
  entries: AsyncIterable<TarEntry>,
  {
    meta,
    seen,
    onIssue,
  }: { readonly meta: BundleMeta; readonly seen: Set<string>; readonly onIssue: (issue: Issue) => void },
): AsyncGenerator<BundleFile> {
  const listed = listFiles(meta);
  const missing = new Set(listed.keys());
  for await (const { path: name, size, body } of entries) {
    const path = normalise(name);
    const file = listed.get(path);
    const kind = file?.kind ?? kindOf(path);
    missing.delete(path);
    if (path === META && !seen.has(path)) {
      seen.add(path);
    } else if (kind === undefined || (kind !== 'junit' && seen.has(path))) {
      onIssue(warning(path, 'A file of the bundle is not used.', 'It is no report, or is there twice.'));
    } else {
      if (kind !== 'junit') seen.add(path);
      yield { kind, path, originalPath: file?.originalPath ?? path, size, body };
    }
  }
  for (const path of missing) onIssue(missingFile(path, listed.get(path)));
}

interface ListedFile extends Omit<BundledFile, 'path'> {
  readonly kind: 'internal' | 'junit';
}

/** The entries listed in meta.json, by path. */
function listFiles(meta: BundleMeta): ReadonlyMap<string, ListedFile> {
  const listed = new Map<string, ListedFile>();
  for (const { kind, files } of meta.fileSets) {
    for (const { path, originalPath } of files) listed.set(normalise(path), { kind, originalPath });
  }
  if (meta.internalPath !== null) {
    listed.set(normalise(meta.internalPath), { kind: 'internal', originalPath: meta.internalPath });
  }
  return listed;
}

function kindOf(path: string): BundleFile['kind'] | undefined {
  if (path === INTERNAL) return 'internal';
  if (path === CODE_OWNERS) return 'code-owners';
  if (path === BEP) return 'bep';
  return path.startsWith('junit/') ? 'junit' : undefined;
}

function normalise(path: string): string {
  return path.replace(/^(?:\.\/+)+/, '');
}

function missingFile(path: string, file: ListedFile | undefined): Issue {
  const message = `The bundle lacks ${file?.kind === 'internal' ? 'its list of runs' : 'a report it lists'}.`;
  return { level: 'error', file: file?.originalPath ?? path, line: null, message, hint: 'Was the upload cut off?' };
}

function warning(file: string | null, message: string, hint: string): Issue {
  return { level: 'warning', file: file?.slice(0, 1_000) ?? null, line: null, message, hint };
}

/** They hold each failed test with its text, hundreds of megabytes if all fail, and no code uses them. */
const LEFT_OUT: ReadonlySet<string> = new Set(['failed_tests', 'quarantined_tests']);
const LONGEST_LEFT_OUT = 32;

const MAX_BYTES = 32 * 1024 ** 2;

const NULL = Buffer.from('null');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING = [0x7b, 0x5b];
const CLOSING = [0x7d, 0x5d];

/** The text of meta.json, with null for the lists that are left out. It finds them without parsing. */
// SPEC U55
export async function readMetaText(body: AsyncIterable<Uint8Array>, maxBytes = MAX_BYTES): Promise<string> {
  const kept: Uint8Array[] = [];
  let length = 0;
  let depth = 0;
  let isInText = false;
  let isEscaped = false;
  let isLeftOut = false;
  /** The last string at the top level: a key, if a colon follows. */
  let name = '';
  const keep = (part: Uint8Array) => {
    length += part.length;
    if (length > maxBytes) throw new Unreadable('TOO_BIG', `meta.json has more than ${maxBytes} bytes.`);
    // A copy, because the source may reuse its chunk.
    kept.push(Uint8Array.from(part));
  };
  for await (const chunk of body) {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (isInText) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) isInText = false;
        if (isInText && depth === 1 && name.length < LONGEST_LEFT_OUT) name += String.fromCharCode(byte);
        continue;
      }
      if (byte === QUOTE) {
        isInText = true;
        name = '';
      } else if (byte === COLON && depth === 1 && LEFT_OUT.has(name)) {
        keep(chunk.subarray(from, at + 1));
        keep(NULL);
        isLeftOut = true;
      } else if (isLeftOut && depth === 1 && (byte === COMMA || CLOSING.includes(byte))) {
        from = at;
        isLeftOut = false;
      }
      if (OPENING.includes(byte)) depth += 1;
      else if (CLOSING.includes(byte)) depth -= 1;
    }
    if (!isLeftOut) keep(chunk.subarray(from));
  }
  return new TextDecoder().decode(Buffer.concat(kept));
}

/** Returns the text of CODEOWNERS, which is written last. Throws only if the whole bundle must be refused. */
export async function inspectBundle(
  open: () => AsyncIterable<Uint8Array>,
  limits: BundleLimits,
): Promise<string | undefined> {
  let owners: string | undefined;
  try {
    for await (const part of readBundle(open, { onIssue: () => {}, limits })) {
      if (part.kind === 'code-owners') owners = await readCodeOwners(part);
    }
  } catch (error) {
    if (!(error instanceof Unreadable && error.isPartlyUsable)) throw error;
  }
  return owners;
}
