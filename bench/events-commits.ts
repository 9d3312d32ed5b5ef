import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CommitDraft } from '../src/app/core/commit-draft.ts';
import { seal } from '../src/app/core/feed-event.ts';
import { encodeQueue } from '../src/app/core/queue-codec.ts';
import type { QueueEvent } from '../src/engine/model/event.ts';
import type { Queue } from '../src/engine/model/queue.ts';
import type { Step } from '../src/engine/step.ts';
import { openPostgresStore } from '../src/storage/postgres/open-postgres-store.ts';
import type { QueueCommit, QueueId } from '../src/storage/queues.ts';
import { openSqliteStore } from '../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../src/storage/store.ts';
import { query, startPostgres } from '../test/helpers/postgres.ts';
import { storeQueue, storeRepository } from '../test/helpers/store-rows.ts';
import { Scenario } from '../test/worlds/engine/scenario.ts';
import { median, printFigure, progress } from './lib/figure.ts';

/** The first rounds are not measured: a server has compiled its code long before. */
const WARM_UP = 100;
const ROUNDS = 60;
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

/** Both kinds of commits follow each other step by step, so that other work of the machine hits both alike. */
async function compare(name: string, store: Store, steps: readonly Told[]): Promise<void> {
  progress(`events commits: ${ROUNDS} times ${steps.length} commits for ${name}`);
  const costs = { with: steps.map((): Cost[] => []), without: steps.map((): Cost[] => []) };
  const sequencing: number[] = [];
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const order = round % 2 === 0 ? (['with', 'without'] as const) : (['without', 'with'] as const);
    const replays = { with: await begin(store, steps), without: await begin(store, steps) };
    for (const [index, step] of steps.entries()) {
      for (const variant of order) {
        const cost = await replays[variant](step, variant === 'with');
        if (round >= 0) costs[variant][index]?.push(cost);
      }
    }
    const { cpuMs } = await costOf(async () => {
      while ((await store.feed.sequence(seal, 500)).length > 0);
    });
    sequencing.push(cpuMs);
  }
  const perCommit = (all: readonly (readonly Cost[])[], of: keyof Cost) =>
    (all.reduce((sum, ofStep) => sum + median(ofStep.map((cost) => cost[of])), 0) / steps.length) * 1e3;
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

type Replay = (step: Told, hasEvents: boolean) => Promise<Cost>;

/** Commits the steps to a queue of their own. */
async function begin(store: Store, [first]: readonly Told[]): Promise<Replay> {
  const { id: repositoryId } = await storeRepository(store);
  const id = randomUUID() as QueueId;
  await storeQueue(store, { id, repositoryId, branch: 'main', body: encodeQueue((first as Told).before) });
  let version = 1;
  return ({ event, before, result }, hasEvents) =>
    costOf(async () => {
      const loaded = { id, repositoryId, version, queue: before };
      const draft = hasEvents ? new CommitDraft(loaded) : new CommitDraft(loaded, () => []);
      draft.add(event, result, undefined);
      if ((await store.queues.commit(draft.toCommit() as QueueCommit)) !== 'committed') throw new Error('stale');
      version = draft.version;
    });
}

async function costOf(act: () => Promise<void>): Promise<Cost> {
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  await act();
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs: performance.now() - begun, cpuMs: (user + system) / 1_000 };
}
