import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { countCommits, countWrites, startPostgres } from '../test/helpers/postgres.ts';
import { type Child, cpuSecondsOf } from './lib/child.ts';
import { median, printFigure, progress } from './lib/figure.ts';
import { load, type Request } from './lib/load.ts';
import { call, createRepository, REPO, startSluice } from './lib/world.ts';

const ROUNDS = 7;
/** The compiler needs some thousand requests in each server to optimize everything. */
const WARM_UP = 6_000;
const QUEUES = 8;
const PULL_REQUESTS = 256;
const PRIORITIES = 16;
const CONNECTIONS = 64;
const AMOUNT = 2_000;
/** A server and the database each need a core, and so does the client. */
const ENOUGH_CORES = 6;
/** The daily housekeeping comes a minute after the start. */
const SETTLING_MS = 75_000;

interface Setting {
  readonly name: string;
  readonly servers: number;
  readonly requests: readonly Request[];
  /** At least this part of the rate of one server, or at most this many times its CPU time. */
  readonly rateGoal?: number;
  readonly cpuGoal?: number;
}

interface Round {
  readonly rate: number;
  readonly cpu: number;
}

/** Submissions to one queue, and to eight, through one, two and four servers that share a database. */
export async function run([question]: readonly string[] = []): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'));
  try {
    if (question === undefined || question === 'one-queue') await compare('one-queue', oneQueue(), folder);
    if (question === undefined || question === 'eight-queues') await compare('eight-queues', eightQueues(), folder);
    if (question === undefined || question === 'idle') await measureIdle(path.join(folder, 'idle'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function oneQueue(): readonly Setting[] {
  const requests = submissions(1);
  return [
    { name: 'one', servers: 1, requests },
    { name: 'two', servers: 2, requests, rateGoal: 0.8 },
    { name: 'four', servers: 4, requests, rateGoal: 0.4 },
  ];
}

function eightQueues(): readonly Setting[] {
  const requests = submissions(QUEUES);
  const goal = availableParallelism() >= ENOUGH_CORES ? { rateGoal: 1.6 } : { cpuGoal: 1.15 };
  return [
    { name: 'one', servers: 1, requests },
    { name: 'two', servers: 2, requests, ...goal },
  ];
}

/** The settings of one question take turns, so that other work of the machine hits all of them alike. */
async function compare(name: string, settings: readonly Setting[], folder: string): Promise<void> {
  progress(`scale: ${name}, ${ROUNDS} rounds of ${AMOUNT} submissions each`);
  const clusters = new Map<Setting, Cluster>();
  for (const setting of settings) clusters.set(setting, await startCluster(setting, path.join(folder, name)));
  const rounds = new Map<Setting, Round[]>(settings.map((setting) => [setting, []]));
  for (const setting of settings) {
    await send(setting, clusters.get(setting) as Cluster, WARM_UP * setting.servers);
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const setting of round % 2 === 0 ? settings : settings.toReversed()) {
      const measured = await measureRound(setting, clusters.get(setting) as Cluster);
      rounds.get(setting)?.push(measured);
    }
  }
  await Promise.all([...clusters.values()].flatMap(({ servers }) => servers.map((server) => server.stop())));
  const of = (setting: Setting, key: keyof Round) => median((rounds.get(setting) ?? []).map((each) => each[key]));
  const [one, ...more] = settings as [Setting, ...Setting[]];
  for (const setting of more) {
    const figure = `scale.${name}.${setting.name}-servers`;
    const rate = { value: of(setting, 'rate'), baseline: of(one, 'rate'), floor: setting.rateGoal };
    printFigure({ name: `${figure}.rate`, unit: 'submissions/s', ...rate });
    const cpu = { value: of(setting, 'cpu'), baseline: of(one, 'cpu'), goal: setting.cpuGoal };
    printFigure({ name: `${figure}.cpu`, unit: 'µs/submission', ...cpu });
  }
}

/** Servers with empty queues ask little of their database: counted over a minute. */
async function measureIdle(folder: string): Promise<void> {
  for (const [name, servers] of [
    ['one', 1],
    ['two', 2],
  ] as const) {
    progress(`scale: idle, ${name}, a minute`);
    const cluster = await startCluster({ name, servers, requests: [] }, folder);
    await sleep(SETTLING_MS);
    const rowsBefore = await countWrites(cluster.url);
    const before = await countCommits(cluster.url);
    await sleep(60_000);
    const commits = (await countCommits(cluster.url)) - before;
    const rows = (await countWrites(cluster.url)) - rowsBefore;
    await Promise.all(cluster.servers.map((server) => server.stop()));
    const figure = `scale.idle.${name}-server${servers === 1 ? '' : 's'}`;
    printFigure({ name: `${figure}.commits`, unit: 'commits/min', value: commits, goal: 120 * servers });
    printFigure({ name: `${figure}.rows`, unit: 'rows written', value: rows, goal: 0 });
  }
}

/** CPU time is that of servers and database. */
async function measureRound(setting: Setting, cluster: Cluster): Promise<Round> {
  const { servers, postmaster } = cluster;
  const cpu = async () => {
    const own = await Promise.all(servers.map((server) => server.cpuMicroseconds()));
    return own.reduce((sum, each) => sum + each, cpuSecondsOf(postmaster) * 1e6);
  };
  const [before, begun] = [await cpu(), performance.now()];
  await send(setting, cluster, AMOUNT);
  const seconds = (performance.now() - begun) / 1_000;
  return { rate: AMOUNT / seconds, cpu: ((await cpu()) - before) / AMOUNT };
}

/** As many connections and submissions in all, spread over the servers. */
async function send(setting: Setting, { servers }: Cluster, amount: number): Promise<void> {
  await Promise.all(
    servers.map(({ url }, index) =>
      load(url, {
        requests: rotate(setting.requests, index),
        isDivided: true,
        connections: CONNECTIONS / servers.length,
        amount: amount / servers.length,
      }),
    ),
  );
}

/** The clients of two servers submit different pull requests at any time. */
function rotate<T>(items: readonly T[], by: number): readonly T[] {
  return [...items.slice(by), ...items.slice(0, by)];
}

/**
 * A pull request comes up with another priority each time: a submission that changes nothing is not stored. The order
 * is mixed, or all connections would go from queue to queue together.
 */
function submissions(queues: number): readonly Request[] {
  const mixed = Array.from({ length: PULL_REQUESTS * PRIORITIES }, (_, index) => index).toSorted(
    (a, b) => mix(a) - mix(b),
  );
  return mixed.map((index) => {
    const pr = { number: (index % PULL_REQUESTS) + 1 };
    const body = { repo: REPO, targetBranch: branchOf(index % queues), pr, priority: index % 200 };
    return { method: 'POST', path: '/v1/submitPullRequest', body: JSON.stringify(body) };
  });
}

function mix(index: number): number {
  return Number.parseInt(hash('sha1', `${index}`).slice(0, 12), 16);
}

function branchOf(queue: number): string {
  return queue === 0 ? 'main' : `release-${queue}`;
}

interface Cluster {
  readonly servers: readonly Child[];
  readonly url: string;
  /** The main process of the database. */
  readonly postmaster: number;
}

/** Servers on a database of their own, with the queues. */
async function startCluster({ name, servers: count }: Setting, parent: string): Promise<Cluster> {
  const folder = path.join(parent, name);
  const url = await (await startPostgres()).createDatabase();
  mkdirSync(folder, { recursive: true });
  const servers = await Promise.all(
    Array.from({ length: count }, (_, index) => {
      const environment = { SLUICE_DATABASE_URL: url };
      return startSluice(path.join(folder, `data-${index}`), environment);
    }),
  );
  const [first] = servers as [Child];
  await createQueues(first.url, createRepository(path.join(folder, 'app.git'), PULL_REQUESTS));
  return { servers, url, postmaster: postmasterOf(url) };
}

/** The main process of the test PostgreSQL that this URL leads to. */
function postmasterOf(url: string): number {
  const folder = new URL(url).searchParams.get('host');
  return Number(readFileSync(`${folder}/data/postmaster.pid`, 'utf8').split('\n')[0]);
}

async function createQueues(url: string, git: string): Promise<void> {
  await call(url, '/registerRepository', { repo: REPO, git });
  for (let queue = 0; queue < QUEUES; queue++) {
    const targetBranch = branchOf(queue);
    if (queue > 0) execFileSync('git', ['-C', git, 'branch', '--quiet', targetBranch, 'main']);
    // This check is never reported, so that nothing leaves the queue.
    await call(url, '/createQueue', { repo: REPO, targetBranch, requiredStatuses: ['unit'] });
  }
}
