import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as healthContract from '../../contract/queue-health.ts';
import { runMs } from '../../engine/model/totals.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { memo } from '../../lib/memo.ts';
import { entropyOf } from '../../policy/measure.ts';
import type { QueueId, TransitionRow } from '../../storage/queues.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue } from '../core/find-queue.ts';
import { decodeCandidate, decodeTransition } from '../core/queue-codec.ts';
import { type Answer, isRefusal } from '../core/refusal.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MOST_REASONS = 20;

type Health = ReplyOf<typeof healthContract.getQueueHealth>;

/** The facts of one hour or day, from which everything else is added up. */
interface Figures {
  readonly landed: number;
  readonly removed: number;
  readonly cancelled: number;
  readonly runs: number;
  readonly reused: number;
  readonly ciMs: number;
  readonly landedMs: readonly number[];
  readonly reasons: ReadonlyMap<string, number>;
}

/** How a queue did. Hours and days that are over do not change, and are kept. */
// SPEC M20, T19
export async function getQueueHealth(
  app: App,
  caller: Caller,
  input: RequestOf<typeof healthContract.getQueueHealth>,
  savings: readonly Omit<Health['serialises'][number], 'pairs'>[] = [],
): Answer<Health> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const { days = 7 } = input;
  const stepMs = days === 1 ? HOUR_MS : DAY_MS;
  const now = app.clock.now();
  const last = Math.floor(now / stepMs) * stepMs;
  const count = days === 1 ? 24 : days;
  const begins = Array.from({ length: count }, (_, index) => last - (count - 1 - index) * stepMs);
  const figures = await readAll(app, found.id, { begins, stepMs, now });
  const total = figures.reduce(add, NOTHING);
  const decided = total.landed + total.removed;
  return {
    buckets: figures.map((each, index) => ({ from: formatInstant(begins[index] ?? 0), ...view(each) })),
    total: view(total),
    reasons: [...total.reasons].sort(([, a], [, b]) => b - a).map(([reason, many]) => ({ reason, count: many })),
    serialises: found.queue.meetings.slice(0, MOST_REASONS).map(({ kind, name, pairs }) => {
      const saving = savings.find((one) => one.kind === kind && one.name === name);
      return { ...saving, kind, name, pairs };
    }),
    ...(decided === 0 ? {} : { fewestRunsPerDecided: entropyOf(total.removed / decided) }),
    bucketSeconds: stepMs / 1_000,
  };
}

interface Asked {
  readonly begins: readonly Instant[];
  readonly stepMs: number;
  readonly now: Instant;
}

async function readAll(app: App, queueId: QueueId, asked: Asked): Promise<Figures[]> {
  const { begins, stepMs, now } = asked;
  const cache = cacheOf(app);
  const keyOf = (begin: Instant) => `${queueId} ${stepMs} ${begin}`;
  const isOver = (begin: Instant) => begin + stepMs <= now - HOUR_MS;
  const unknown = begins.filter((begin) => isOver(begin) && !cache.has(keyOf(begin)));
  for (let first = 0; first < unknown.length; first += AT_ONCE) {
    const piece = unknown.slice(first, first + AT_ONCE);
    for (const [begin, figures] of await readPiece(app, queueId, piece, stepMs)) cache.set(keyOf(begin), figures);
  }
  const figures: Figures[] = [];
  for (const begin of begins) figures.push(cache.get(keyOf(begin)) ?? (await readPresent(app, queueId, begin, asked)));
  return figures;
}

/** A first look asks for many days. Other requests are answered in between. */
const AT_ONCE = 3;

/** An hour or day that goes on. The hours of a day that are over are kept. */
async function readPresent(app: App, queueId: QueueId, begin: Instant, { stepMs, now }: Asked): Promise<Figures> {
  if (stepMs === HOUR_MS) return (await readPiece(app, queueId, [begin], stepMs)).get(begin) ?? NOTHING;
  const hours = Array.from({ length: stepMs / HOUR_MS }, (_, index) => begin + index * HOUR_MS);
  const begun = hours.filter((hour) => hour <= now);
  return (await readAll(app, queueId, { begins: begun, stepMs: HOUR_MS, now })).reduce(add, NOTHING);
}

/** Buckets that follow each other, the oldest first. */
async function readPiece(
  app: App,
  queueId: QueueId,
  begins: readonly Instant[],
  stepMs: number,
): Promise<ReadonlyMap<Instant, Figures>> {
  const window = { queueId, from: begins[0] ?? 0, until: (begins.at(-1) ?? 0) + stepMs };
  const beginOf = (at: Instant | null) => Math.floor((at ?? 0) / stepMs) * stepMs;
  const conclusions = Map.groupBy(await app.store.queueRecords.listConclusions(window), ({ at }) => beginOf(at));
  const candidates = Map.groupBy(await app.store.queueRecords.listCandidatesEnded(window), ({ endedAt }) =>
    beginOf(endedAt),
  );
  return new Map(
    begins.map((begin) => {
      const runs = (candidates.get(begin) ?? []).map(decodeCandidate);
      return [
        begin,
        {
          ...countConclusions(conclusions.get(begin) ?? []),
          runs: runs.filter((run) => run.question === undefined && runMs(run) > 0).length,
          reused: runs.filter(({ pass }) => pass?.by === 'reused_run').length,
          ciMs: runs.reduce((sum, run) => sum + runMs(run), 0),
        },
      ];
    }),
  );
}

const CACHE_LIMIT = 20_000;
const figuresKnownTo = memo((_app: App) => new Map<string, Figures>());

function cacheOf(app: App): Map<string, Figures> {
  const known = figuresKnownTo(app);
  if (known.size >= CACHE_LIMIT) known.clear();
  return known;
}

function countConclusions(rows: readonly TransitionRow[]) {
  const reasons = new Map<string, number>();
  for (const row of rows) {
    if (row.to !== 'FAILED') continue;
    const { reason } = decodeTransition(row);
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const many = (state: string) => rows.filter(({ to }) => to === state).length;
  const landedMs = rows.flatMap(({ to, inQueueMs }) => (to === 'MERGED' && inQueueMs !== null ? [inQueueMs] : []));
  return { landed: many('MERGED'), removed: many('FAILED'), cancelled: many('CANCELLED'), landedMs, reasons };
}

const NOTHING: Figures = {
  ...{ landed: 0, removed: 0, cancelled: 0, runs: 0, reused: 0, ciMs: 0 },
  ...{ landedMs: [], reasons: new Map() },
};

function add(one: Figures, other: Figures): Figures {
  const reasons = new Map(one.reasons);
  for (const [reason, count] of other.reasons) reasons.set(reason, (reasons.get(reason) ?? 0) + count);
  return {
    landed: one.landed + other.landed,
    removed: one.removed + other.removed,
    cancelled: one.cancelled + other.cancelled,
    runs: one.runs + other.runs,
    reused: one.reused + other.reused,
    ciMs: one.ciMs + other.ciMs,
    landedMs: [...one.landedMs, ...other.landedMs],
    reasons,
  };
}

function view({ landed, removed, cancelled, runs, reused, ciMs, landedMs }: Figures): Health['total'] {
  const sorted = landedMs.toSorted((a, b) => a - b);
  const quantile = (share: number) => (sorted[Math.ceil(share * sorted.length) - 1] ?? 0) / 1_000;
  const times = sorted.length === 0 ? {} : { p50Seconds: quantile(0.5), p95Seconds: quantile(0.95) };
  return { landed, removed, cancelled, runs, reusedTrees: reused, ciSeconds: ciMs / 1_000, ...times };
}
