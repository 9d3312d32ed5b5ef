import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createPlainWorld } from '../contract/plain-repository.ts';
import { type Client, createClient, makeFolder, until } from '../e2e/harness.ts';
import { collectOutput, endWithProcess } from '../helpers/children.ts';
import { ROOT } from '../helpers/doc-pages.ts';
import { createEmptyDatabase } from '../helpers/postgres.ts';
import { need, run, Skipped } from './tools.ts';

const IMAGE = 'localhost/sluice-check';
const BASE = 'localhost/sluice-check-base';
const PUBLIC_BASE = 'docker.io/library/node:24-bookworm-slim';
const TOKEN = 'container-admin-token-of-a-test';
const PULL_REQUESTS = 8;
const KILLS = 6;
const UID = '10001';

export async function checkContainer(): Promise<string> {
  need('buildah', 'it builds images without a daemon.');
  if (process.getuid?.() !== 0) throw new Skipped('Only root may build and run an image without a daemon here.');
  const base = process.env['SLUICE_BASE_IMAGE'] ?? (await ensureBase());
  const build = [
    'build',
    '--isolation=chroot',
    '--network=host',
    '--format=docker',
    '--build-arg',
    `BASE_IMAGE=${base}`,
  ];
  await run('buildah', [...build, '--file', 'deploy/container/Containerfile', '--tag', IMAGE, '.'], { cwd: ROOT });
  const container = (await run('buildah', ['from', '--name', 'sluice-check', IMAGE])).trim();
  try {
    const root = (await run('buildah', ['mount', container])).trim();
    const image = new Image(root, await readConfig());
    return `Built on ${base}. ${await playAlone(image)} ${await playTogether(image)}`;
  } finally {
    await run('buildah', ['rm', container]);
  }
}

/** A public image if there is a registry; otherwise Debian, with the Node and the npm of this machine. */
async function ensureBase(): Promise<string> {
  const pulled = await run('buildah', ['pull', '--quiet', PUBLIC_BASE], { timeout: 60_000 }).catch(() => undefined);
  if (pulled !== undefined) return PUBLIC_BASE;
  if (await run('buildah', ['inspect', '--type=image', BASE]).catch(() => undefined)) return BASE;
  need('mmdebstrap', `no registry answers, and it would make a base without one. Or set SLUICE_BASE_IMAGE.`);
  const tar = join(await makeFolder(), 'base.tar');
  await run('mmdebstrap', ['--variant=minbase', '--include=ca-certificates', 'bookworm', tar]);
  const container = (await run('buildah', ['from', 'scratch'])).trim();
  const npm = (await run('npm', ['root', '--global'])).trim();
  await run('buildah', ['add', container, tar, '/']);
  await run('buildah', ['copy', '--chmod=755', container, process.execPath, '/usr/local/bin/node']);
  await run('buildah', ['copy', container, join(npm, 'npm'), '/usr/local/lib/node_modules/npm']);
  const link = 'ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm';
  await run('buildah', ['run', '--isolation=chroot', container, '--', 'sh', '-c', link]);
  const authority = process.env['NODE_EXTRA_CA_CERTS'];
  if (authority !== undefined) {
    await run('buildah', ['copy', container, authority, '/etc/ssl/extra.pem']);
    const names = ['NODE_EXTRA_CA_CERTS', 'npm_config_cafile'];
    await run('buildah', ['config', ...names.map((name) => `--env=${name}=/etc/ssl/extra.pem`), container]);
  }
  await run('buildah', ['commit', '--quiet', '--rm', container, BASE]);
  return BASE;
}

interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly StopSignal: NodeJS.Signals;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

async function readConfig(): Promise<ImageConfig> {
  const { Docker } = JSON.parse(await run('buildah', ['inspect', '--type=image', IMAGE]));
  return Docker.config;
}

/**
 * Runs as a container engine does: processes and mounts of its own, a read-only root, a volume, no capability and no way
 * to get one. Engines also limit system calls and the network, which is left out here.
 */
const ENTER = `set -e
root=$1; volume=$2; shared=$3; database=$4; shift 4
mount --make-rprivate /
mount --bind "$root" "$root"; mount -o remount,bind,ro "$root"
mount --bind "$volume" "$root/data"
mount --bind "$shared" "$root/srv"
mount --bind "$database" "$root/mnt"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
exec chroot "$root" setpriv --no-new-privs --bounding-set=-all --inh-caps=-all --reuid=${UID} --regid=${UID} --clear-groups -- env -i "$@"`;

interface Running {
  readonly child: ChildProcess;
  readonly output: { readonly out: string; readonly err: string };
  readonly exited: Promise<number | null>;
  /** The first process of the container, as this machine numbers it. */
  pid(): Promise<number>;
}

class Image {
  readonly #root: string;
  readonly config: ImageConfig;

  constructor(root: string, config: ImageConfig) {
    this.#root = root;
    this.config = config;
  }

  start({ volume, shared, database }: Volumes, env: readonly string[]): Running {
    const { Env, Entrypoint, Cmd } = this.config;
    const command = [this.#root, volume, shared, database ?? shared, ...Env, ...env, ...Entrypoint, ...Cmd];
    const args = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', ENTER, 'sh', ...command];
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'pipe'] });
    endWithProcess(child);
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const pid = async () => Number((await run('pgrep', ['--parent', String(child.pid)])).trim());
    return { child, output: collectOutput(child), exited, pid };
  }

  /** In a running container, as its user. */
  async exec(pid: number, command: readonly string[], env: readonly string[]): Promise<string> {
    const inside = [
      '--target',
      String(pid),
      '--mount',
      '--pid',
      '--',
      'chroot',
      `--userspec=${UID}:${UID}`,
      this.#root,
    ];
    return run('nsenter', [...inside, 'env', '-i', ...this.config.Env, ...env, ...command]);
  }
}

interface Volumes {
  /** The data of the server. */
  readonly volume: string;
  /** The repository. */
  readonly shared: string;
  /** The socket of PostgreSQL. */
  readonly database?: string;
}

/** A container that is started again after each kill. */
class Server {
  readonly #image: Image;
  readonly #volumes: Volumes;
  readonly #port: number;
  readonly env: readonly string[];
  running: Running | undefined;

  constructor(image: Image, volumes: Volumes, port: number, more: readonly string[] = []) {
    this.#image = image;
    this.#volumes = volumes;
    this.#port = port;
    this.env = [`SLUICE_PORT=${port}`, `SLUICE_ADMIN_TOKEN=${TOKEN}`, 'SLUICE_RUNNER_PROTECTION=none', ...more];
  }

  get api(): Client {
    return createClient({ url: `http://127.0.0.1:${this.#port}/v1`, token: TOKEN });
  }

  async start(): Promise<Running> {
    const running = this.#image.start(this.#volumes, this.env);
    this.running = running;
    await until('the container is ready', 60_000, async () => {
      assert.equal(running.child.exitCode, null, running.output.err);
      const isReady = fetch(`http://127.0.0.1:${this.#port}/readyz`).then(({ ok }) => ok);
      return (await isReady.catch(() => false)) || undefined;
    });
    return running;
  }

  /** Returns the exit code. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const { running } = this;
    assert.ok(running);
    process.kill(await running.pid(), signal);
    return running.exited;
  }
}

const PORT = 20_000 + (process.pid % 10_000);

async function playAlone(image: Image): Promise<string> {
  const { User, Healthcheck, StopSignal } = image.config;
  assert.equal(User, `${UID}:${UID}`);
  const shared = await makeShared();
  const server = new Server(image, { volume: await makeVolume(), shared }, PORT);
  const pid = await (await server.start()).pid();
  await image.exec(pid, Healthcheck.Test.slice(1), server.env);
  await assert.rejects(image.exec(pid, ['touch', '/usr/written'], server.env), /Read-only file system/);
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  assert.match(status, /Uid:\s+10001\s[\s\S]*CapEff:\s+0{16}[\s\S]*NoNewPrivs:\s+1/);
  await landAll([server], shared, StopSignal);
  return `It runs on a read-only root as ${User} without capabilities; ${PULL_REQUESTS} pull requests landed once each, although it was killed ${KILLS} times; ${StopSignal} ends it with 0.`;
}

/** As the chart runs them: two servers that begin on an empty database at once. */
async function playTogether(image: Image): Promise<string> {
  const { searchParams, pathname } = new URL((await createEmptyDatabase()).replace('postgres:', 'http:'));
  const database = searchParams.get('host') ?? assert.fail('PostgreSQL has no socket');
  await chmod(database, 0o755);
  const url = `SLUICE_DATABASE_URL=postgres://postgres@localhost${pathname}?host=/mnt`;
  const shared = await makeShared();
  const places = await Promise.all([PORT, PORT + 1].map(async (port) => ({ port, volume: await makeVolume() })));
  const servers = places.map(({ port, volume }) => new Server(image, { volume, shared, database }, port, [url]));
  await Promise.all(servers.map((server) => server.start()));
  await landAll(servers, shared, image.config.StopSignal);
  return `Two on one PostgreSQL landed as many, while they were killed in turn.`;
}

async function landAll(servers: readonly Server[], shared: string, stop: NodeJS.Signals): Promise<void> {
  const [first] = servers;
  assert.ok(first);
  await submitAll(first.api);
  for (let kill = 0; kill < KILLS; kill += 1) {
    // Each at another moment of building, testing and landing.
    await setTimeout(300 + 170 * kill);
    const server = servers[kill % servers.length] as Server;
    await server.end('SIGKILL');
    await server.start();
  }
  await untilLanded(first.api);
  for (const server of servers) assert.equal(await server.end(stop), 0, server.running?.output.err);
  await checkHistory(join(shared, 'app.git'));
}

async function makeVolume(): Promise<string> {
  const volume = await makeFolder();
  await run('chown', [`${UID}:${UID}`, volume]);
  return volume;
}

async function makeShared(): Promise<string> {
  const shared = await makeFolder();
  const git = await createPlainWorld();
  await git.commit('main', { files: { 'a.txt': 'a\n' }, message: 'Begin' });
  for (let number = 1; number <= PULL_REQUESTS; number += 1) {
    const change = { files: { [`${number}.txt`]: 'x\n' }, message: `Change ${number}`, author: 'Grace' };
    await git.openPullRequest('main', change);
  }
  await cp(git.path, join(shared, 'app.git'), { recursive: true });
  await git.close();
  await run('chown', ['--recursive', `${UID}:${UID}`, shared]);
  return shared;
}

const REF = { repo: { host: 'local', owner: 'acme', name: 'app' }, targetBranch: 'main' };

async function submitAll(api: Client): Promise<void> {
  const checks = [{ name: 'test', command: 'sleep 0.4' }];
  await api.ok('registerRepository', { repo: REF.repo, git: '/srv/app.git', checks, trustChecks: true });
  await api.ok('createQueue', { ...REF, concurrency: 2 });
  for (let number = 1; number <= PULL_REQUESTS; number += 1)
    await api.ok('submitPullRequest', { ...REF, pr: { number } });
}

async function untilLanded(api: Client): Promise<void> {
  for (let number = 1; number <= PULL_REQUESTS; number += 1) {
    await until(`#${number} has landed`, 120_000, async () => {
      const { state } = await api.ok<{ state: string }>('getSubmittedPullRequest', { ...REF, pr: { number } });
      return state === 'MERGED' ? true : undefined;
    });
  }
}

async function checkHistory(path: string): Promise<void> {
  const git = (...args: string[]) => run('git', ['-c', `safe.directory=${path}`, '-C', path, ...args]);
  await git('fsck', '--no-progress');
  const subjects = (await git('log', '--format=%s', 'main')).trim().split('\n');
  const expected = ['Begin', ...Array.from({ length: PULL_REQUESTS }, (_, index) => `Change ${index + 1}`)];
  assert.deepEqual(subjects.map((subject) => subject.replace(/ \(#\d+\)$/, '')).sort(), expected);
}
