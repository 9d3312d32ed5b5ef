import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import type { App } from '../src/app/core/app.ts';
import type { Caller } from '../src/app/core/caller.ts';
import { CommitDraft, type LoadedQueue } from '../src/app/core/commit-draft.ts';
import { encodeQueue } from '../src/app/core/queue-codec.ts';
import { getMergeQueueTestingDetails } from '../src/app/queue/get-merge-queue-testing-details.ts';
import { getQueue } from '../src/app/queue/queues.ts';
import { getSubmittedPullRequest } from '../src/app/queue/submitted-pull-requests.ts';
import type { PrNumber } from '../src/engine/model/pull-request.ts';
import { Prng } from '../src/lib/prng.ts';
import { openPostgresStore } from '../src/storage/postgres/open-postgres-store.ts';
import type { QueueId } from '../src/storage/queues.ts';
import { openSqliteStore } from '../src/storage/sqlite/open-sqlite-store.ts';
import type { Store } from '../src/storage/store.ts';
import { FakeForge } from '../test/fake/fake-forge.ts';
import { FakeRepository } from '../test/fake/fake-repository.ts';
import { startPostgres } from '../test/helpers/postgres.ts';
import { storeQueue, storeRepository } from '../test/helpers/store-rows.ts';
import { createTestApp } from '../test/worlds/shell/create-app.ts';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { QueueLoad } from './lib/queue-load.ts';

const LIVE = 500;
const READS = 60;
/** As a busy server commits. */
const EVENTS_A_COMMIT = 4;
const PACKING = { bytes: 256 * 1024, before: 0, now: 0 };
const HOST = 'forge.test';

const OPTIONS = {
  events: { type: 'string', default: '1000000' },
  postgres: { type: 'boolean', default: false },
} as const;

/** `--events 100000` fills less. `--postgres` reads the past from PostgreSQL. */
export async function run(words: readonly string[] = []): Promise<void> {
  const { values } = parseArgs({ args: [...words], options: OPTIONS });
  if (values.postgres) {
    const url = await (await startPostgres()).createDatabase();
    const filled = await fill(await openPostgresStore({ url }), Number(values.events));
    await measureReads(filled);
    return filled.store.close();
  }
  const folder = await mkdtemp(join(tmpdir(), 'sluice-past-'));
  try {
    const filled = await fill(await openSqliteStore({ directory: folder }), Number(values.events));
    await measureReads(filled);
    await filled.store.close();
    measureSpace(folder, filled.landed);
  } finally {
    await rm(folder, { recursive: true });
  }
}

interface Filled {
  readonly store: Store;
  readonly queueId: QueueId;
  readonly from: number;
  readonly until: number;
  readonly submitted: number;
  readonly landed: number;
}

/** Plays a queue of constant length into a store. */
class Player {
  readonly #store: Store;
  readonly #load = new QueueLoad('past', LIVE, { mode: 'PARALLEL' });
  #draft: CommitDraft | undefined;
  #loaded: LoadedQueue | undefined;
  #commits: CommitDraft[] = [];
  events = 0;
  landed = 0;
  submitted = 0;
  last = 0;

  constructor(store: Store) {
    this.#store = store;
  }

  async begin(): Promise<QueueId> {
    const repository = await storeRepository(this.#store, { host: HOST });
    const body = encodeQueue(this.#load.queue);
    const { id } = await storeQueue(this.#store, { repositoryId: repository.id, body });
    this.#loaded = { id, repositoryId: repository.id, version: 1, queue: this.#load.queue };
    this.#load.onStep = (event, result) => {
      const draft = this.#draft ?? new CommitDraft(this.#loaded as LoadedQueue);
      this.#draft = draft;
      draft.add(event, result, undefined);
      this.events += 1;
      this.last = event.at;
      this.landed += result.transitions.filter(({ to }) => to === 'MERGED').length;
      if (event.kind === 'pull_request_submitted') this.submitted += 1;
      if (this.events % EVENTS_A_COMMIT > 0) return;
      this.#commits.push(draft);
      this.#loaded = { ...(this.#loaded as LoadedQueue), version: draft.version, queue: draft.queue };
      this.#draft = undefined;
    };
    this.#load.fill();
    await this.#commit();
    return id;
  }

  async play(steps: number): Promise<void> {
    this.#load.times.length = 0;
    this.#load.measure(steps);
    await this.#commit();
  }

  async #commit(): Promise<void> {
    for (const draft of this.#commits) {
      const commit = draft.toCommit();
      if (commit === undefined) continue;
      // Effects that nobody runs would only fill the table.
      await this.#store.queues.commit({ ...commit, effects: [], feed: [] });
    }
    this.#commits = [];
  }
}

async function fill(store: Store, events: number): Promise<Filled> {
  const player = new Player(store);
  const queueId = await player.begin();
  const from = player.last;
  const packs: number[] = [];
  while (player.events < events) {
    await player.play(2_000);
    for (;;) {
      const { blockedMs, result } = await measureBlocking(() => store.past.pack(queueId, PACKING));
      if (result === 0) break;
      packs.push(blockedMs);
    }
    if (player.events % 100_000 < 2_000) progress(`${player.events} of ${events} events`);
  }
  printFigure({ name: 'past.pack_blocks_p95', value: p95(packs), unit: 'ms' });
  const { submitted, landed, last } = player;
  return { store, queueId, from, until: last, submitted, landed };
}

/** The longest time in which nothing else could run. */
async function measureBlocking<T>(act: () => Promise<T>): Promise<{ blockedMs: number; result: T }> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const result = await act();
  await new Promise((resolve) => setTimeout(resolve, 2));
  delay.disable();
  return { blockedMs: delay.max / 1e6, result };
}

async function measureReads({ store, from, until, submitted }: Filled): Promise<void> {
  const { app, caller, ref } = await openApp(store);
  const random = new Prng('past');
  const reads: Readonly<Record<string, (at: number) => Promise<unknown>>> = {
    get_queue: (at) => getQueue(app, caller, { ...ref, at, includeExplanation: false }),
    get_pull_request: (at) => {
      const number = random.between(1, submitted) as PrNumber;
      const detail = { includeTimeline: true, includeExplanation: true };
      return getSubmittedPullRequest(app, caller, { ...ref, at, pr: { number }, ...detail });
    },
    get_testing_details: (at) => getMergeQueueTestingDetails(app, caller, { ...ref, at }),
  };
  for (const [name, read] of Object.entries(reads)) {
    const times: number[] = [];
    const cpu: number[] = [];
    for (let turn = 0; turn < READS; turn += 1) {
      const began = performance.now();
      const usage = process.cpuUsage();
      await read(random.between(from, until));
      times.push(performance.now() - began);
      const { user, system } = process.cpuUsage(usage);
      cpu.push((user + system) / 1_000);
    }
    printFigure({ name: `past.${name}_cpu_p95`, value: p95(cpu), unit: 'ms' });
    printFigure({ name: `past.${name}_p95`, value: p95(times), unit: 'ms', goal: 150 });
    printFigure({ name: `past.${name}_p50`, value: median(times), unit: 'ms' });
  }
}

async function openApp(store: Store): Promise<{ app: App; caller: Caller; ref: { repo: Ref; targetBranch: string } }> {
  const forge = new FakeForge(new FakeRepository(() => Date.now()));
  const app = createTestApp({ store, forges: new Map([[HOST, forge]]) });
  const [repository] = await store.repositories.listAll();
  const organization = repository && (await store.accounts.findOrganizationById(repository.organizationId));
  if (repository === undefined || organization === undefined) throw new Error('the store is empty');
  const caller = { organization, tokenId: '', name: 'bench', scopes: new Set(['read'] as const), repositoryIds: null };
  const { host, owner, name } = repository;
  return { app, caller, ref: { repo: { host, owner, name }, targetBranch: 'main' } };
}

interface Ref {
  readonly host: string;
  readonly owner: string;
  readonly name: string;
}

function measureSpace(folder: string, landed: number): void {
  const db = new DatabaseSync(join(folder, 'sluice.db'));
  const sizeOf = (names: string) =>
    Number(db.prepare(`select sum(pgsize) as size from dbstat where name ${names}`).get()?.['size'] ?? 0);
  const past = sizeOf(
    `in ('queue_changes', 'queue_packs', 'queue_pack_keys') or name like '%queue_pack%' or name like '%queue_changes%'`,
  );
  const present = sizeOf(`not like '%queue_pack%' and name not like '%queue_changes%'`);
  db.close();
  printFigure({ name: 'past.bytes_per_landed', value: past / landed, unit: 'B', baseline: present / landed });
}
