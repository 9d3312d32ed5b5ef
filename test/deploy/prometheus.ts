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
import { createQueue, type TestQueue } from '../e2e/test-queue.ts';
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
  const world = await openWorld(await database.createDatabase());
  const { prometheus, names, servers, disk } = world;
  const [first = ''] = names;
  await world.land(4);
  await until('Prometheus reads both servers', SLACK_MS, async () => {
    const isRead = (await prometheus.ask('count(up{job="sluice-server"} == 1)')) === 2;
    // Before the first scrape, a server seems to be missing.
    return (isRead && (await prometheus.listFiring()).length === 0) || undefined;
  });
  assert.equal(await prometheus.ask('count(up{job="sluice"})'), 1);

  const killed = { fault: 'a killed server', minutes: 2, alerts: [`SluiceServerDown ${first}`] };
  await expectAlerts(world, killed, async () => {
    servers[0].child.kill('SIGKILL');
    await servers[0].exited;
    await world.land(2);
    return () => world.restart();
  });
  const frozen = { fault: 'a frozen database', minutes: 2, alerts: names.map((name) => `SluiceNotReady ${name}`) };
  await expectAlerts(world, frozen, async () => {
    const pids = await findProcesses(database.url);
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    return async () => pids.map((pid) => process.kill(pid, 'SIGCONT'));
  });
  const full = ['SluiceDiskFull', 'SluiceNotReady'].map((name) => `${name} ${first}`);
  if (disk !== undefined) {
    await expectAlerts(world, { fault: 'a full disk', minutes: 15, alerts: full }, () => disk.fill());
  }
  const stuck = { fault: 'ingest that is stuck', minutes: 10 + 5, alerts: ['SluiceUploadsWait all'] };
  await expectAlerts(world, stuck, async () => {
    const client = new pg.Client({ connectionString: world.databaseUrl });
    await client.connect();
    await client.query('begin; lock table test_sequences in exclusive mode');
    await upload(servers[1], world.queue);
    return () => client.end();
  });
  await world.close();
  const version = /version (\S+)/.exec(await run('prometheus', ['--version']))?.[1];
  const source = has('helm') ? 'the chart as helm renders it' : 'scrape.yml and rules.yml, for helm is not installed';
  const but = disk === undefined ? ', but no full disk, which only root can make' : '';
  return `Prometheus ${version} on ${source} counts each landing once, and tells each fault by its alerts and no other${but}.`;
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openWorld(databaseUrl: string) {
  const disk = (await findMountProblem()) === false ? await createSmallDisk(64) : undefined;
  const tokens = { SLUICE_ADMIN_TOKEN: ADMIN_TOKEN, SLUICE_METRICS_TOKEN: METRICS_TOKEN };
  const start = (folder: string, more = {}) =>
    startServer({ ...tokens, SLUICE_DATABASE_URL: databaseUrl, SLUICE_DATA: folder, ...more });
  const servers: [ServerProcess, ServerProcess] = [
    await start(disk?.folder ?? (await makeFolder())),
    await start(await makeFolder()),
  ];
  /** As Prometheus names them. */
  const names = servers.map(({ port }) => `127.0.0.1:${port}`);
  const { token: readToken = '' } = await servers[0].api.withScopes('read');
  // Only the second one runs all the time.
  const queue = await createQueue(servers[1].api, { requiredStatuses: [] });
  const prometheus = await startPrometheus(names, { balancer: await startBalancer(names), readToken });
  let landed = 0;
  return {
    ...{ databaseUrl, disk, servers, names, queue, prometheus },
    restart: async () => {
      servers[0] = await start(servers[0].dataFolder, { SLUICE_PORT: String(servers[0].port) });
    },
    /** Waits until Prometheus counts each landing, and none twice. */
    land: async (count: number) => {
      for (const number of await queue.submitAll(count)) {
        await queue.untilEntry(number, ({ state }) => state === 'MERGED');
      }
      landed += count;
      await until(`${landed} landings are counted`, SLACK_MS, async () => {
        const counted = await prometheus.ask('sum(sluice_pull_requests_total{conclusion="merged"})');
        assert.ok(counted <= landed, `${counted} landings instead of ${landed}`);
        return counted === landed || undefined;
      });
    },
    close: async () => {
      prometheus.stop();
      for (const server of servers) await server.stop();
      await queue.close();
      await disk?.close();
    },
  };
}

/** Makes a fault, waits for exactly these alerts for the minutes that the rules say, and mends it. */
async function expectAlerts(
  { prometheus }: World,
  { fault, minutes, alerts }: { readonly fault: string; readonly minutes: number; readonly alerts: readonly string[] },
  make: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  const wanted = alerts.toSorted().join();
  const untilFiring = (names: string) =>
    until(`${fault} fires ${names || 'nothing'}`, (minutes * 60_000) / FASTER + SLACK_MS, async () => {
      const firing = await prometheus.listFiring();
      assert.deepEqual(
        firing.filter((name) => !alerts.includes(name)),
        [],
        `${fault} must not fire these`,
      );
      return firing.join() === names || undefined;
    });
  await untilFiring('');
  const startedAt = performance.now();
  const mend = await make();
  await untilFiring(wanted);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  process.stdout.write(`prometheus: ${fault} fires ${wanted} after ${seconds} s.\n`);
  await mend();
  await untilFiring('');
}

async function startPrometheus(
  servers: readonly string[],
  { balancer, readToken }: { readonly balancer: string; readonly readToken: string },
) {
  const folder = await makeFolder();
  const tokens = { read: join(folder, 'read'), metrics: join(folder, 'metrics') };
  await writeFile(tokens.read, readToken);
  await writeFile(tokens.metrics, METRICS_TOKEN);
  const place = { servers, balancer, tokens };
  const { rules, scrapes } = has('helm') ? await renderChart(place) : readShipped(place);
  await writeFile(join(folder, 'rules.yml'), stringify(hasten(rules)));
  const global = { scrape_interval: INTERVAL, scrape_timeout: INTERVAL, evaluation_interval: '1s' };
  const file = join(folder, 'prometheus.yml');
  await writeFile(file, stringify({ global, rule_files: ['rules.yml'], scrape_configs: scrapes }));
  await run('promtool', ['check', 'config', file]);
  const url = await freeAddress();
  const options = [`--config.file=${file}`, `--storage.tsdb.path=${folder}/data`, '--query.lookback-delta=15s'];
  const child = spawn('prometheus', [...options, `--web.listen-address=${new URL(url).host}`]);
  endWithProcess(child);
  const output = collectOutput(child);
  const get = async (path: string) => (await (await fetch(`${url}/api/v1/${path}`)).json()).data;
  await until('Prometheus is ready', 60_000, async () => {
    assert.equal(child.exitCode, null, output.err);
    return get('alerts').catch(() => undefined);
  });
  return {
    stop: () => child.kill(),
    /** The value of a query; 0 if it has none. */
    ask: async (query: string) =>
      Number((await get(`query?query=${encodeURIComponent(query)}`)).result[0]?.value[1] ?? 0),
    /** `Alert instance` of each alert that fires. */
    listFiring: async (): Promise<readonly string[]> => {
      const { alerts }: { alerts: readonly Alert[] } = await get('alerts');
      const firing = alerts.filter(({ state }) => state === 'firing');
      return firing.map(({ labels }) => `${labels['alertname']} ${labels['instance'] ?? 'all'}`).sort();
    },
  };
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
  return new URL(await listen(server.unref())).host;
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
