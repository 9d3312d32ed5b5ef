import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommitDraft } from '../src/app/core/commit-draft.ts';
import { seal } from '../src/app/core/feed-event.ts';
import { encodeQueue } from '../src/app/core/queue-codec.ts';
import { eventsOfStep } from '../src/app/core/step-events.ts';
import type { QueueEvent } from '../src/engine/event.ts';
import type { Queue } from '../src/engine/queue.ts';
import type { Step } from '../src/engine/step.ts';
import { openPostgresStore } from '../src/storage/postgres/open-postgres-store.ts';
import type { QueueCommit, QueueId } from '../src/storage/queues.ts';
import { openSqliteStore } from '../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../src/storage/store.ts';
import { query, startPostgres } from '../test/helpers/postgres.ts';
import { storeQueue, storeRepository } from '../test/helpers/store-rows.ts';
import { Scenario } from '../test/worlds/engine/scenario.ts';
import { median, printFigure, progress } from './lib/figure.ts';

const ROUNDS = 40;
/** A commit with events may take so many times as long as one without. */
const GOAL = 1.05;

/** Pull requests that pass and land one by one, and a batch that fails and is searched, with three events for each step. */
const STORIES = {
  landing: 'submit A B; pass A; pass B; submit C D; pass C; pass D; submit E F; pass E; pass F',
  searching: 'submit A B C D; wait 4m; fail ABCD; wait 3m; submit E F G H; wait 2m; cancel F; restart G; wait 9m',
} as const;
const SETTINGS = { landing: {}, searching: { batch: true, batchingMinSize: 4, concurrency: 3 } };

interface Told {
  readonly event: QueueEvent;
  readonly before: Queue;
  readonly result: Step;
}

interface Cost {
  readonly wallMs: number;
  readonly cpuMs: number;
}

/** The same steps of the engine, encoded and committed one after another, with and without their events in turns. */
export async function measureCommits(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  const postgres = await startPostgres();
  // A commit waits for the disk, as it does on SQLite.
  const careful = ['alter system set fsync = on', 'alter system set full_page_writes = on', 'select pg_reload_conf()'];
  await query(postgres.url, careful);
  const url = await postgres.createDatabase();
  const stores = { sqlite: await openSqliteStore({ directory: folder }), postgres: await openPostgresStore({ url }) };
  try {
    for (const [engine, store] of Object.entries(stores)) {
      for (const story of ['landing', 'searching'] as const) {
        await compare(`events.commits.${engine}.${story}`, store, tellStory(story));
      }
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function tellStory(story: keyof typeof STORIES): readonly Told[] {
  const told = new Scenario(SETTINGS[story]);
  const first = told.queue;
  const skipped = told.steps.length;
  told.play(STORIES[story]);
  const { steps, events } = told;
  return steps.slice(skipped).map((result, index) => ({
    event: events[skipped + index] as QueueEvent,
    before: index === 0 ? first : (steps[skipped + index - 1] as Step).queue,
    result,
  }));
}

async function compare(name: string, store: Store, steps: readonly Told[]): Promise<void> {
  progress(`events commits: ${ROUNDS} times ${steps.length} commits for ${name}`);
  const costs: Record<'with' | 'without', Cost[]> = { with: [], without: [] };
  const sequencing: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
    for (const variant of order) costs[variant].push(await replay(store, steps, variant === 'with'));
    const { cpuMs } = await costOf(async () => {
      while ((await store.feed.sequence(seal, 500)).length > 0);
    });
    sequencing.push(cpuMs);
  }
  const perCommit = (all: readonly Cost[], of: keyof Cost) =>
    (median(all.map((cost) => cost[of])) / steps.length) * 1e3;
  for (const [figure, of] of [
    ['time', 'wallMs'],
    ['cpu', 'cpuMs'],
  ] as const) {
    const [value, baseline] = [perCommit(costs.with, of), perCommit(costs.without, of)];
    printFigure({ name: `${name}.${figure}`, value, unit: 'µs', baseline, goal: GOAL });
  }
  const value = (median(sequencing) / steps.length) * 1e3;
  printFigure({ name: `${name}.sequencing.cpu`, value, unit: 'µs/commit' });
}

async function replay(store: Store, steps: readonly Told[], hasEvents: boolean): Promise<Cost> {
  const repository = await storeRepository(store);
  const id = randomUUID() as QueueId;
  const [first] = steps as [Told];
  await storeQueue(store, { id, repositoryId: repository.id, branch: 'main', body: encodeQueue(first.before) });
  let version = 1;
  const place = { id, repositoryId: repository.id };
  const cost = await costOf(async () => {
    for (const { event, before, result } of steps) {
      const draft = new CommitDraft({ ...place, version, queue: before });
      draft.add(event, result, undefined);
      const commit = draft.toCommit() as QueueCommit;
      const stored = await store.queues.commit(hasEvents ? commit : { ...commit, feed: [] });
      if (stored !== 'committed') throw new Error('the commit is stale');
      version = draft.version;
    }
  });
  if (hasEvents) return cost;
  // The draft made the events of these steps too.
  const made = await costOf(async () => {
    for (const step of steps) eventsOfStep(step, { queueId: id, repositoryId: repository.id, version: 1 });
  });
  return { wallMs: cost.wallMs - made.wallMs, cpuMs: cost.cpuMs - made.cpuMs };
}

async function costOf(act: () => Promise<void>): Promise<Cost> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await act();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - begun, cpuMs: (user + system) / 1_000 };
}
