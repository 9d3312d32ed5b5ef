import type { ReadFacts, ReadRun, ReadSummary } from '../../src/ingest/read/read-run.ts';
import { type ReadSources, readUpload } from '../../src/ingest/read/read-upload.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Upload, UploadFile } from '../../src/storage/uploads.ts';
import { anUpload, someFields } from './an-upload.ts';
import { chunks } from './bundle.ts';

/** A day after the instants in test/helpers/bundle.ts. */
export const RECEIVED_AT = Date.parse('2026-09-22T12:00:00Z');

export const UPLOAD: Upload = anUpload('r' as RepositoryId, {
  id: 'upload-1',
  receivedAt: RECEIVED_AT,
  fields: someFields({ sha: '0123456789abcdef0123456789abcdef01234567' }),
  bodyId: 'body',
  files: [],
  sizeBytes: 0,
});

export interface ReportFile {
  readonly name?: string;
  readonly encoding?: UploadFile['encoding'];
  readonly role?: 'codeowners';
  readonly bytes: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
}

export interface ReadResult {
  readonly facts: ReadFacts | undefined;
  readonly runs: readonly ReadRun[];
  readonly summary: ReadSummary;
}

interface Changes {
  readonly upload?: Partial<Upload>;
  readonly sources?: Partial<ReadSources>;
  /** For millions of runs, which must not be kept. */
  readonly onRuns?: (runs: readonly ReadRun[]) => void;
}

export function readFiles(files: readonly ReportFile[], changes: Changes = {}): Promise<ReadResult> {
  const listed = files.map(({ name = 'report.xml', encoding = 'identity', role }) => ({
    ...{ name, encoding, sizeBytes: 1 },
    ...(role === undefined ? {} : { role }),
  }));
  return readAll({ ...UPLOAD, files: listed, ...changes.upload }, files, changes);
}

export function readBundleBytes(bytes: Uint8Array, changes: Changes = {}): Promise<ReadResult> {
  const upload = { ...UPLOAD, kind: 'bundle' as const, fields: null, ...changes.upload };
  return readAll(
    { ...upload, files: [{ name: 'bundle', encoding: 'identity', sizeBytes: bytes.length }] },
    [{ bytes }],
    changes,
  );
}

async function readAll(upload: Upload, files: readonly ReportFile[], changes: Changes): Promise<ReadResult> {
  const items = readUpload(upload, {
    organization: 'acme',
    repository: { host: 'github.com', owner: 'acme', name: 'widgets' },
    openFile: (no) => open(files[no]?.bytes ?? ''),
    testBranchPrefix: 'sluice-test',
    ...changes.sources,
  });
  let facts: ReadFacts | undefined;
  const runs: ReadRun[] = [];
  for (let next = await items.next(); ; next = await items.next()) {
    if (next.done === true) return { facts, runs, summary: next.value };
    if (next.value.kind === 'facts') facts = next.value;
    else if (changes.onRuns !== undefined) changes.onRuns(next.value.runs);
    else runs.push(...next.value.runs);
  }
}

function open(bytes: ReportFile['bytes']): AsyncIterable<Uint8Array> {
  return typeof bytes === 'function' ? bytes() : chunks(Buffer.from(bytes), 5_000);
}

export function issueTexts({ summary }: ReadResult): string {
  return summary.issues.map(({ level, file, line, message }) => `${level} ${file}:${line} ${message}`).join('\n');
}
