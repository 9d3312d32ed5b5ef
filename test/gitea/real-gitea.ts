import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { endWithProcess } from '../helpers/children.ts';
import { listen } from '../helpers/listen.ts';

const run = promisify(execFile);

/** Far more than a start takes on a busy machine. */
const START_MS = 120_000;

export interface RealGiteaOptions {
  /** The program. Its static files are in the folder `root` beside it. */
  readonly binary: string;
  /** Default: a temporary folder that `close` removes. */
  readonly folder?: string;
  readonly port?: number;
}

/** A Gitea of this machine, as a process. */
export class RealGitea {
  readonly url: string;
  /** Of the account `root`, which administrates the server. */
  token = '';
  readonly #binary: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  private constructor(binary: string, folder: string, url: string) {
    this.#binary = binary;
    this.#folder = folder;
    this.url = url;
  }

  static async start({ binary, folder, port }: RealGiteaOptions): Promise<RealGitea> {
    const home = folder ?? (await mkdtemp(join(tmpdir(), 'sluice-gitea-')));
    const gitea = new RealGitea(binary, home, port === undefined ? await findFreeUrl() : `http://127.0.0.1:${port}`);
    await gitea.#install();
    await gitea.restart();
    return gitea;
  }

  /** The bare repository on disk. */
  gitDirOf(fullName: string): string {
    return join(this.#folder, 'repositories', `${fullName.toLowerCase()}.git`);
  }

  /** Starts it again with the same data at the same address. */
  async restart(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a');
    const child = spawn(this.#binary, this.#args(['web']), { env: this.#env(), stdio: ['ignore', log, log] });
    endWithProcess(child);
    this.#child = child;
    await this.#untilHealthy(child);
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM');
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async close(): Promise<void> {
    await this.kill();
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  async #install(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await writeFile(this.#configFile, configure(this.#folder, this.url, join(dirname(this.#binary), 'root')));
    await this.#run(['migrate']);
    const person = ['--username', 'root', '--password', 'a password', '--email', 'root@example.test', '--admin'];
    await this.#run(['admin', 'user', 'create', ...person, '--must-change-password=false']);
    const scopes = ['--username', 'root', '--token-name', 'admin', '--scopes', 'all', '--raw'];
    // A warning about the root user stands before it.
    const said = await this.#run(['admin', 'user', 'generate-access-token', ...scopes]);
    this.token = said.trim().split('\n').at(-1) ?? '';
  }

  get #configFile(): string {
    return join(this.#folder, 'app.ini');
  }

  #args(command: readonly string[]): string[] {
    return ['--config', this.#configFile, '--work-path', this.#folder, ...command];
  }

  #env(): Record<string, string> {
    return { PATH: process.env['PATH'] ?? '', HOME: this.#folder, GITEA_WORK_DIR: this.#folder };
  }

  async #run(command: readonly string[]): Promise<string> {
    const options = { env: this.#env(), maxBuffer: 2 ** 24 };
    return (await run(this.#binary, this.#args(command), options)).stdout;
  }

  async #untilHealthy(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + START_MS;
    for (;;) {
      if (child.exitCode !== null) throw new Error(`Gitea ended. Its log is in ${this.#folder}.`);
      const answer = await fetch(`${this.url}/api/healthz`).catch(() => undefined);
      await answer?.arrayBuffer();
      if (answer?.ok) return;
      if (Date.now() > deadline) throw new Error(`Gitea did not start. Its log is in ${this.#folder}.`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  }
}

async function findFreeUrl(): Promise<string> {
  const server = createServer();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}

function configure(folder: string, url: string, root: string): string {
  const isRoot = process.getuid?.() === 0;
  return `
APP_NAME = Gitea
RUN_MODE = prod
WORK_PATH = ${folder}
${isRoot ? 'I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true' : ''}

[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${new URL(url).port}
ROOT_URL = ${url}/
STATIC_ROOT_PATH = ${root}
DISABLE_SSH = true
OFFLINE_MODE = true

[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'gitea.db')}

[repository]
ROOT = ${join(folder, 'repositories')}
DEFAULT_BRANCH = main

[security]
INSTALL_LOCK = true
PASSWORD_HASH_ALGO = pbkdf2$1$50

[service]
DISABLE_REGISTRATION = true

[webhook]
ALLOWED_HOST_LIST = loopback

[indexer]
ISSUE_INDEXER_TYPE = db

[log]
LEVEL = Warn

[actions]
ENABLED = false
`;
}
