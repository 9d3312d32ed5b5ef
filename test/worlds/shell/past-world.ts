import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { endAlarms, raise } from '../../../src/app/core/alarms.ts';
import type { App } from '../../../src/app/core/app.ts';
import type { Caller } from '../../../src/app/core/caller.ts';
import { endOutages, Outages, recordOutages } from '../../../src/app/core/outages.ts';
import { isRefusal } from '../../../src/app/core/refusal.ts';
import { getMergeQueueTestingDetails } from '../../../src/app/queue/get-merge-queue-testing-details.ts';
import { getQueue } from '../../../src/app/queue/queues.ts';
import { getSubmittedPullRequest } from '../../../src/app/queue/submitted-pull-requests.ts';
import type { QueueEvent } from '../../../src/engine/model/event.ts';
import type { PrNumber } from '../../../src/engine/model/pull-request.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import { type Instant, systemClock } from '../../../src/lib/clock.ts';
import { Fault } from '../../../src/lib/fault.ts';
import { present } from '../../../src/lib/present.ts';
import type { Organization } from '../../../src/storage/accounts.ts';
import type { Packing } from '../../../src/storage/past.ts';
import type { Store } from '../../../src/storage/store.ts';
import { FakeForge } from '../../fake/fake-forge.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { NOON, settle } from './manual-clock.ts';
import { ShellWorld } from './shell-world.ts';

/** Answers of all reads at one instant, as text. */
export interface Answers {
  readonly at: Instant;
  readonly texts: readonly string[];
}

/** A server whose clock the test sets. It remembers what it answered, and compares it with what it says about the past. */
export class PastWorld extends ShellWorld {
  now = NOON;
  /** How much later than planned events happen. */
  laterMs = 0;
  readonly clock = { now: () => this.now, after: systemClock.after };
  readonly store: Store;
  readonly forge = new FakeForge(this.repository);
  readonly given: Answers[] = [];
  #app: App;
  #organization: Organization | undefined;

  private constructor(store: Store) {
    super();
    this.store = store;
    this.#app = this.#createServer();
  }

  #createServer(): App {
    return this.createServer({
      outages: new Outages(recordOutages({ store: this.store, log: silentLog, serverId: 'server-1' })),
    });
  }

  static async create(store: Store, settings: Partial<QueueSettings> = {}): Promise<PastWorld> {
    const world = await new PastWorld(store).begin(settings);
    const repository = await world.app.directory.findRepositoryById(world.repositoryId);
    assert.ok(repository);
    world.#organization = await store.accounts.findOrganizationById(repository.organizationId);
    return world;
  }

  /** Commits are packed once their events have places. */
  async pack(of: Packing): Promise<number> {
    await this.app.feed.sequence();
    return this.store.past.pack(this.queueId, of);
  }

  /** On a store that another world has left behind. */
  static async reopen(store: Store, now: Instant): Promise<PastWorld> {
    const world = new PastWorld(store);
    const [repository] = await store.repositories.listAll();
    assert.ok(repository);
    const [queue] = await store.queues.listByRepository(repository.id);
    assert.ok(queue);
    world.now = now;
    world.repositoryId = repository.id;
    world.queueId = queue.id;
    world.#organization = await store.accounts.findOrganizationById(repository.organizationId);
    return world;
  }

  get app(): App {
    return this.#app;
  }

  /** As after kill -9: nothing is left but the store. */
  async restart(): Promise<void> {
    this.#app = this.#createServer();
    await endOutages(this.store, 'server-1', this.now);
  }

  /** A poll of the first pull request fails, or all polls go well. */
  async poll(isDown: boolean): Promise<void> {
    const { outages } = this.app;
    if (isDown) outages.begin('entry-1', new Fault('FORGE_UNAVAILABLE', `It is damaged at ${this.now}.`), this.now);
    else outages.end('entry-1', this.now);
    // The write goes on by itself, and the next one comes after it.
    await settle();
    await this.store.past.listFacts(['entry-1'], this.now);
    await settle();
  }

  async alarm(isOver: boolean): Promise<void> {
    const loaded = await this.app.queues.find(this.queueId);
    assert.ok(loaded);
    if (isOver) await endAlarms(this.app, loaded, 'RED_TARGET');
    else await raise(this.app, loaded, { id: `${this.now}`, code: 'RED_TARGET', text: 'main is red.' });
  }

  async rename(): Promise<void> {
    const { repo } = await this.ref();
    await this.store.repositories.rename(this.repositoryId, { ...repo, name: `renamed-${this.now}` }, this.now);
    await this.store.repositories.bar(
      this.repositoryId,
      this.now % 2 === 0 ? null : `Blocked at ${this.now}.`,
      this.now,
    );
    this.app.directory.forget();
  }

  get caller(): Caller {
    assert.ok(this.#organization);
    const scopes = new Set(['read'] as const);
    return { organization: this.#organization, tokenId: '', name: 'ada', scopes, repositoryIds: null };
  }

  async ref() {
    const repository = await this.app.directory.findRepositoryById(this.repositoryId);
    assert.ok(repository);
    const { host, owner, name } = repository;
    return { repo: { host, owner, name }, targetBranch: 'main' };
  }

  /** Some of them may share one commit. */
  async happen(events: readonly QueueEvent[]): Promise<void> {
    const timely = events.map((event) => ({ ...event, at: Math.max(event.at + this.laterMs, this.now + 1) }));
    this.now = Math.max(...timely.map(({ at }) => at));
    await Promise.all(timely.map((event) => this.app.queues.run(this.queueId, () => event)));
  }

  pass(ms: number): void {
    this.now += ms;
    this.laterMs += ms;
  }

  /** An attempt at the effect that waits longest ends in this way. */
  async settleEffect(how: 'done' | 'retry' | 'park'): Promise<void> {
    const { effects } = this.store;
    const claim = { holder: 'x', now: this.now + 3_600_000, leaseUntil: this.now + 3_600_000, limit: 1 };
    const [effect] = await effects.claim(claim);
    if (effect === undefined) return;
    const error = 'FORGE_UNAVAILABLE: The forge is down.';
    const settlement = {
      done: { kind: how },
      retry: { kind: how, dueAt: this.now + 5_000, error },
      park: { kind: how, at: this.now, error },
    };
    await effects.settle(effect, 'x', settlement[how] as Parameters<typeof effects.settle>[2], this.now);
  }

  /** Answers about now or, with `at`, about then. */
  async answer(
    prNumbers: readonly number[],
    runIds: readonly (string | undefined)[],
    at?: Instant,
  ): Promise<readonly string[]> {
    const { app, caller } = this;
    const ref = { ...(await this.ref()), ...present({ at }) };
    const answers: unknown[] = [await getQueue(app, caller, { ...ref, includeExplanation: true })];
    for (const number of prNumbers) {
      const pr = { number: number as PrNumber };
      answers.push(
        await getSubmittedPullRequest(app, caller, { ...ref, pr, includeTimeline: true, includeExplanation: true }),
      );
    }
    for (const testRunId of runIds)
      answers.push(await getMergeQueueTestingDetails(app, caller, { ...ref, ...present({ testRunId }) }));
    return answers.map(asText);
  }

  async remember(prNumbers: readonly number[], runIds: readonly (string | undefined)[]): Promise<void> {
    this.given.push({ at: this.now, texts: await this.answer(prNumbers, runIds) });
  }

  /** Every instant from `since` on that was asked about answers as it did then. */
  async checkAll(
    prNumbers: readonly number[],
    runIds: readonly (string | undefined)[],
    since = Number.NEGATIVE_INFINITY,
  ): Promise<void> {
    for (const { at, texts } of this.given.filter((each) => each.at >= since)) {
      const again = await this.answer(prNumbers, runIds, at);
      if (!isDeepStrictEqual(again, texts)) assert.deepEqual({ at, texts: again }, { at, texts });
    }
  }
}

/** `asOf` is all that a read of the past adds. */
function asText(answer: unknown): string {
  // A refusal repeats the name of the repository as the caller said it.
  if (isRefusal(answer)) return JSON.stringify(answer).replaceAll(/forge\.test\/acme\/[\w-]+/g, 'the repository');
  const { asOf: _, ...rest } = answer as { readonly asOf?: unknown };
  return JSON.stringify(rest);
}
