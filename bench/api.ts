import { setTimeout as sleep } from 'node:timers/promises';
import type { Child } from './lib/child.ts';
import { serve, startChild } from './lib/child.ts';
import { median, printFigure, progress } from './lib/figure.ts';
import { type LoadResult, load, type Request } from './lib/load.ts';
import { call, createWorld, QUEUE, type World } from './lib/world.ts';

const ROUNDS = 5;
const LIVE = 20;
const PULL_REQUESTS = 256;

interface Case {
  readonly name: string;
  readonly requests: readonly Request[];
  readonly connections: number;
  readonly amount: number;
  /** At most this many times the CPU time of bare Fastify. */
  readonly goal: number;
}

const READS: readonly Case[] = [
  read('getQueue', '/getQueue', QUEUE),
  read('getSubmittedPullRequest', '/getSubmittedPullRequest', { ...QUEUE, pr: { number: 7 } }),
  read('listQueues', '/listQueues', {}),
];

const SUBMIT: Case = {
  name: 'submitPullRequest',
  requests: Array.from({ length: PULL_REQUESTS }, (_, index) =>
    post('/submitPullRequest', { ...QUEUE, pr: { number: index + 1 }, priority: index % 200 }),
  ),
  connections: 64,
  amount: 30_000,
  goal: 2.8,
};

/** Runs everything, or the one named question. */
export async function run([question]: readonly string[] = []): Promise<void> {
  const isAsked = (name: string) => question === undefined || question === name;
  progress('api: making a repository, a queue and a history');
  const world = await createWorld({ pullRequests: PULL_REQUESTS, live: LIVE, ended: 100 });
  try {
    if (isAsked('requests')) await compareWithBareFastify(world);
    if (isAsked('start')) await measureStart(world);
    if (isAsked('large')) await measureLargeBody(world);
  } finally {
    world.remove();
  }
  if (isAsked('history')) await compareHistories();
}

async function compareWithBareFastify(world: World): Promise<void> {
  const sluice = await world.start();
  const replies: Record<string, unknown> = {};
  for (const { requests } of [...READS, SUBMIT]) {
    const [request] = requests as [Request];
    replies[request.path.slice(3)] = await call(sluice.url, request.path.slice(3), JSON.parse(request.body ?? '{}'));
  }
  const bare = await startChild(new URL('./lib/bare-child.ts', import.meta.url), { replies });
  for (const each of [...READS, SUBMIT]) await compare(each, { sluice, bare });
  await Promise.all([sluice.stop(), bare.stop()]);
}

async function compare(each: Case, of: { readonly sluice: Child; readonly bare: Child }): Promise<void> {
  progress(`api: ${each.name}, ${ROUNDS} rounds against bare Fastify`);
  // The compiler needs some ten thousand requests to optimize everything.
  for (const child of [of.sluice, of.bare, of.sluice, of.bare]) await measure(each, child);
  const ours: Measured[] = [];
  const theirs: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    ours.push(await measure(each, of.sluice));
    theirs.push(await measure(each, of.bare));
  }
  const pick = (key: keyof Measured) => ({
    value: median(ours.map((m) => m[key])),
    baseline: median(theirs.map((m) => m[key])),
  });
  printFigure({ name: `api.${each.name}.cpu`, unit: 'µs/request', goal: each.goal, ...pick('cpuMicroseconds') });
  printFigure({ name: `api.${each.name}.rate`, unit: 'requests/s', ...pick('requestsPerSecond') });
  printFigure({ name: `api.${each.name}.p50`, unit: 'ms', ...pick('p50Ms') });
  printFigure({ name: `api.${each.name}.p99`, unit: 'ms', ...pick('p99Ms') });
}

type Measured = LoadResult & { readonly cpuMicroseconds: number };

async function measure(each: Case, child: Child): Promise<Measured> {
  const before = await child.cpuMicroseconds();
  const result = await load(child.url, each);
  const after = await child.cpuMicroseconds();
  return { ...result, cpuMicroseconds: (after - before) / result.requests };
}

/** How long `sluice serve` takes to start on an existing store, and its memory when idle. */
async function measureStart(world: World): Promise<void> {
  progress('api: starting on an existing store');
  const times: number[] = [];
  const weights: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const begun = performance.now();
    const served = await serve({ SLUICE_DATA: world.dataFolder, SLUICE_PORT: '0' });
    await fetch(`${served.url}/readyz`);
    times.push(performance.now() - begun);
    await sleep(2_000);
    weights.push(served.memory().now);
    await served.stop();
  }
  printFigure({ name: 'api.ready', value: median(times), unit: 'ms', goal: 1500 });
  printFigure({ name: 'api.idle.memory', value: median(weights) / 1e6, unit: 'MB', goal: 180 });
}

/**
 * The largest possible bodies, with few long targets and many short ones, and the latency of other requests meanwhile.
 */
async function measureLargeBody(world: World): Promise<void> {
  const shapes = {
    'long-targets': Array.from({ length: 99_000 }, (_, index) => `//${'x'.repeat(195)}:${index}`),
    'short-targets': Array.from({ length: 1_550_000 }, (_, index) => `//t${index}`),
  };
  for (const [name, impactedTargets] of Object.entries(shapes)) {
    progress(`api: a body of 20 MiB, ${name}`);
    const child = await world.start();
    const body = { ...QUEUE, pr: { number: 8, sha: 'b'.repeat(40) }, impactedTargets };
    const longest = await longestWaitDuring(child.url, call(child.url, '/setImpactedTargets', body));
    printFigure({ name: `api.${name}.stall`, value: longest, unit: 'ms', goal: 500 });
    printFigure({ name: `api.${name}.memory`, value: child.memory().peak / 1e6, unit: 'MB', goal: 600 });
    await child.stop();
  }
}

async function longestWaitDuring(url: string, upload: Promise<unknown>): Promise<number> {
  let isOver = false;
  let longest = 0;
  const over = upload.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    const begun = performance.now();
    await fetch(`${url}/healthz`);
    longest = Math.max(longest, performance.now() - begun);
    await sleep(2);
  }
  await over;
  return longest;
}

/** Requests that do not read history must not become slower with more history. */
async function compareHistories(): Promise<void> {
  progress('api: 100 and 100,000 ended entries');
  const small = await createWorld({ pullRequests: LIVE, live: LIVE, ended: 100 });
  const large = await createWorld({ pullRequests: LIVE, live: LIVE, ended: 100_000 });
  const [few, many] = await Promise.all([small.start(), large.start()]);
  const ended = { ...QUEUE, pr: { number: 1_000_042 } };
  const cases: readonly Case[] = [
    read('getQueue', '/getQueue', QUEUE),
    read('getSubmittedPullRequest.ended', '/getSubmittedPullRequest', ended),
    {
      ...read('metrics', '/getMergeQueueMetrics', {}),
      requests: [{ method: 'GET', path: '/v1/getMergeQueueMetrics' }],
    },
  ];
  for (const each of cases) {
    const ours: number[] = [];
    const base: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      ours.push((await measure(each, many)).cpuMicroseconds);
      base.push((await measure(each, few)).cpuMicroseconds);
    }
    printFigure({
      name: `api.history.${each.name}`,
      value: median(ours),
      baseline: median(base),
      unit: 'µs/request',
      goal: 1.5,
    });
  }
  await Promise.all([few.stop(), many.stop()]);
  small.remove();
  large.remove();
}

function read(name: string, path: string, body: unknown): Case {
  return { name, requests: [post(path, body)], connections: 16, amount: 10_000, goal: 1.6 };
}

function post(path: string, body: unknown): Request {
  return { method: 'POST', path: `/v1${path}`, body: JSON.stringify(body) };
}
