import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from './lib/child.ts';
import { median, p95, printFigure, progress } from './lib/figure.ts';
import { call, createWorld, type World } from './lib/world.ts';

const ENDPOINTS = 50;
const DEAD = 10;
const SECONDS = 20;
/** Longer than an attempt at a dead endpoint takes. */
const WARM_UP_SECONDS = 18;
const GOAL_MS = 2_000;

/**
 * A repository for each endpoint. Either an endpoint is told of its repository alone, or each of all. The time of a delivery
 * is from its event, which is before the commit, until the receiver has read it.
 */
export async function measureWebhooks({ rate = 100 }: { readonly rate?: number | undefined }): Promise<void> {
  for (const reach of ['own', 'all'] as const) await measure(reach, rate);
}

async function measure(reach: 'own' | 'all', rate: number): Promise<void> {
  const environment = { SLUICE_WEBHOOK_NETWORKS: '127.0.0.0/8' };
  const world = await createWorld({ pullRequests: 1, live: 0, ended: 0, environment });
  try {
    const receivers = await startChild(new URL('./lib/webhook-receivers-child.ts', import.meta.url), {});
    const server = await world.start();
    const late: number[] = [];
    receivers.process.on('message', (message) => late.push(...((message as { late?: number[] }).late ?? [])));
    await prepare(world, server, { receiver: receivers.url, reach });
    progress(`events webhooks: ${rate} events a second, ${ENDPOINTS} endpoints told of ${reach}`);
    await act(server, { rate, seconds: WARM_UP_SECONDS });
    late.length = 0;
    const cpuBefore = await server.cpuMicroseconds();
    const receiverBefore = await receivers.cpuMicroseconds();
    const events = await act(server, { rate, seconds: SECONDS });
    const cpu = (await server.cpuMicroseconds()) - cpuBefore;
    const received = late.length;
    const receiverCpu = (await receivers.cpuMicroseconds()) - receiverBefore;
    await sleep(GOAL_MS + 1_000);
    await server.stop();
    await receivers.stop();
    const expected = reach === 'all' ? events * (ENDPOINTS - DEAD) : (events * (ENDPOINTS - DEAD)) / ENDPOINTS;
    progress(`events webhooks: ${late.length} of ${expected} deliveries came, the median after ${median(late)} ms`);
    // One that did not come in time counts as one that came too late.
    const missing = Array.from({ length: Math.max(0, expected - late.length) }, () => GOAL_MS * 2);
    const name = `events.webhooks.${reach}`;
    printFigure({ name: `${name}.p95`, value: p95([...late, ...missing]), unit: 'ms', goal: GOAL_MS });
    printFigure({ name: `${name}.cpu`, value: cpu / received, unit: 'µs/delivery' });
    printFigure({ name: `${name}.receivers.cpu`, value: receiverCpu / received, unit: 'µs/delivery' });
  } finally {
    world.remove();
  }
}

async function prepare(
  world: World,
  server: Child,
  { receiver, reach }: { readonly receiver: string; readonly reach: 'own' | 'all' },
): Promise<void> {
  const git = path.join(world.folder, 'app.git');
  const ports = (await (await fetch(`${receiver}/ports`)).json()) as readonly number[];
  for (let index = 0; index < ENDPOINTS; index += 1) {
    const { repo } = queueOf(index);
    await call(server.url, '/registerRepository', { repo, git });
    await call(server.url, '/createQueue', { ...queueOf(index), requiredStatuses: ['unit'] });
    const url = `http://127.0.0.1:${ports[index]}/${index < DEAD ? 'dead' : 'live'}/${index}`;
    await call(server.url, '/createWebhook', {
      ...{ name: `w${index}`, url, format: 'STANDARD', types: ['queue.*'] },
      ...(reach === 'own' ? { repositories: [repo] } : {}),
    });
  }
}

function queueOf(index: number) {
  return { repo: { host: 'local', owner: 'acme', name: `service-${index}` }, targetBranch: 'main' };
}

/** Changes settings of the queues in turn, which is one event each. Returns how many events that were. */
async function act(
  server: Child,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<number> {
  const begun = performance.now();
  const acts: Promise<unknown>[] = [];
  const events = seconds * rate;
  for (let count = 0; count < events; count += 1) {
    const changed = { ...queueOf(count % ENDPOINTS), bisectionConcurrency: 1 + (Math.floor(count / ENDPOINTS) % 2) };
    acts.push(call(server.url, '/updateQueue', changed));
    await sleep(Math.max(0, begun + (count * 1_000) / rate - performance.now()));
  }
  await Promise.all(acts);
  return events;
}
