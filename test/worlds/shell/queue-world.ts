import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';
import { createEffectWorker, type EffectWorker } from '../../../src/app/effects/effect-worker.ts';
import type { PrNumber, PullRequestFacts } from '../../../src/engine/model/pull-request.ts';
import type { QueueSettings } from '../../../src/engine/model/settings.ts';
import { type Instant, systemClock } from '../../../src/lib/clock.ts';
import type { AlarmRow } from '../../../src/storage/alarms.ts';
import { createMemoryStore } from '../../../src/storage/sqlite/create-memory-store.ts';
import { FakeForge, type FakeForgeOptions } from '../../fake/fake-forge.ts';
import type { FakeRepository } from '../../fake/fake-repository.ts';
import { silentLog } from '../../helpers/silent-log.ts';
import { ShellWorld } from './shell-world.ts';

const DEADLINE_MS = 10_000;

export interface QueueWorldOptions {
  readonly settings?: Partial<QueueSettings>;
  readonly forge?: FakeForgeOptions;
  readonly createForge?: (repository: FakeRepository) => FakeForge;
}

/** A running server in real time. Nothing is required, so that entries land by themselves. */
export class QueueWorld extends ShellWorld {
  /** Added to the real time. */
  laterMs = 0;
  #lastNow = 0;
  readonly clock = { now: () => this.#now(), after: systemClock.after };
  readonly store = { ...createMemoryStore(), isShared: true };
  readonly errors: string[] = [];
  readonly forge: FakeForge;
  readonly app: ReturnType<ShellWorld['createServer']>;
  readonly worker: EffectWorker;

  private constructor({ forge, createForge }: QueueWorldOptions) {
    super();
    this.forge = createForge?.(this.repository) ?? new FakeForge(this.repository, forge);
    this.app = this.createServer({ log: { ...silentLog, error: (_facts, text) => void this.errors.push(text) } });
    this.worker = createEffectWorker(this.app, 'first');
  }

  static async create(options: QueueWorldOptions = {}): Promise<QueueWorld> {
    const world = await new QueueWorld(options).begin(options.settings ?? {});
    world.worker.start();
    return world;
  }

  /** Every call returns another instant, so that the order of events is known. */
  #now(): Instant {
    this.#lastNow = Math.max(this.#lastNow + 1, Date.now() + this.laterMs);
    return this.#lastNow;
  }

  override addQueue(branch: string, settings: Partial<QueueSettings> = {}) {
    return super.addQueue(branch, { requiredStatuses: [], ...settings });
  }

  submit(files: Readonly<Record<string, string>>, facts: Partial<PullRequestFacts> = {}): Promise<PrNumber> {
    return this.submitFiles(files, facts);
  }

  /** Submits a pull request and waits until it landed. */
  async land(files: Readonly<Record<string, string>>): Promise<PrNumber> {
    const number = await this.submit(files);
    await this.untilQuiet();
    assert.equal((await this.store.queueRecords.findEntry(this.queueId, number))?.state, 'MERGED');
    return number;
  }

  /** Waits until all effects have run. */
  async untilQuiet(): Promise<void> {
    const until = Date.now() + DEADLINE_MS;
    while ((await this.effects()).length > 0) {
      assert.ok(Date.now() < until, 'effects are still waiting');
      await pause(5);
    }
  }

  /** Alarms oldest first, after all effects have run. */
  async alarms(): Promise<readonly AlarmRow[]> {
    await this.untilQuiet();
    return (await this.store.alarms.list([this.queueId], 0, 100)).toReversed();
  }

  stop(): Promise<void> {
    return this.worker.stop();
  }
}
