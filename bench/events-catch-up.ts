import { setTimeout as sleep } from 'node:timers/promises';
import { seal } from '../src/app/core/feed-event.ts';
import type { FeedDraft } from '../src/storage/feed-draft.ts';
import { openSqliteStore } from '../src/storage/sqlite/open-sqlite-store.ts';
import { startChild } from './lib/child.ts';
import { printFigure, progress } from './lib/figure.ts';
import { call, createWorld, type World } from './lib/world.ts';

const EVENTS = 10_000;
/** The same with a tenth of the events: a delivery must not cost more, nor the server grow, because many wait. */
const FEWER = EVENTS / 10;
const PULL_REQUESTS = 200;
const AWAY_MS = 2 * 24 * 3_600_000;
const GOALS = { seconds: 60, memoryMb: 150, ratio: 1.25 } as const;

interface CaughtUp {
  readonly seconds: number;
  readonly cpuMicroseconds: number;
  /** Resident, at its peak. */
  readonly memoryBytes: number;
}

/** An endpoint hung for two days, in which its events waited in the feed. Now it answers. */
export async function measureCatchUp(): Promise<void> {
  const few = await catchUp(FEWER);
  const many = await catchUp(EVENTS);
  const name = 'events.catch-up';
  printFigure({ name: `${name}.time`, value: many.seconds, unit: 's', goal: GOALS.seconds });
  printFigure({
    name: `${name}.memory`,
    value: (many.memoryBytes - few.memoryBytes) / 1e6,
    unit: 'MB',
    goal: GOALS.memoryMb,
  });
  printFigure({
    ...{ name: `${name}.cpu`, value: many.cpuMicroseconds / EVENTS, unit: 'µs/delivery' },
    ...{ baseline: few.cpuMicroseconds / FEWER, goal: GOALS.ratio },
  });
}

async function catchUp(events: number): Promise<CaughtUp> {
  progress(`events catch-up: ${events} events`);
  const environment = { SLUICE_WEBHOOK_NETWORKS: '127.0.0.0/8' };
  const world = await createWorld({ pullRequests: 1, live: 0, ended: 0, environment });
  try {
    const receivers = await startChild(new URL('./lib/webhook-receivers-child.ts', import.meta.url), {});
    let received = 0;
    receivers.process.on('message', (message) => {
      received += (message as { late?: number[] }).late?.length ?? 0;
    });
    const away = await world.start();
    const webhook = { name: 'away', url: `${receivers.url}/live`, format: 'STANDARD', types: ['pull_request.*'] };
    await call(away.url, '/createWebhook', webhook);
    await away.stop();
    await fill(world, events);
    const server = await world.start();
    const [cpuBefore, begun] = [await server.cpuMicroseconds(), performance.now()];
    while (received < events) await sleep(100);
    const seconds = (performance.now() - begun) / 1_000;
    const cpuMicroseconds = (await server.cpuMicroseconds()) - cpuBefore;
    const memoryBytes = server.memory().peak;
    await server.stop();
    await receivers.stop();
    return { seconds, cpuMicroseconds, memoryBytes };
  } finally {
    world.remove();
  }
}

async function fill(world: World, events: number): Promise<void> {
  const store = await openSqliteStore({ directory: world.dataFolder });
  const [repository] = await store.repositories.listAll();
  const [webhook] = await store.webhooks.listEnabled();
  if (repository === undefined || webhook === undefined) throw new Error('the repository or the webhook is missing');
  const since = Date.now() - AWAY_MS;
  const body = JSON.stringify({ actor: { kind: 'sluice', name: 'sluice' }, text: 'Its tests run.', data: {} });
  const drafts = Array.from({ length: events }, (_, index): FeedDraft => {
    const at = since + Math.floor((AWAY_MS * index) / events);
    const place = { organizationId: null, repositoryId: repository.id, queueId: null, targetBranch: 'main' };
    const named = { source: 'bench', version: index + 1, ordinal: 0, type: 'pull_request.testing' };
    return { ...named, ...place, at, prNumber: 1 + (index % PULL_REQUESTS), testId: null, body };
  });
  await store.feed.add(drafts);
  while ((await store.feed.sequence(seal, 500)).length > 0);
  await store.webhooks.update(webhook.id, { failingSince: since }, []);
  await store.close();
}
