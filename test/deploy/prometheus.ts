// The monitoring as it is shipped, on a real Prometheus: two servers on one PostgreSQL, and faults that each alert must tell.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { makeFolder, type ServerProcess, startServer, until } from '../e2e/harness.ts';
import { runSluice } from '../e2e/run-sluice.ts';
import { createSmallDisk, findMountProblem } from '../e2e/small-disk.ts';
import { createQueue, describeQueue, type TestQueue } from '../e2e/test-queue.ts';
import { collectOutput, endWithProcess } from '../helpers/children.ts';
import { ROOT, readPage } from '../helpers/doc-pages.ts';
import { listen } from '../helpers/listen.ts';
import { startOwnPostgres } from '../helpers/postgres.ts';
import { has, need, run } from './tools.ts';

/** Every duration of the rules is divided by this, and every limit of an age. Nothing else of them changes. */
const FASTER = 20;
/** Longer than a server takes for /metrics while its store hangs. */
const INTERVAL = '6s';
/** Two scrapes, two evaluations, and a machine with other work. */
const SLACK_MS = 45_000;
const METRICS_TOKEN = 'token-of-prometheus-alone';
const ADMIN_TOKEN = 'the-administrator-of-all';
const SERVICE = 'release-sluice.default.svc:80';

interface Alert {
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

export async function checkMonitoring(): Promise<string> {
  need('prometheus', "it is Debian's package prometheus.");
  const database = await startOwnPostgres();
  const world = await World.open(await database.createDatabase());
  const { prometheus, queue } = world;
  await world.land(4);
  await until('Prometheus reads both servers', SLACK_MS, async () => {
    const isRead = (await prometheus.count('up{job="sluice-server"} == 1')) === 2;
    // Before the first scrape, a server seems to be missing.
    return (isRead && (await prometheus.firing()).length === 0) || undefined;
  });
  assert.equal(await prometheus.count('up{job="sluice"}'), 1);

  await world.expect('a killed server', 2, [`SluiceServerDown ${world.names[0]}`], async () => {
    world.servers[0].child.kill('SIGKILL');
    await world.servers[0].exited;
    await world.land(2);
    return () => world.restart();
  });
  await world.expect(
    'a frozen database',
    2,
    world.names.map((name) => `SluiceNotReady ${name}`),
    async () => {
      const pids = await findProcesses(database.url);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      return async () => {
        for (const pid of pids) process.kill(pid, 'SIGCONT');
      };
    },
  );
  if (world.disk !== undefined) {
    const { disk } = world;
    const told = ['SluiceDiskFull', 'SluiceNotReady'].map((name) => `${name} ${world.names[0]}`);
    await world.expect('a full disk', 15, told, () => disk.fill());
  }
  await world.expect('ingest that is stuck', 10 + 5, ['SluiceUploadsWait all'], async () => {
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query('begin; lock table test_sequences in exclusive mode');
    await upload(world.servers[1], queue);
    return async () => {
      await client.query('rollback');
      await client.end();
    };
  });
  await world.close();
  const version = /version (\S+)/.exec(await run('prometheus', ['--version']))?.[1];
  const source = has('helm') ? 'the chart as helm renders it' : 'scrape.yml and rules.yml, for helm is not installed';
  const disk = world.disk === undefined ? ', but no full disk, which only root can make' : '';
  return `Prometheus ${version} on ${source} counts each landing once, and tells each fault by its alerts and no other${disk}.`;
}

class World {
  readonly databaseUrl: string;
  readonly disk: Awaited<ReturnType<typeof createSmallDisk>> | undefined;
  readonly servers: [ServerProcess, ServerProcess];
  /** As Prometheus names them. */
  readonly names: readonly string[];
  readonly #environments: readonly Record<string, string>[];
  prometheus: Prometheus = null as never;
  queue: TestQueue = null as never;
  landed = 0;

  private constructor(
    databaseUrl: string,
    servers: [ServerProcess, ServerProcess],
    { disk, environments }: { disk: World['disk']; environments: readonly Record<string, string>[] },
  ) {
    this.databaseUrl = databaseUrl;
    this.servers = servers;
    this.disk = disk;
    this.#environments = environments;
    this.names = servers.map(({ port }) => `127.0.0.1:${port}`);
  }

  static async open(databaseUrl: string): Promise<World> {
    const disk = (await findMountProblem()) === false ? await createSmallDisk(64) : undefined;
    const folders = [disk?.folder ?? (await makeFolder()), await makeFolder()];
    const environments = folders.map((folder) => ({
      SLUICE_DATA: folder,
      SLUICE_DATABASE_URL: databaseUrl,
      SLUICE_ADMIN_TOKEN: ADMIN_TOKEN,
      SLUICE_METRICS_TOKEN: METRICS_TOKEN,
    }));
    const servers: [ServerProcess, ServerProcess] = [
      await startServer(environments[0]),
      await startServer(environments[1]),
    ];
    const world = new World(databaseUrl, servers, { disk, environments });
    const balancer = await startBalancer(world.names);
    const { token: readToken } = await servers[0].api.withScopes('read');
    world.queue = await createQueue(servers[1].api, { requiredStatuses: [] });
    world.prometheus = await Prometheus.start(world.names, { balancer, readToken: String(readToken) });
    return world;
  }

  async restart(): Promise<void> {
    const { port } = this.servers[0];
    this.servers[0] = await startServer({ ...this.#environments[0], SLUICE_PORT: String(port) });
  }

  /** Lands pull requests through the second server, and waits until Prometheus counts each of them once. */
  async land(count: number): Promise<void> {
    const queue = describeQueue(this.queue, this.servers[1].api);
    for (let index = 0; index < count; index += 1) {
      const number = await this.queue.openPullRequest();
      await queue.submit(number);
      await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    }
    this.landed += count;
    await until(`${this.landed} landings are counted`, SLACK_MS, async () => {
      const counted = await this.prometheus.sum('sluice_pull_requests_total{conclusion="merged"}');
      assert.ok(counted <= this.landed, `${counted} landings instead of ${this.landed}`);
      return counted === this.landed || undefined;
    });
  }

  /** Makes a fault, waits for exactly these alerts for the minutes that the rules say, and mends it. */
  async expect(
    fault: string,
    minutes: number,
    alerts: readonly string[],
    make: () => Promise<() => Promise<unknown>>,
  ): Promise<void> {
    const wanted = alerts.toSorted().join();
    const untilFiring = (what: string, names: string) =>
      until(`${fault}: ${what}`, (minutes * 60_000) / FASTER + SLACK_MS, async () => {
        const firing = await this.prometheus.firing();
        const wrong = firing.filter((name) => !alerts.includes(name));
        assert.deepEqual(wrong, [], `${fault} must not fire these`);
        return firing.join() === names || undefined;
      });
    await untilFiring('nothing fires before', '');
    const startedAt = performance.now();
    const mend = await make();
    await untilFiring(`${wanted} fires`, wanted);
    const seconds = Math.round((performance.now() - startedAt) / 1_000);
    process.stdout.write(`prometheus: ${fault} fires ${wanted} after ${seconds} s.\n`);
    await mend();
    await untilFiring('nothing fires afterwards', '');
  }

  async close(): Promise<void> {
    this.prometheus.stop();
    for (const server of this.servers) await server.stop();
    await this.queue.close();
    await this.disk?.close();
  }
}

class Prometheus {
  readonly #url: string;
  readonly stop: () => void;

  private constructor(url: string, stop: () => void) {
    this.#url = url;
    this.stop = stop;
  }

  static async start(
    servers: readonly string[],
    { balancer, readToken }: { readonly balancer: string; readonly readToken: string },
  ): Promise<Prometheus> {
    const folder = await makeFolder();
    const tokens = { read: join(folder, 'read'), metrics: join(folder, 'metrics') };
    await writeFile(tokens.read, readToken);
    await writeFile(tokens.metrics, METRICS_TOKEN);
    const { rules, scrapes } = has('helm')
      ? await renderChart({ servers, balancer, tokens })
      : readShipped({ servers, balancer, tokens });
    await writeFile(join(folder, 'rules.yml'), stringify(hasten(rules)));
    const global = { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: '1s' };
    const file = join(folder, 'prometheus.yml');
    await writeFile(file, stringify({ global, rule_files: ['rules.yml'], scrape_configs: scrapes }));
    await run('promtool', ['check', 'config', file]);
    const address = new URL(await freeAddress()).host;
    const options = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, `--web.listen-address=${address}`];
    const child = spawn('prometheus', [...options, '--query.lookback-delta=15s'], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    endWithProcess(child);
    const output = collectOutput(child);
    await until('Prometheus is ready', 60_000, async () => {
      assert.equal(child.exitCode, null, output.err);
      const isReady = fetch(`http://${address}/-/ready`).then(({ ok }) => ok);
      return (await isReady.catch(() => false)) || undefined;
    });
    return new Prometheus(`http://${address}`, () => child.kill());
  }

  count(expression: string): Promise<number> {
    return this.#value(`count(${expression})`);
  }

  sum(expression: string): Promise<number> {
    return this.#value(`sum(${expression})`);
  }

  /** `Alert instance` of each alert that fires. */
  async firing(): Promise<readonly string[]> {
    const { alerts } = await this.#ask<{ alerts: readonly Alert[] }>('alerts');
    const firing = alerts.filter(({ state }) => state === 'firing');
    return firing.map(({ labels }) => `${labels['alertname']} ${labels['instance'] ?? 'all'}`).sort();
  }

  async #value(query: string): Promise<number> {
    const { result } = await this.#ask<{ result: readonly { value: readonly [number, string] }[] }>(
      `query?query=${encodeURIComponent(query)}`,
    );
    return Number(result[0]?.value[1] ?? 0);
  }

  async #ask<T>(path: string): Promise<T> {
    const answer = await fetch(`${this.#url}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { data: T; error?: string };
    assert.ok(answer.ok, error);
    return data;
  }
}

interface Place {
  readonly servers: readonly string[];
  readonly balancer: string;
  /** Files. */
  readonly tokens: { readonly read: string; readonly metrics: string };
}

/** The objects of the chart, as the operator of Prometheus turns them into a configuration. */
async function renderChart({ servers, balancer, tokens }: Place) {
  const set = [
    ...['existingSecret=sluice', `serviceMonitor.enabled=true,serviceMonitor.interval=${INTERVAL}`],
    ...['serviceMonitor.tokenSecret.name=prometheus', 'prometheusRule.enabled=true'],
  ].flatMap((value) => ['--set', value]);
  const rendered = await run('helm', [
    'template',
    'release',
    join(ROOT, 'deploy/helm/sluice'),
    '--kube-version',
    '1.31.0',
    ...set,
  ]);
  const objects = parseAllDocuments(rendered).map((document) => document.toJS());
  const ofKind = (kind: string) => objects.find((object) => object?.kind === kind)?.spec;
  const files: Record<string, string> = { token: tokens.read, SLUICE_METRICS_TOKEN: tokens.metrics };
  const scrapes = ofKind('ServiceMonitor').endpoints.map((endpoint: Endpoint, index: number) => ({
    job_name: `serviceMonitor/default/release-sluice/${index}`,
    scrape_interval: endpoint.interval,
    metrics_path: endpoint.path,
    authorization: {
      type: endpoint.authorization.type,
      credentials_file: files[endpoint.authorization.credentials.key],
    },
    static_configs: servers.map((server, pod) => ({
      targets: [server],
      labels: { namespace: 'default', service: 'release-sluice-pods', pod: `release-sluice-${pod}`, endpoint: 'http' },
    })),
    relabel_configs: endpoint.relabelings.map(({ targetLabel, replacement, ...rest }) => ({
      ...rest,
      ...(targetLabel === undefined ? {} : { target_label: targetLabel }),
      ...(replacement === undefined ? {} : { replacement: replacement === SERVICE ? balancer : replacement }),
    })),
  }));
  assert.equal(JSON.stringify(scrapes).split(balancer).length, 2, 'the queues are read through the service');
  return { rules: ofKind('PrometheusRule') as Rules, scrapes };
}

interface Endpoint {
  readonly interval: string;
  readonly path: string;
  readonly authorization: { readonly type: string; readonly credentials: { readonly key: string } };
  readonly relabelings: readonly { readonly targetLabel?: string; readonly replacement?: string }[];
}

/** The files for a Prometheus without Kubernetes, at the addresses of this machine. */
function readShipped({ servers, balancer, tokens }: Place) {
  const { scrape_configs } = parse(readPage('deploy/prometheus/scrape.yml'));
  const scrapes = scrape_configs.map((config: { job_name: string }) => {
    const isOfQueues = config.job_name === 'sluice';
    return {
      ...config,
      scheme: 'http',
      authorization: { credentials_file: isOfQueues ? tokens.read : tokens.metrics },
      static_configs: [{ targets: isOfQueues ? [balancer] : servers }],
    };
  });
  return { rules: parse(readPage('deploy/prometheus/rules.yml')) as Rules, scrapes };
}

interface Rules {
  readonly groups: readonly {
    readonly name: string;
    readonly rules: readonly { readonly expr: string; readonly for?: string }[];
  }[];
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };

function hasten({ groups }: Rules): Rules {
  const shorter = (given: string) =>
    given.replace(
      /^(\d+)([smhd])$/,
      (_, count, unit) => `${(Number(count) * (SECONDS[unit] ?? 1) * 1_000) / FASTER}ms`,
    );
  const rules = groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({
      ...rule,
      ...(rule.for === undefined ? {} : { for: shorter(rule.for) }),
      expr: rule.expr
        .replaceAll(/(\[|offset )(\d+[smhd])/g, (_, before, duration) => `${before}${shorter(duration)}`)
        .replaceAll(/(_(?:oldest|oldest_due|age)_seconds\)?) > ([\d* ]+)/g, `$1 > ($2) / ${FASTER}`),
    })),
  }));
  return { groups: rules };
}

/** As a service of Kubernetes, or a load balancer: each connection goes to the first server that is ready. */
async function startBalancer(servers: readonly string[]): Promise<string> {
  const server = createServer((client) => {
    client.on('error', () => {});
    client.pause();
    void findReady(servers).then((name) => {
      if (name === undefined) {
        client.destroy();
        return;
      }
      const upstream = connect(Number(name.split(':')[1]), '127.0.0.1');
      upstream.on('error', () => client.destroy()).on('close', () => client.destroy());
      client.on('close', () => upstream.destroy());
      client.pipe(upstream).pipe(client);
    });
  });
  server.unref();
  return new URL(await listen(server)).host;
}

async function findReady(servers: readonly string[]): Promise<string | undefined> {
  for (const name of servers) {
    const isReady = await fetch(`http://${name}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) return name;
  }
  return undefined;
}

async function freeAddress(): Promise<string> {
  const server = createServer();
  const address = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return address;
}

/** The processes of a PostgreSQL by its socket. */
async function findProcesses(url: string): Promise<readonly number[]> {
  const folder = new URL(url).searchParams.get('host');
  const [postmaster = ''] = (await readFile(`${folder}/data/postmaster.pid`, 'utf8')).split('\n');
  const children = (await run('pgrep', ['--parent', postmaster])).trim().split('\n');
  return [postmaster, ...children].map(Number);
}

async function upload(server: ServerProcess, queue: TestQueue): Promise<void> {
  const folder = await makeFolder();
  await writeFile(join(folder, 'junit.xml'), '<testsuite name="s"><testcase name="a" classname="b"/></testsuite>');
  const place = ['--repo', queue.name, '--sha', 'a'.repeat(40), '--branch', 'main', '--org', 'default'];
  const { code, err } = await runSluice(['upload', 'junit.xml', ...place, '--exit-code', '0'], server.env, folder)
    .ended;
  assert.equal(code, 0, err);
}
