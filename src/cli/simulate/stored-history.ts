import { copyFile, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeEvent, decodeQueue, indexTargetSets, type TargetSets } from '../../app/core/queue-codec.ts';
import type { QueueEvent } from '../../engine/event.ts';
import type { QueueSettings } from '../../engine/settings.ts';
import { formatInstant, type Instant } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import { type Outcome, Referee } from '../../policy/referee.ts';
import { type Change, HOUR_MS, PLAIN_CHANGE } from '../../policy/workload.ts';
import type { QueueRow } from '../../storage/queues.ts';
import { type FolderLock, lockFolder } from '../../storage/sqlite/folder.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';
import { writeBackup } from '../../storage/sqlite/write-backup.ts';
import type { Store } from '../../storage/store.ts';
import { usageError } from '../core/exit.ts';
import { type Cycle, cyclesOf } from './cycles.ts';
import type { Source } from './options.ts';

interface History {
  readonly source: string;
  readonly notes: readonly string[];
  readonly changes: readonly Change[];
  readonly settings: QueueSettings;
  readonly asItWas: Outcome;
}

type Place = Extract<Source, { kind: 'history' }>;

const PAGE = 1000;

/** The last days of a queue as a workload, with their outcome. */
export function readHistory(place: Place): Promise<History> {
  return withStoreCopy(place.data, async (store) => {
    const { queue, name } = await findQueue(store, place);
    const snapshot = await store.queues.load(queue.id);
    const [last] = await store.queues.listEvents(queue.id, queue.version - 1, 1);
    if (snapshot === undefined || last === undefined) throw usageError(`The queue of ${name} has no history.`);
    const from = last.at - place.days * 24 * HOUR_MS;
    const rows = await store.queues.listTransitionsWithin({ queueIds: [queue.id], from, until: last.at });
    const cycles = cyclesOf(rows);
    const facts = await readFacts(store, queue, cycles);
    const { settings } = decodeQueue(snapshot);
    return { ...toHistory(cycles, facts, { name, from, until: last.at }), settings };
  });
}

async function findQueue(store: Store, { repo, branch }: Place): Promise<{ queue: QueueRow; name: string }> {
  const repositories = await store.repositories.listAll();
  const nameOf = ({ host, owner, name }: (typeof repositories)[number]) => `${host}/${owner}/${name}`;
  const chosen = repositories.filter((repository) => repo === undefined || nameOf(repository) === repo);
  const [repository, ...others] = chosen;
  if (repository === undefined || others.length > 0) {
    const names = repositories.map(nameOf).join(', ') || 'none';
    throw usageError(`Choose a repository with --repo. There are: ${names}.`);
  }
  const queue = await store.queues.find(repository.id, branch);
  if (queue !== undefined) return { queue, name: `${nameOf(repository)} ${branch}` };
  const branches = (await store.queues.listByRepository(repository.id)).map((each) => each.branch).join(', ') || 'none';
  throw usageError(`${nameOf(repository)} has no queue for ${branch}. There are: ${branches}.`);
}

/** Facts that are in events and not in transitions. */
interface Facts {
  /** By the version of the submission. */
  readonly heads: ReadonlyMap<number, string>;
  /** By pull request, in order of versions. */
  readonly targets: ReadonlyMap<number, readonly { readonly version: number; readonly digest: string | undefined }[]>;
  readonly sets: TargetSets;
}

/** Lists of targets are looked up once each, after all events are read. */
class LaterSets extends Map<string, readonly string[]> {
  override get(): readonly string[] {
    return [];
  }
}

async function readFacts(store: Store, queue: QueueRow, cycles: readonly Cycle[]): Promise<Facts> {
  const heads = new Map<number, string>();
  const targets = new Map<number, { version: number; digest: string | undefined }[]>();
  let version = (cycles[0]?.version ?? queue.version + 1) - 1;
  while (version < queue.version) {
    const rows = await store.queues.listEvents(queue.id, version, PAGE);
    for (const row of rows) noteEvent(decodeEventRow(row), row.version, heads, targets);
    version = rows.at(-1)?.version ?? queue.version;
  }
  const digests = new Set([...targets.values()].flat().flatMap(({ digest }) => digest ?? []));
  const sets = await Promise.all([...digests].map((digest) => store.queues.findTargetSet(digest)));
  return { heads, targets, sets: indexTargetSets(sets.filter((set) => set !== undefined)) };
}

function decodeEventRow(row: Parameters<typeof decodeEvent>[0]): QueueEvent {
  return decodeEvent(row, new LaterSets());
}

function noteEvent(
  event: QueueEvent,
  version: number,
  heads: Map<number, string>,
  targets: Map<number, { version: number; digest: string | undefined }[]>,
): void {
  if (event.kind === 'pull_request_submitted') heads.set(version, event.pr.headSha);
  if (!('targets' in event) || event.targets === undefined) return;
  const prNumber = event.kind === 'pull_request_submitted' ? event.pr.number : event.prNumber;
  const digest = event.targets.kind === 'list' ? event.targets.digest : undefined;
  targets.set(prNumber, [...(targets.get(prNumber) ?? []), { version, digest }]);
}

function toHistory(
  cycles: readonly Cycle[],
  facts: Facts,
  { name, from, until }: { readonly name: string; readonly from: Instant; readonly until: Instant },
): Omit<History, 'settings'> {
  const told = cycles.filter(isQueueOutcome);
  const kept = withoutRepeats(told, facts).sort((a, b) => a.cycle.arrivedAt - b.cycle.arrivedAt);
  const medianMs = medianOf(kept.flatMap(({ cycle }) => cycle.testingMs ?? []));
  const changes = kept.map((each, index) => toChange(each, index + 1, medianMs, facts));
  const rest = cycles.length - told.length;
  const notes = [
    `from ${formatInstant(from)} to ${formatInstant(until)}; times count from when a pull request was ready`,
    ...(rest > 0 ? [`left out: ${rest} that were cancelled, merged by hand, refused or are still in the queue`] : []),
  ];
  return { source: name, notes, changes, asItWas: outcomeOf(kept, changes) };
}

/** Landed by the queue, or removed for its contents. */
function isQueueOutcome({ end }: Cycle): boolean {
  if (end?.state === 'MERGED') return end.reason !== 'MANUAL_MERGE';
  return end?.state === 'FAILED' && /^TEST_RUN_|^START_TEST_RUN_MERGE_CONFLICT$/.test(end.reason);
}

interface Kept {
  readonly cycle: Cycle;
  /** It failed, and the same commit was submitted again and landed, so the failure was a flake. */
  readonly isFlake: boolean;
}

function withoutRepeats(cycles: readonly Cycle[], { heads }: Facts): Kept[] {
  const groups = Map.groupBy(cycles, ({ prNumber, version }) => `${prNumber}@${heads.get(version) ?? version}`);
  return [...groups.values()].flatMap((group): Kept[] => {
    const [first] = group;
    const isFlake = first?.end?.state === 'FAILED' && group.at(-1)?.end?.state === 'MERGED';
    if (first === undefined || !isFlake) return group.map((cycle) => ({ cycle, isFlake: false }));
    return [{ cycle: first, isFlake }];
  });
}

function toChange({ cycle, isFlake }: Kept, number: number, medianMs: number, facts: Facts): Change {
  const { end, arrivedAt, testingMs = medianMs } = cycle;
  const isUnmergeable = end?.reason === 'START_TEST_RUN_MERGE_CONFLICT';
  const isBroken = end?.state === 'FAILED' && !isUnmergeable && !isFlake;
  const targets = targetsOf(cycle, facts);
  return {
    ...PLAIN_CHANGE,
    ...{ number, submittedAt: arrivedAt, durationMs: testingMs },
    ...{ isBroken, isUnmergeable: isUnmergeable && !isFlake, targets },
  };
}

function targetsOf(
  { prNumber, version, admittedVersion = version }: Cycle,
  facts: Facts,
): readonly string[] | undefined {
  const digest = facts.targets.get(prNumber)?.findLast((said) => said.version <= admittedVersion)?.digest;
  return digest === undefined ? undefined : facts.sets.get(digest);
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const median = sorted[Math.floor(sorted.length / 2)];
  if (median === undefined) throw usageError('No test run came to an end in that time: there is nothing to play.');
  return median;
}

function outcomeOf(kept: readonly Kept[], changes: readonly Change[]): Outcome {
  const outcome = new Referee({ source: '', changes, chance: { seed: '', flakeRate: 0, gitMs: 0 } });
  const runs = new Set<string>();
  for (const [index, { cycle }] of kept.entries()) {
    if (cycle.end?.state === 'MERGED') outcome.land(index + 1, cycle.end.at);
    else outcome.remove(index + 1, cycle.end?.at ?? cycle.arrivedAt);
    outcome.restarts += cycle.restarts;
    for (const run of cycle.runs) runs.add(run);
  }
  outcome.runs = runs.size;
  return outcome;
}

const DATABASE = 'sluice.db';

/** Works on a temporary copy. The data folder or backup at `place` stays unchanged. */
async function withStoreCopy<T>(place: string, use: (store: Store) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-simulate-'));
  try {
    await copyStore(place, join(directory, DATABASE));
    const store = await openSqliteStore({ directory });
    try {
      return await use(store);
    } finally {
      await store.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function copyStore(place: string, copy: string): Promise<void> {
  const found = await stat(place).catch(() => undefined);
  if (found?.isFile() === true) return copyFile(place, copy);
  const database = join(place, DATABASE);
  const inside = await stat(database).catch(() => undefined);
  if (inside?.isFile() !== true) throw usageError(`${place} is neither a data folder nor a backup.`);
  // Held during the copy, so that no server starts meanwhile.
  const lock = lockIdle(place);
  try {
    await writeBackup(database, copy);
  } finally {
    lock.release();
  }
}

function lockIdle(folder: string): FolderLock {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof Fault) || error.code !== 'STORE_LOCKED') throw error;
    throw usageError(
      `A server is using ${folder}. Run \`sluice backup\` and give the file that it names: --data <file>.`,
    );
  }
}
