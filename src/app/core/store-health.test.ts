import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { ManualClock } from '../../../test/worlds/shell/manual-clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Log } from '../../lib/log.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { StoreHealth } from './store-health.ts';
import { StorePoller } from './store-poller.ts';

const REFUSED = new Fault('STORE_UNAVAILABLE', 'PostgreSQL cannot be used: nothing listens there.');

describe('a store that does not answer', () => {
  const clock = madeForEach(() => new ManualClock());
  let lines: string[];
  let health: StoreHealth;
  let poller: StorePoller;
  /** The answer of the store: an error, or undefined while it hangs. */
  let answer: 'well' | Fault | undefined;

  beforeEach(() => {
    lines = [];
    answer = 'well';
    const at = (level: string) => (facts: object, text: string) => {
      lines.push([level, text, ...('seconds' in facts ? [facts.seconds] : [])].join(' '));
    };
    const log: Log = { debug: () => undefined, info: at('info'), warn: at('warn'), error: at('error') };
    health = new StoreHealth({ log, clock });
    const store = createMemoryStore();
    const read = async () => {
      if (answer === undefined) return new Promise<never>(() => undefined);
      if (answer !== 'well') throw answer;
      return store.waiting.read();
    };
    poller = new StorePoller({ store: { ...store, waiting: { read } }, clock, log: health.log }, {}, health);
    health.onDoubt = () => poller.wake();
    poller.start();
  });

  it('is told of once, and once more with the duration when it is back [D42]', async () => {
    await clock.pass(5_000);
    answer = REFUSED;
    for (let second = 0; second < 12; second++) {
      health.log.warn({ err: REFUSED }, 'could not claim the next effect');
      health.log.error(
        { err: Object.assign(new Error('of the thread'), { code: 'STORE_UNAVAILABLE' }) },
        'ingest failed',
      );
      await clock.pass(1_000);
    }
    answer = 'well';
    await clock.pass(1_500);
    assert.deepEqual(lines, ['warn the database is away', 'warn the database is back 12']);
    // A statement that the outage caught runs into its time limit.
    health.log.warn({ err: REFUSED }, 'could not settle effect');
    await clock.pass(1_000);
    assert.equal(lines.length, 2);
  });

  it('is not blamed for one call that failed, nor for errors of others [D42]', async () => {
    await clock.pass(60_000);
    health.log.warn({ err: REFUSED }, 'could not store');
    health.log.warn({ err: new Error('of a forge') }, 'could not poll a repository');
    await clock.pass(1_000);
    assert.deepEqual(lines, ['warn could not poll a repository', 'warn could not store']);
  });

  it('keeps no request waiting, and one that has its answer is not refused [D43]', async () => {
    await clock.pass(5_000);
    answer = undefined;
    const waiting = health.answer(new Promise<never>(() => undefined), 0);
    const refused = assert.rejects(waiting, (error: Fault) =>
      /Whether this was stored is not known/.test(error.told ?? ''),
    );
    await clock.pass(12_000);
    assert.equal(await health.answer(Promise.resolve('an answer'), 10_000), 'an answer');
    await clock.pass(3_000);
    await refused;
    assert.deepEqual(lines, ['warn the database is away']);
  });

  it('does not cut off a long request when it is away for a moment [D43]', async () => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const long = health.answer(promise, 0);
    await clock.pass(30_000);
    answer = REFUSED;
    await clock.pass(1_200);
    answer = 'well';
    await clock.pass(5_000);
    resolve('done');
    assert.equal(await long, 'done');
  });
});
