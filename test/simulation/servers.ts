import type { Authenticator } from '../../src/app/access/authenticate.ts';
import type { App } from '../../src/app/core/app.ts';
import { Backups } from '../../src/app/core/backups.ts';
import { Directory } from '../../src/app/core/directory.ts';
import { Feed } from '../../src/app/core/feed.ts';
import { Outages } from '../../src/app/core/outages.ts';
import { QueueHost } from '../../src/app/core/queue-host.ts';
import { StorePoller } from '../../src/app/core/store-poller.ts';
import { WakeSignal } from '../../src/app/core/wake-signal.ts';
import { createEffectWorker } from '../../src/app/effects/effect-worker.ts';
import { PlainGitPoller } from '../../src/app/forge-events/plain-git-poller.ts';
import { Timers } from '../../src/app/upkeep/timers.ts';
import type { Forge, LandRequest } from '../../src/forge/forge.ts';
import { Fault } from '../../src/lib/fault.ts';
import type { Log } from '../../src/lib/log.ts';
import type { Prng } from '../../src/lib/prng.ts';
import type { Store } from '../../src/storage/store.ts';
import { NO_SIGNALS } from '../../src/storage/waiting.ts';
import { noIngest } from '../fake/no-ingest.ts';
import { noJobs } from '../fake/no-jobs.ts';
import { localLanes } from '../helpers/local-lanes.ts';
import { localSimulator } from '../helpers/local-simulator.ts';
import { testWebhooks } from '../worlds/shell/create-app.ts';
import type { Conditions } from './conditions.ts';
import { faulty } from './faulty.ts';
import type { SimProcess } from './sim-process.ts';
import type { SimWorld } from './sim-world.ts';

export const HOST = 'forge.test';

export interface ServersOptions {
  readonly world: SimWorld;
  readonly conditions: Conditions;
  readonly store: Store;
  readonly forge: Forge;
  readonly random: Prng;
  readonly onLandingCalled: () => void;
  readonly onCrash: () => void;
  readonly onAlarm: (code: string) => void;
  /** Called for an error that no simulated fault explains. */
  readonly onBug: (error: unknown) => void;
}

interface Life {
  readonly app: App;
  readonly process: SimProcess;
  /** How many calls of this life are under way. */
  underWay: number;
}

const FORGE_TIMEOUT_MS = 4_000;
const RESTART_MS = [300, 4_000] as const;

/** The servers of a run: the real shell. Each life has its own unreliable connections. */
export class Servers {
  /** The highest number of calls under way at once. */
  busiest = 0;
  lives = 0;
  readonly #options: ServersOptions;
  readonly #present: (Life | undefined)[] = [];

  constructor(options: ServersOptions) {
    this.#options = options;
    for (let index = 0; index < options.conditions.servers; index += 1) this.#start(index);
  }

  /** A server that is up, if any is. */
  pick(): App | undefined {
    const up = this.#present.filter((life) => life !== undefined);
    return this.#options.random.pick(up)?.app;
  }

  /** Sets the clock of one server forward or back. */
  jumpClock(): void {
    const { random, world } = this.#options;
    const life = random.pick(this.#present);
    if (life === undefined || world.isCalm) return;
    life.process.skewMs += random.between(-90_000, 90_000);
    world.count('clock jump');
  }

  #start(index: number): void {
    const { world, onCrash, random } = this.#options;
    this.lives += 1;
    const process = world.spawn({
      name: `server-${index}`,
      onCrash: () => {
        this.#present[index] = undefined;
        onCrash();
        world.schedule(random.between(...RESTART_MS), () => this.#start(index));
      },
    });
    const life: Life = { app: this.#createApp(process, () => life), process, underWay: 0 };
    this.#present[index] = life;
    const worker = createEffectWorker(life.app, `life-${this.lives}`);
    const poller = new PlainGitPoller(life.app);
    const storePoller = new StorePoller(life.app, {
      effects: () => worker.wake(),
      entries: () => poller.noteEntries(),
    });
    for (const part of [worker, new Timers(life.app), poller, storePoller]) part.start();
  }

  #createApp(process: SimProcess, life: () => Life): App {
    const { world, conditions, random } = this.#options;
    const { rates, servers, storeDelayRate } = conditions;
    const store = faulty(this.#options.store, {
      world,
      process,
      name: 'store',
      code: 'STORE_UNAVAILABLE',
      random: random.fork(),
      rates: rates.store,
      delayMs: [1, 5],
      delayRate: storeDelayRate,
      overrides: { isShared: servers > 1, signals: NO_SIGNALS },
    });
    const forge = faulty(this.#options.forge, {
      world,
      process,
      name: 'forge',
      code: 'FORGE_UNAVAILABLE',
      random: random.fork(),
      rates: (method) => (method === 'landCandidate' ? rates.landing : rates.forge),
      delayMs: [10, 600],
      delayRate: 0.4,
      timeoutMs: FORGE_TIMEOUT_MS,
    });
    const forges = new Map([[HOST, this.#watch(forge, life)]]);
    return {
      store,
      queues: new QueueHost(store, process.clock),
      directory: new Directory(store, forges, process.clock),
      forges,
      clock: process.clock,
      ingest: noIngest,
      outages: new Outages(),
      hints: new WakeSignal(),
      webhooks: testWebhooks(),
      feed: new Feed({ store, clock: process.clock, log: this.#createLog() }),
      log: this.#createLog(),
      checkRunner: noJobs,
      backups: new Backups({ folder: '', isChosen: false }),
      simulator: localSimulator,
      lanes: localLanes,
      forecasts: { find: () => undefined, findMade: () => undefined, retriesAt: () => undefined },
      admin: { slug: 'acme', adminToken: undefined, tokenFile: '' },
      // Callers bring their own permissions.
      auth: undefined as unknown as Authenticator,
    };
  }

  /** Wraps the forge: counts calls under way, and announces a landing before it is sent. */
  #watch(forge: Forge, life: () => Life): Forge {
    return new Proxy(forge, {
      get: (target, property) => {
        const method: unknown = Reflect.get(target, property);
        if (typeof method !== 'function' || property === 'testBranchOf') return method;
        return (...args: readonly unknown[]) => {
          const isLanding = property === 'landCandidate' && !(args[0] as LandRequest).isCalledOff;
          if (isLanding && life().process.isAlive) this.#options.onLandingCalled();
          return this.#count(life(), Reflect.apply(method, target, args) as Promise<unknown>);
        };
      },
    });
  }

  #count(life: Life, answer: Promise<unknown>): Promise<unknown> {
    life.underWay += 1;
    const underWay = this.#present.reduce((sum, each) => sum + (each?.underWay ?? 0), 0);
    this.busiest = Math.max(this.busiest, underWay);
    return answer.finally(() => {
      life.underWay -= 1;
    });
  }

  #createLog(): Log {
    const { onAlarm, onBug } = this.#options;
    const look = (facts: object) => {
      if ('err' in facts && !(facts.err instanceof Fault)) onBug(facts.err);
      if ('alarm' in facts) onAlarm(String(facts.alarm));
    };
    return { debug: () => undefined, info: () => undefined, warn: look, error: look };
  }
}
