import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock, type Timing } from '../../../src/lib/clock.ts';
import type { ApiFaults } from '../hosted/faults.ts';
import { createApp } from './apps.ts';
import { sharedKeyPair } from './auth.ts';
import { graphqlRoute } from './graphql.ts';
import { Misbehaviour } from './misbehave.ts';
import type { App, World } from './model.ts';
import { People } from './people-acts.ts';
import type { RateLimitOptions, RateLimits } from './rate-limit.ts';
import { appRoutes } from './routes/app-routes.ts';
import { checkRoutes } from './routes/check-routes.ts';
import { pullRoutes } from './routes/pull-routes.ts';
import { repositoryRoutes } from './routes/repository-routes.ts';
import { createSignInRoutes } from './routes/sign-in-routes.ts';
import { startServer } from './server.ts';
import { Webhooks } from './webhooks.ts';
import { createWorld, settle } from './world.ts';

export interface FakeGithubOptions {
  readonly clock?: Timing;
  /** Default: mergeability is computed at once. GitHub itself computes it lazily. */
  readonly mergeability?: World['options']['mergeability'];
  readonly tokenLifetimeMs?: number;
  /** Compares answers with GitHub's OpenAPI description. Default: true. */
  readonly validate?: boolean;
  readonly limits?: RateLimitOptions;
}

const HOUR_MS = 3_600_000;

/** GitHub's own id of the Actions app. */
const ACTIONS_ID = 15_368;

/** A GitHub on this machine: an HTTP server with real git behind it, and its accounts. */
export async function createFakeGithub(options: FakeGithubOptions = {}): Promise<FakeGithub> {
  const world = createWorld({
    folder: await mkdtemp(join(tmpdir(), 'fake-github-')),
    clock: options.clock ?? systemClock,
    mergeability: options.mergeability ?? 'at_once',
    tokenLifetimeMs: options.tokenLifetimeMs ?? HOUR_MS,
    validate: options.validate ?? true,
  });
  const misbehaviour = new Misbehaviour(world.options.clock, options.limits);
  const webhooks = new Webhooks(world);
  world.routes.push(graphqlRoute(misbehaviour.limits), ...appRoutes(webhooks));
  world.routes.push(...createSignInRoutes());
  world.routes.push(...repositoryRoutes, ...pullRoutes, ...checkRoutes);
  const server = await startServer(world, misbehaviour);
  return new FakeGithub({ world, server, misbehaviour, webhooks });
}

interface Parts {
  readonly world: World;
  readonly server: Server;
  readonly misbehaviour: Misbehaviour;
  readonly webhooks: Webhooks;
}

export class FakeGithub extends People {
  readonly faults: ApiFaults;
  readonly limits: RateLimits;
  readonly webhooks: Webhooks;
  /** The app of the server under test, with its key. It is not installed yet. */
  readonly app: App;
  readonly privateKey: string;
  readonly #server: Server;

  constructor({ world, server, misbehaviour, webhooks }: Parts) {
    super(world, createApp(world, { slug: 'github-actions', owner: 'github', id: ACTIONS_ID, events: [] }));
    this.faults = misbehaviour.faults;
    this.limits = misbehaviour.limits;
    this.webhooks = webhooks;
    this.app = createApp(world, { slug: 'sluice' });
    const { publicKey, privateKey } = sharedKeyPair();
    this.app.publicKey = publicKey;
    this.privateKey = privateKey;
    this.#server = server;
  }

  get url(): string {
    return this.world.url;
  }

  /** Answers that violate GitHub's description, and failures of background work. */
  get violations(): readonly string[] {
    return this.world.violations;
  }

  /** Number of requests per route, without git. */
  countRequests(since = 0): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { area, route, at } of this.world.requests)
      if (area !== 'git' && at >= since) counts.set(route, (counts.get(route) ?? 0) + 1);
    return counts;
  }

  /** Resolves when all background work has ended. */
  settle(): Promise<void> {
    return settle(this.world);
  }

  /** Throws when an answer violated GitHub's description, so that the test fails. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    await this.settle();
    await rm(this.world.options.folder, { recursive: true, force: true, maxRetries: 3 });
    if (this.violations.length > 0) throw new Error(this.violations.join('\n'));
  }
}
