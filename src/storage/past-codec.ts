import { promisify } from 'node:util';
import { zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import type { Instant } from '../lib/clock.ts';
import type { Moment, PastReading } from './past.ts';
import type { CandidateRow, EntryRow, QueueCommit, QueueId, QueueSnapshot } from './queues.ts';

/**
 * How the past is stored: a commit is a few lines of text, and a pack is a whole queue and the commits after it,
 * compressed. A line is a key, the columns of a row and its body, between tabs, which JSON does not contain. A reader
 * finds the last line of each key and parses only that one.
 */
const HEAD = 'v';
const WHOLE_HEAD = 'w';
const QUEUE = 'q';

export type PastKey = `e${number}` | `c${number}` | `t${number} ${string}`;

export const keyOfEntry = (prNumber: number): PastKey => `e${prNumber}`;
export const keyOfCandidate = (number: number): PastKey => `c${number}`;
export const keyOfTargets = (prNumber: number, sha: string): PastKey => `t${prNumber} ${sha}`;

/** A commit, or a whole queue. */
export interface Change extends Moment {
  readonly body: string;
}

type Rows = Pick<QueueCommit, 'body' | 'entries' | 'candidates' | 'impactedTargets'>;

export function encodeChange(rows: Rows, moment: Moment): string {
  return encode(HEAD, rows, moment);
}

/** Every live row of a queue: changes that follow need nothing from before. */
export function encodeWhole(
  rows: Pick<QueueSnapshot, 'entries' | 'candidates'> & { readonly body: string },
  moment: Moment,
) {
  return encode(WHOLE_HEAD, { ...rows, impactedTargets: [] }, moment);
}

function encode(head: string, { body, entries, candidates, impactedTargets }: Rows, { version, at }: Moment): string {
  return [
    `${head}\t${version}\t${at}`,
    `${QUEUE}\t${body}`,
    ...entries.map((row) => encodeRow(keyOfEntry(row.prNumber), row)),
    ...candidates.map((row) => encodeRow(keyOfCandidate(row.number), row)),
    ...impactedTargets.map((row) => encodeRow(keyOfTargets(row.prNumber, row.sha), row)),
  ].join('\n');
}

/** The queue is said by the row of the database that has the line. */
function encodeRow(key: PastKey, row: { readonly queueId: QueueId; readonly body: string }): string {
  const { queueId: _, body, ...columns } = row;
  return `${key}\t${JSON.stringify(columns)}\t${body}`;
}

function decodeRow<Row>(queueId: QueueId, line: string): Row {
  const [, columns = '', body = ''] = line.split('\t');
  return { ...(JSON.parse(columns) as object), queueId, body } as Row;
}

export function isWhole({ body }: Change): boolean {
  return body.startsWith(WHOLE_HEAD);
}

/** The state that changes add up to. Rows of ended entries and candidates stay in it. */
export class Folded implements PastReading {
  readonly begin: number;
  readonly version: number;
  readonly at: Instant;
  readonly body: string;
  /** The last line of each row. */
  readonly #lines: ReadonlyMap<string, string>;
  readonly #queueId: QueueId;
  /** The rows that changed after the first line. */
  readonly changed: ReadonlySet<string>;

  /** The first change is a whole queue. */
  constructor(queueId: QueueId, changes: readonly Change[]) {
    this.begin = changes[0]?.version ?? 0;
    const lines = new Map<string, string>();
    const changed = new Set<string>();
    for (const change of changes) {
      const isFirst = isWhole(change);
      for (const line of change.body.split('\n').slice(1)) {
        const key = line.slice(0, line.indexOf('\t'));
        lines.set(key, line);
        if (!isFirst && key !== QUEUE) changed.add(key);
      }
    }
    const last = changes.at(-1);
    this.version = last?.version ?? 0;
    this.at = last?.at ?? 0;
    this.body = lines.get(QUEUE)?.slice(QUEUE.length + 1) ?? '';
    this.#lines = lines;
    this.#queueId = queueId;
    this.changed = changed;
  }

  find<Row>(key: string): Row | undefined {
    const line = this.#lines.get(key);
    return line === undefined ? undefined : decodeRow<Row>(this.#queueId, line);
  }

  liveRows(): Pick<QueueSnapshot, 'entries' | 'candidates'> {
    return { entries: this.#live<EntryRow>('e'), candidates: this.#live<CandidateRow>('c') };
  }

  #live<Row extends { readonly isLive: boolean }>(kind: string): Row[] {
    const rows: Row[] = [];
    for (const [key, line] of this.#lines) {
      if (!key.startsWith(kind)) continue;
      const row = decodeRow<Row>(this.#queueId, line);
      if (row.isLive) rows.push(row);
    }
    return rows;
  }
}

const DIGEST = /"targetsDigest":"([^"]+)"/g;

/** The target sets that any of the changes names. */
export function digestsOf(changes: readonly Change[]): ReadonlySet<string> {
  return new Set(changes.flatMap(({ body }) => [...body.matchAll(DIGEST)].map(([, digest = '']) => digest)));
}

export function compressChanges(changes: readonly Change[]): Uint8Array {
  return zstdCompressSync(textOf(changes));
}

/** Many changes take long, so a thread of the pool compresses them. */
export function compressAside(changes: readonly Change[]): Promise<Uint8Array> {
  return compress(textOf(changes));
}

function textOf(changes: readonly Change[]): string {
  return changes.map(({ body }) => body).join('\n');
}

export async function readChangesAside(data: Uint8Array): Promise<readonly Change[]> {
  return parseChanges((await decompress(data)).toString(), () => true);
}

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The changes of a pack up to an instant and a version. */
export function readChanges(data: Uint8Array, isWanted: (moment: Moment) => boolean = () => true): readonly Change[] {
  return parseChanges(zstdDecompressSync(data).toString(), isWanted);
}

function parseChanges(text: string, isWanted: (moment: Moment) => boolean): readonly Change[] {
  const changes: Change[] = [];
  for (let from = 0; from < text.length; ) {
    const [version = 0, at = 0] = text
      .slice(from + 2, text.indexOf('\n', from))
      .split('\t')
      .map(Number);
    const next = text.indexOf('\nv\t', from);
    const until = next === -1 ? text.length : next;
    if (!isWanted({ version, at })) break;
    changes.push({ version, at, body: text.slice(from, until) });
    from = until + 1;
  }
  return changes;
}
