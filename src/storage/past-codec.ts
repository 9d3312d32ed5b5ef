import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Instant } from '../lib/clock.ts';
import type { Moment } from './past.ts';
import type { CandidateRow, EntryRow, ImpactedTargetsRow, QueueCommit, QueueId, QueueSnapshot } from './queues.ts';

/** How the past is stored: one line of JSON a commit. A pack is a whole queue and the lines after it, compressed. */
interface StoredChange extends Moment {
  /** All live rows, not only those that changed. */
  readonly isWhole?: true;
  readonly body: string;
  readonly entries: readonly Unplaced<EntryRow>[];
  readonly candidates: readonly Unplaced<CandidateRow>[];
  readonly targets?: readonly Unplaced<ImpactedTargetsRow>[];
}

/** The queue is said by the row that has the line. */
type Unplaced<Row> = Omit<Row, 'queueId'>;

export interface Line extends Moment {
  readonly body: string;
}

export type PastKey = `e${number}` | `c${number}` | `t${number} ${string}`;

export const keyOfEntry = (prNumber: number): PastKey => `e${prNumber}`;
export const keyOfCandidate = (number: number): PastKey => `c${number}`;
export const keyOfTargets = (prNumber: number, sha: string): PastKey => `t${prNumber} ${sha}`;

export function encodeChange(
  {
    body,
    entries,
    candidates,
    impactedTargets,
  }: Pick<QueueCommit, 'body' | 'entries' | 'candidates' | 'impactedTargets'>,
  { version, at }: Moment,
): string {
  const targets = impactedTargets.map(withoutQueue);
  const change: StoredChange = {
    version,
    at,
    body,
    entries: entries.map(withoutQueue),
    candidates: candidates.map(withoutQueue),
    ...(targets.length === 0 ? {} : { targets }),
  };
  return JSON.stringify(change);
}

/** Every live row of a queue: changes that follow need nothing from before. */
export function encodeWhole(
  {
    queue,
    entries,
    candidates,
  }: Pick<QueueSnapshot, 'entries' | 'candidates'> & {
    readonly queue: { readonly version: number; readonly body: string };
  },
  at: Instant,
): string {
  const { version, body } = queue;
  const rows = { entries: entries.map(withoutQueue), candidates: candidates.map(withoutQueue) };
  return JSON.stringify({ version, at, isWhole: true, body, ...rows } satisfies StoredChange);
}

function withoutQueue<Row extends { readonly queueId: QueueId }>({ queueId: _, ...row }: Row): Omit<Row, 'queueId'> {
  return row;
}

export function isWhole(line: Line): boolean {
  return (JSON.parse(line.body) as StoredChange).isWhole === true;
}

/** The state that lines add up to. Rows of ended entries and candidates stay in it. */
export interface Folded extends Moment {
  readonly body: string;
  readonly entries: ReadonlyMap<PastKey, EntryRow>;
  readonly candidates: ReadonlyMap<PastKey, CandidateRow>;
  readonly targets: ReadonlyMap<PastKey, ImpactedTargetsRow>;
  /** The rows that changed after the first line. */
  readonly changed: ReadonlySet<PastKey>;
  /** The target sets that any of the lines names. */
  readonly digests: ReadonlySet<string>;
}

/** The first line is a whole queue. Undefined without a line. */
export function fold(queueId: QueueId, lines: readonly Line[]): Folded | undefined {
  const entries = new Map<PastKey, EntryRow>();
  const candidates = new Map<PastKey, CandidateRow>();
  const targets = new Map<PastKey, ImpactedTargetsRow>();
  const changed = new Set<PastKey>();
  const digests = new Set<string>();
  let last: StoredChange | undefined;
  for (const line of lines) {
    last = JSON.parse(line.body) as StoredChange;
    const keep = <Row extends { readonly queueId: QueueId }>(
      into: Map<PastKey, Row>,
      key: PastKey,
      row: Unplaced<Row>,
    ) => {
      into.set(key, { ...row, queueId } as Row);
      if (last?.isWhole !== true) changed.add(key);
    };
    for (const { targetsDigest } of [...last.entries, ...(last.targets ?? [])]) {
      if (targetsDigest !== null) digests.add(targetsDigest);
    }
    for (const row of last.entries) keep(entries, keyOfEntry(row.prNumber), row);
    for (const row of last.candidates) keep(candidates, keyOfCandidate(row.number), row);
    for (const row of last.targets ?? []) keep(targets, keyOfTargets(row.prNumber, row.sha), row);
  }
  return (
    last && { version: last.version, at: last.at, body: last.body, entries, candidates, targets, changed, digests }
  );
}

export function liveRows({ entries, candidates }: Folded): Pick<QueueSnapshot, 'entries' | 'candidates'> {
  return {
    entries: [...entries.values()].filter(({ isLive }) => isLive),
    candidates: [...candidates.values()].filter(({ isLive }) => isLive),
  };
}

export function compressLines(lines: readonly Line[]): Uint8Array {
  return zstdCompressSync(lines.map(({ body }) => body).join('\n'));
}

const HEAD = /^\{"version":(\d+),"at":(-?\d+)/;

/** Reads the head of each line alone: most lines of a pack are not needed. */
export function readLines(data: Uint8Array): readonly Line[] {
  return zstdDecompressSync(data)
    .toString()
    .split('\n')
    .map((body) => {
      const [, version, at] = HEAD.exec(body) ?? [];
      return { version: Number(version), at: Number(at), body };
    });
}
