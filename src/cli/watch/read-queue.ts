import type { Static } from 'typebox';
import type { EntryRecord } from '../../contract/entry.ts';
import type { pollQueue } from '../../contract/queues.ts';
import type { RepoRef } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { readAgain } from '../core/poll.ts';
import { shownState } from '../core/terminal.ts';
import {
  type Change,
  changesSince,
  ENDED,
  type Entry,
  inOrder,
  type Left,
  type Snapshot,
  startOfStay,
  type TestRun,
  type Wait,
  type WatchedQueue,
} from './snapshot.ts';

export interface QueueName {
  readonly repo: RepoRef;
  readonly targetBranch: string;
}

type Reply = Static<typeof pollQueue.reply>;

/** The previous reading: the next one asks only for news, and a failed one changes nothing. */
export interface Memory {
  /** State and instant of every pull request seen. */
  readonly known: ReadonlyMap<number, string>;
  /** How many lines of each timeline were printed. */
  readonly told: ReadonlyMap<number, number>;
  readonly left: readonly Left[];
  /** By the server's clock: earlier departures are known. */
  readonly leftSince: number;
  /** An answer that is still the same is not sent again. */
  readonly reply?: Reply;
}

export interface Reading {
  readonly snapshot: Snapshot;
  /** Changes since the previous reading. In the first one: how the entries came to their present state. */
  readonly changes: readonly Change[];
  readonly memory: Memory;
}

/** Enough for any screen. */
const MAX_LEFT = 20;
const MAX_WAITS = 40;
/** The limit of getSubmittedPullRequests. */
const MAX_RECORDS = 50;
const LOOK_BACK_MS = 24 * 3_600_000;
/** The clocks of servers on one database may differ. */
const OVERLAP_MS = 5_000;

export async function readQueue(
  context: Context,
  name: QueueName,
  want: { readonly changes: boolean; readonly waits: boolean },
  before?: Memory,
  now = Date.now(),
): Promise<Reading> {
  const memory: Memory = before ?? { known: new Map(), told: new Map(), left: [], leftSince: now - LOOK_BACK_MS };
  const isFirst = before === undefined;
  const asked = { ...name, includeForecast: want.waits };
  const reply = await readAgain((body: typeof asked) => context.call('pollQueue', body), asked, memory.reply);
  const runs = await readRuns(context, name);
  // Read last: an entry that is missing in the queue has left, and is found here.
  const ended = await readEnded(context, name, memory.leftSince, isFirst);
  const live = reply.enqueuedPullRequests.filter((entry) => !ended.some((other) => isLater(other, entry)));
  const isNew = (entry: Entry): boolean => memory.known.get(entry.prNumber) !== keyOf(entry);
  const allLeft = ended.filter(isNew).toSorted(byInstant);
  const newlyLeft = isFirst ? allLeft.slice(0, MAX_LEFT) : allLeft;
  const wanted = want.changes ? [...live.filter(isNew), ...newlyLeft] : newlyLeft;
  const records = await readRecords(context, name, wanted, 'includeTimeline');
  const waits = want.waits ? await readWaits(context, name, live, runs) : new Map();
  const left = [...describeLeft(newlyLeft, records), ...memory.left].slice(0, MAX_LEFT);
  const changes = records.flatMap((record) => changesSince(record, linesTold(record, memory, isFirst)));
  return {
    snapshot: { repo: name.repo, queue: describeQueue(reply, live), runs, waits, left },
    changes: want.changes ? inOrder(changes) : [],
    memory: { ...remember(memory, { seen: [...live, ...ended], records, left, ended }), reply },
  };
}

function describeQueue(reply: Reply, live: readonly Entry[]): WatchedQueue {
  return {
    branch: reply.branch,
    state: shownState(reply),
    mode: String(reply['mode']),
    concurrency: Number(reply['concurrency']),
    parked: reply.parked,
    held: reply.held,
    frozen: reply.frozen,
    learned: reply.learned,
    forecast: reply.forecast?.basis === undefined ? undefined : reply.forecast.text,
    alarm: reply.alarms?.find(({ endedAt }) => endedAt === undefined),
    enqueuedPullRequests: live,
  };
}

interface News {
  readonly seen: readonly Entry[];
  readonly records: readonly EntryRecord[];
  readonly left: readonly Left[];
  readonly ended: readonly Entry[];
}

function remember(memory: Memory, { seen, records, left, ended }: News): Memory {
  const instants = ended.map(({ stateChangedAt }) => Date.parse(stateChangedAt) - OVERLAP_MS);
  return {
    known: new Map([...memory.known, ...seen.map((entry) => [entry.prNumber, keyOf(entry)] as const)]),
    told: new Map([...memory.told, ...records.map((record) => [record.prNumber, lengthOf(record)] as const)]),
    left,
    leftSince: Math.max(memory.leftSince, ...instants),
  };
}

function lengthOf({ timeline = [] }: EntryRecord): number {
  return timeline.length;
}

/**
 * In the first reading only the last line of live entries is news; for a later entry, its present stay in the queue.
 */
function linesTold(record: EntryRecord, { told }: Memory, isFirst: boolean): number {
  const known = told.get(record.prNumber);
  if (known !== undefined) return known;
  if (!isFirst) return startOfStay(record);
  return ENDED.has(record.state) ? lengthOf(record) : Math.max(0, lengthOf(record) - 1);
}

function keyOf({ state, stateChangedAt }: Entry): string {
  return `${state} ${stateChangedAt}`;
}

function isLater(one: Entry, other: Entry): boolean {
  return one.prNumber === other.prNumber && Date.parse(one.stateChangedAt) >= Date.parse(other.stateChangedAt);
}

function byInstant(a: Entry, b: Entry): number {
  return Date.parse(b.stateChangedAt) - Date.parse(a.stateChangedAt);
}

async function readRuns(context: Context, name: QueueName): Promise<readonly TestRun[]> {
  const reply = await context.call('getMergeQueueTestingDetails', name);
  return 'testRuns' in reply ? reply.testRuns : [];
}

/** Entries that left since then and are not back. */
async function readEnded(context: Context, name: QueueName, since: number, isFirst: boolean): Promise<Entry[]> {
  const ended: Entry[] = [];
  let cursor: string | undefined;
  do {
    const body = {
      ...name,
      since: new Date(since).toISOString(),
      take: 100,
      ...(cursor === undefined ? {} : { cursor }),
    };
    const page = await context.call('listPullRequests', body);
    ended.push(...page.pullRequests.filter(({ state }) => ENDED.has(state)));
    // The first reading needs only the latest page; later ones read all.
    cursor = isFirst ? undefined : page.nextCursor;
  } while (cursor !== undefined);
  return ended;
}

async function readRecords(
  context: Context,
  name: QueueName,
  entries: readonly Entry[],
  detail: 'includeTimeline' | 'includeExplanation',
): Promise<EntryRecord[]> {
  const records: EntryRecord[] = [];
  for (let from = 0; from < entries.length; from += MAX_RECORDS) {
    const prs = entries.slice(from, from + MAX_RECORDS).map(({ prNumber }) => ({ number: prNumber }));
    records.push(...(await context.call('getSubmittedPullRequests', { ...name, prs, [detail]: true })).pullRequests);
  }
  return records;
}

function describeLeft(entries: readonly Entry[], records: readonly EntryRecord[]): readonly Left[] {
  const byNumber = new Map(records.map((record) => [record.prNumber, record]));
  return entries.map((entry) => {
    const record = byNumber.get(entry.prNumber);
    return {
      prNumber: entry.prNumber,
      title: entry.prTitle,
      state: entry.state ?? '',
      at: entry.stateChangedAt,
      why: record?.timeline?.[0]?.text ?? '',
      sha: entry.state === 'MERGED' ? record?.landed?.sha : undefined,
    };
  });
}

/** Entries under test are left out: their checks show the reason. */
async function readWaits(
  context: Context,
  name: QueueName,
  live: readonly Entry[],
  runs: readonly TestRun[],
): Promise<ReadonlyMap<number, Wait>> {
  const tested = new Set(runs.flatMap((run) => run.testedPullRequests.map(({ prNumber }) => prNumber)));
  const waiting = live.filter(({ prNumber }) => !tested.has(prNumber)).slice(0, MAX_WAITS);
  const records = await readRecords(context, name, waiting, 'includeExplanation');
  return new Map(
    records.map(({ prNumber, explanation }) => [
      prNumber,
      { position: explanation?.position, why: explanation?.reasons[0]?.text ?? '' },
    ]),
  );
}
