import { type DecodeLimits, decodeBody, type Encoding } from '../../bundle/decode-body.ts';
import { Unreadable } from '../../bundle/unreadable.ts';
import type { Upload, UploadFile } from '../../storage/uploads.ts';
import { readBep } from './read-bep.ts';
import { type FileEnd, readJunit, unreadableIssue } from './read-junit.ts';
import type { ReadLimits } from './read-limits.ts';
import { type FileOwners, readOwners } from './read-owners.ts';
import type { ReadRun } from './read-run.ts';
import type { IdentifyTest } from './test-name-cache.ts';
import type { UploadIssues } from './upload-issues.ts';

export interface ReportSources {
  readonly openFile: (fileNo: number) => AsyncIterable<Uint8Array>;
  readonly identify: IdentifyTest;
  readonly issues: UploadIssues;
  readonly limits: ReadLimits;
}

/** Transports sometimes compress files once more. */
const MAX_LAYERS = 3;

/**
 * Reads the files of an upload one after another; returns why they are incomplete. An unreadable file does not spoil
 * the others.
 */
// SPEC U23
export async function* readReports(
  upload: Upload,
  sources: ReportSources,
): AsyncGenerator<readonly ReadRun[], string | null> {
  const owners = await readOwners(upload, sources);
  const reports = upload.files.map((file, fileNo) => ({ file, fileNo })).filter(({ file }) => file.role === undefined);
  let problem: string | null = reports.length === 0 ? 'No report came.' : null;
  const budget = { all: sources.limits.bundle.maxBytes, left: sources.limits.bundle.maxBytes };
  for (const { file, fileNo } of reports) {
    const end = yield* readFile(file, sources.openFile(fileNo), {
      ...sources,
      ownersOf: owners.ownersOf,
      budget,
      upload,
    });
    problem ??= end.problem;
  }
  for (const issue of owners.issues()) sources.issues.add(issue);
  return problem;
}

interface FileSources extends ReportSources {
  readonly upload: Upload;
  readonly ownersOf: FileOwners['ownersOf'];
  readonly budget: Budget;
}

/** Unpacked bytes that the files may have: in all, and still unused. */
interface Budget {
  readonly all: number;
  left: number;
}

async function* readFile(
  file: UploadFile,
  bytes: AsyncIterable<Uint8Array>,
  { upload, identify, issues, limits, budget, ownersOf }: FileSources,
): AsyncGenerator<readonly ReadRun[], FileEnd> {
  const root = upload.fields?.checkoutRoot ?? null;
  const shared = { file: file.name, issues, identify, receivedAt: upload.receivedAt };
  try {
    const unpacked = await unpack(bytes, file.encoding, limits);
    const source = spend(unpacked.source, budget);
    if (unpacked.kind === 'json') return yield* readBep(source, shared);
    return yield* readJunit(source, { ...shared, limits: limits.junit, ownersOf, take: 'all', root });
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    issues.add({ ...unreadableIssue(error, file.name), hint: 'Upload the XML itself, packed only with gzip or zstd.' });
    return { problem: `${file.name} could not be read: ${error.detail}` };
  }
}

/** Unpacks by the declared encoding, then by the first bytes. */
async function unpack(
  bytes: AsyncIterable<Uint8Array>,
  encoding: UploadFile['encoding'],
  limits: ReadLimits,
): Promise<SniffedSource> {
  const decodeLimits: DecodeLimits = { ...limits.bundle, maxBytes: limits.bundle.maxFileBytes };
  let found = await sniff(decodeBody(bytes, encoding, decodeLimits));
  for (let layers = 1; found.kind === 'gzip' || found.kind === 'zstd' || found.kind === 'deflate'; layers += 1) {
    if (layers === MAX_LAYERS) return refuse(found, 'TOO_BIG', `It is packed more than ${MAX_LAYERS} times.`);
    found = await sniff(decodeBody(found.source, found.kind, decodeLimits));
  }
  return found.kind === 'zip' ? refuse(found, 'NOT_A_BUNDLE', 'It is a zip archive, which is not read.') : found;
}

async function refuse({ close }: SniffedSource, code: Unreadable['code'], detail: string): Promise<never> {
  await close();
  throw new Unreadable(code, detail);
}

async function* spend(source: AsyncIterable<Uint8Array>, budget: Budget): AsyncGenerator<Uint8Array> {
  for await (const chunk of source) {
    budget.left -= chunk.length;
    if (budget.left < 0) throw new Unreadable('TOO_BIG', `The files unpack to more than ${budget.all} bytes in all.`);
    yield chunk;
  }
}

/** Enough to skip a byte order mark and the blanks before a first brace. */
const HEAD_BYTES = 256;

/** The file type by its first bytes. Anything unrecognized counts as a report. */
type Sniffed = Exclude<Encoding, 'identity' | 'br'> | 'zip' | 'json' | 'report';

interface SniffedSource {
  readonly kind: Sniffed;
  /** All bytes, including those already inspected. */
  readonly source: AsyncIterable<Uint8Array>;
  /** For a caller that does not read the source. */
  readonly close: () => Promise<void>;
}

async function sniff(source: AsyncIterable<Uint8Array>): Promise<SniffedSource> {
  const iterator = source[Symbol.asyncIterator]();
  const held: Uint8Array[] = [];
  let length = 0;
  while (length < HEAD_BYTES) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    held.push(value);
    length += value.length;
  }
  const head = Buffer.concat(held.map((part) => part.subarray(0, HEAD_BYTES)));
  const close = async () => void (await iterator.return?.());
  return { kind: kindOf(head), source: rejoin(held, iterator), close };
}

async function* rejoin(held: readonly Uint8Array[], iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let isFinished = false;
  try {
    yield* held;
    for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value;
    isFinished = true;
  } finally {
    if (!isFinished) await iterator.return?.();
  }
}

function kindOf(head: Buffer): Sniffed {
  const [a = -1, b = -1, c = -1, d = -1] = head;
  if (a === 0x1f && b === 0x8b) return 'gzip';
  if (a === 0x28 && b === 0xb5 && c === 0x2f && d === 0xfd) return 'zstd';
  if (a === 0x50 && b === 0x4b && (c === 3 || c === 5) && d === c + 1) return 'zip';
  // RFC 1950: method 8, a window of 32 KiB, and a header that is a multiple of 31.
  if (a === 0x78 && (a * 256 + b) % 31 === 0) return 'deflate';
  return /^\ufeff?\s*\{/.test(head.toString('utf8')) ? 'json' : 'report';
}
