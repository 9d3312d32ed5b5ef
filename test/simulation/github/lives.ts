import { createServer as createHttpServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Authenticator } from '../../../src/app/access/authenticate.ts';
import type { App } from '../../../src/app/core/app.ts';
import { Backups } from '../../../src/app/core/backups.ts';
import { Directory } from '../../../src/app/core/directory.ts';
import { Feed } from '../../../src/app/core/feed.ts';
import { Outages } from '../../../src/app/core/outages.ts';
import { QueueHost } from '../../../src/app/core/queue-host.ts';
import { StorePoller } from '../../../src/app/core/store-poller.ts';
import { WakeSignal } from '../../../src/app/core/wake-signal.ts';
import { createEffectWorker } from '../../../src/app/effects/effect-worker.ts';
import { createForgePoller } from '../../../src/app/forge-events/forge-poller.ts';
import { createHintWatch, createHintWorker } from '../../../src/app/forge-events/hint-worker.ts';
import { PlainGitPoller } from '../../../src/app/forge-events/plain-git-poller.ts';
import { createAudit } from '../../../src/app/upkeep/audit.ts';
import { createSweep } from '../../../src/app/upkeep/sweep-refs.ts';
import { Timers } from '../../../src/app/upkeep/timers.ts';
import { githubConnection } from '../../../src/forge/github/api/connection.ts';
import { createGithubForge, type GithubForge } from '../../../src/forge/github/create-github-forge.ts';
import { createServer } from '../../../src/http/server.ts';
import type { Timing } from '../../../src/lib/clock.ts';
import type { Log } from '../../../src/lib/log.ts';
import type { Prng } from '../../../src/lib/prng.ts';
import type { Store } from '../../../src/storage/store.ts';
import { NO_SIGNALS } from '../../../src/storage/waiting.ts';
import type { FakeGithub } from '../../fake/github/fake-github.ts';
import { noIngest } from '../../fake/no-ingest.ts';
import { noJobs } from '../../fake/no-jobs.ts';
import { listen } from '../../helpers/listen.ts';
import { localLanes } from '../../helpers/local-lanes.ts';
import { localSimulator } from '../../helpers/local-simulator.ts';
import { testWebhooks } from '../../worlds/shell/create-app.ts';
import { SimProcess } from '../sim-process.ts';
import { cutOff } from './cut-off.ts';
import { createLine, type Line } from './line.ts';

export const HOST = 'github.test';
export const SECRET = 'what the deliveries of this world are signed with';
/** In real time, like the timeouts of the processes and sockets behind them. */
const API_TIMEOUT_MS = 2_500;
const GIT_TIMEOUT_MS = 20_000;
const RESTART_MS = [500, 6_000] as const;

export interface LivesOptions {
  readonly github: FakeGithub;
  readonly clock: Timing;
  readonly store: Store;
  readonly servers: number;
  readonly folder: string;
  readonly log: Log;
  readonly random: Prng;
}

interface Life {
  readonly app: App;
  readonly server: FastifyInstance;
  readonly process: SimProcess;
  readonly forge: GithubForge;
  readonly line: Line;
  /** Deliveries it has not answered. */
  readonly open: Set<ServerResponse>;
  readonly parts: readonly { stop(): Promise<void> }[];
}

/** Servers wired as in main.ts. Each has its own connection to GitHub; deliveries go to any of them. */
export class Lives {
  count = 0;
  readonly #options: LivesOptions;
  readonly #present: (Life | undefined)[] = [];
  readonly #door = createHttpServer();
  readonly #goingOn = new Set<Promise<unknown>>();
  #isOver = false;

  constructor(options: LivesOptions) {
    this.#options = options;
  }

  /** Returns the URL for deliveries. */
  async start(): Promise<string> {
    for (let index = 0; index < this.#options.servers; index += 1) await this.#begin(index);
    this.#door.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#deliver(request.headers as Record<string, string>, Buffer.concat(chunks), response);
      });
    });
    return `${await listen(this.#door)}/webhooks/github`;
  }

  /** A server that is up, if any is. */
  pick(random = this.#options.random): App | undefined {
    return this.#pickLife(random)?.app;
  }

  /** Crashes a server in the middle of its work and restarts it after a while. */
  crash(random: Prng): boolean {
    const index = random.integer(this.#present.length);
    const life = this.#present[index];
    if (life === undefined || this.#isOver) return false;
    this.#present[index] = undefined;
    life.process.crash();
    life.line.cut();
    for (const response of life.open) response.destroy();
    this.#keep(
      life.forge
        .close()
        .then(() => this.#pause(random.between(...RESTART_MS)))
        .then(() => this.#begin(index)),
    );
    return true;
  }

  /** Waits until all crashed servers are up again. */
  async untilUp(): Promise<void> {
    while (this.#goingOn.size > 0) await Promise.all(this.#goingOn);
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.untilUp();
    for (const life of this.#present.filter((each) => each !== undefined)) {
      const stopped = Promise.all(life.parts.map((part) => part.stop()));
      await life.forge.close();
      await stopped;
      life.process.end();
      life.line.cut();
      await life.server.close();
    }
    this.#door.closeAllConnections();
    await new Promise((resolve) => this.#door.close(resolve));
  }

  #keep(work: Promise<unknown>): void {
    const kept = work.finally(() => this.#goingOn.delete(kept));
    this.#goingOn.add(kept);
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.clock.after(ms, resolve);
    });
  }

  #pickLife(random: Prng): Life | undefined {
    return random.pick(this.#present.filter((life) => life !== undefined));
  }

  #deliver(headers: Record<string, string>, payload: Buffer, response: ServerResponse): void {
    const life = this.#pickLife(this.#options.random);
    if (life === undefined) {
      response.writeHead(502).end();
      return;
    }
    life.open.add(response);
    const answered = life.server.inject({ method: 'POST', url: '/webhooks/github', headers, payload });
    void answered.then(({ statusCode, body }) => {
      life.open.delete(response);
      response.writeHead(statusCode).end(body);
    });
  }

  async #begin(index: number): Promise<void> {
    const { github, clock, store, servers, folder } = this.#options;
    this.count += 1;
    const name = `server-${index}`;
    const process = new SimProcess(clock, { name });
    const line = await createLine(github.url);
    const log = this.#logOf(process);
    const auth = {
      kind: 'app',
      appId: String(github.app.id),
      privateKey: github.privateKey,
      webhookSecret: SECRET,
    } as const;
    const forge = createGithubForge({
      connection: githubConnection({ host: HOST, auth, apiUrl: line.url, webUrl: line.url }),
      directory: join(folder, name),
      clock: process.clock,
      log,
      timeoutMs: API_TIMEOUT_MS,
      remoteWaitMs: GIT_TIMEOUT_MS,
    });
    const own = cutOff(store, process, { isShared: servers > 1, signals: NO_SIGNALS });
    const forges = new Map([[HOST, cutOff(forge, process)]]);
    const app: App = {
      store: own,
      queues: new QueueHost(own, process.clock),
      directory: new Directory(own, forges, process.clock),
      forges,
      clock: process.clock,
      ingest: noIngest,
      outages: new Outages(),
      hints: new WakeSignal(),
      webhooks: testWebhooks(),
      feed: new Feed({ store: own, clock: process.clock, log }),
      log,
      checkRunner: noJobs,
      backups: new Backups({ folder: '', isChosen: false }),
      simulator: localSimulator,
      lanes: localLanes,
      forecasts: { find: () => undefined, findMade: () => undefined, retriesAt: () => undefined },
      admin: { slug: 'acme', adminToken: undefined, tokenFile: '' },
      // Callers bring their own permissions.
      auth: undefined as unknown as Authenticator,
    };
    const deps = {
      version: '1.2.3',
      publicUrl: undefined,
      trustedProxies: [],
      rateLimit: 0,
      requestTimeoutMs: 120_000,
    };
    const server = createServer({ app, log, ...deps });
    const [effects, hints] = [createEffectWorker(app, name), createHintWorker(app, name)];
    const storePoller = new StorePoller(app, { effects: () => effects.wake(), hints: () => hints.wake() });
    const parts = [
      ...[effects, hints, storePoller, new Timers(app), new PlainGitPoller(app)],
      ...[createAudit(app), createForgePoller(app), createHintWatch(app), createSweep(app)],
    ];
    for (const part of parts) part.start();
    this.#present[index] = { app, server, process, forge, line, open: new Set(), parts };
  }

  /** Log lines of a dead server are ignored. */
  #logOf(process: SimProcess): Log {
    const { log } = this.#options;
    const when = (level: keyof Log) => (facts: object, text: string) => {
      if (process.isAlive) log[level]({ server: process.name, ...facts }, text);
    };
    return { debug: when('debug'), info: when('info'), warn: when('warn'), error: when('error') };
  }
}
