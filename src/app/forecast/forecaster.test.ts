import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { localSimulator } from '../../../test/helpers/local-simulator.ts';
import { Past } from '../../../test/helpers/past-queue.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { createQueueInProcess } from '../../../test/worlds/server/queue-in-process.ts';
import { ManualClock } from '../../../test/worlds/shell/manual-clock.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type { getSubmittedPullRequest, listPullRequests } from '../../contract/pull-requests.ts';
import type { getQueue } from '../../contract/queues.ts';
import { formatInstant, systemClock } from '../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../policy/workload.ts';
import type { ForecastInput } from '../../simulator/simulator.ts';
import { SimulatorThread } from '../../simulator/thread/simulator-thread.ts';
import { viewForecast } from '../queue/forecast-view.ts';
import { Forecaster } from './forecaster.ts';

type QueueReply = ReplyOf<typeof getQueue>;
type EntryReply = ReplyOf<typeof getSubmittedPullRequest>;

async function createWorld() {
  const world = await createQueueInProcess();
  const { app, store, repository, clock, ref, ok } = world;
  await ok('/v1/updateQueue', { ...ref, concurrency: 1 });
  const row = await store.queues.find(repository.id, 'main');
  assert.ok(row);
  const begin = clock.now() - 20 * HOUR_MS;
  const past = new Past(app.queues, row.id, begin);
  const find = async () => {
    const found = await app.queues.find(row.id);
    assert.ok(found);
    return found;
  };
  return { ...world, past, find };
}

/** Each takes ten minutes, one after the other. */
async function live(past: Past, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) {
    await past.submit((number - 1) * 10, number);
    await past.finish(number * 10, 'SUCCESS');
  }
}

describe('forecasts of a queue', () => {
  it('are made for those who ask, and say how many runs are missing [Z1] [Z3] [Z5] [Z7]', async () => {
    const { past, ok, ref } = await createWorld();
    const ask = () => ok<QueueReply>('/v1/getQueue', { ...ref, includeForecast: true });
    assert.equal((await ask()).forecast?.text, 'The forecast is being made.');
    await live(past, 1, 3);
    const read = async () => (await ask()).forecast?.text ?? '';
    await untilTold(read, /Not enough runs yet to say when it lands: [03] of 20\./);
    await ok('/v1/updateQueue', { ...ref, state: 'PAUSED' });
    assert.match(await read(), /is paused/);
  });

  it('tell of every live entry, and of one that comes next [Z1]', async () => {
    const { past, ok, ref } = await createWorld();
    await live(past, 1, 21);
    await past.submit(20 * 60 - 3, 22);
    await past.submit(20 * 60 - 2, 23);
    const ask = () => ok<QueueReply>('/v1/getQueue', { ...ref, includeForecast: true });
    const { text } = await untilForecast(async () => (await ask()).forecast);
    assert.match(text, /^Lands in about (2[6-9]|3\d) minutes/);
    const { forecast, enqueuedPullRequests } = await ask();
    assert.equal(forecast?.basis?.runs, 21);
    assert.ok((forecast?.basis?.samples ?? 0) >= 30);
    const [first, second] = enqueuedPullRequests.map((entry) => entry.forecast);
    assert.match(first?.text ?? '', /^Lands in about 7 minutes/);
    assert.match(second?.text ?? '', /^Lands in about 17 minutes/);
    assert.ok((first?.chanceToLand ?? 0) > 0.9);
    const one = await ok<EntryReply>('/v1/getSubmittedPullRequest', {
      ...{ ...ref, pr: { number: 23 }, includeForecast: true },
    });
    assert.deepEqual(one.forecast, second);
    const ended = await ok<EntryReply>('/v1/getSubmittedPullRequest', {
      ...{ ...ref, pr: { number: 2 }, includeForecast: true },
    });
    assert.equal(ended.forecast, undefined);
    const page = await ok<ReplyOf<typeof listPullRequests>>('/v1/listPullRequests', { ...ref, includeForecast: true });
    assert.deepEqual(
      page.pullRequests.slice(0, 3).map((entry) => entry.forecast?.text),
      [second?.text, first?.text, undefined],
    );
    assert.equal('forecast' in (await ok<QueueReply>('/v1/getQueue', ref)), false);
  });

  it('wait for each other, rest, and are not made again for the same version or within a minute [Z5]', async () => {
    const { past, find, store } = await createWorld();
    await live(past, 1, 21);
    const clock = new ManualClock();
    const asked: ForecastInput[] = [];
    const simulator = {
      ...localSimulator,
      forecast: (input: ForecastInput) => {
        asked.push(input);
        return localSimulator.forecast(input);
      },
    };
    const forecaster = new Forecaster({ store, simulator, clock, log: silentLog });
    assert.equal(forecaster.find(await find()), undefined);
    await until(async () => forecaster.find(await find()) !== undefined);
    await clock.pass(10 * MINUTE_MS);
    forecaster.find(await find());
    assert.equal(asked.length, 1, 'the queue is as it was');
    await past.submit(20 * 60, 22);
    forecaster.find(await find());
    await until(() => asked.length === 2);
    await past.submit(20 * 60, 23);
    const second = forecaster.find(await find());
    await clock.pass(MINUTE_MS - 1);
    assert.equal(forecaster.find(await find()), second);
    assert.equal(asked.length, 2, 'too soon');
    await clock.pass(1);
    forecaster.find(await find());
    await until(() => asked.length === 3);
  });

  it('that failed are tried again later, and the text says when [Z9]', async () => {
    const { past, app, find, store } = await createWorld();
    await live(past, 1, 21);
    const clock = new ManualClock();
    let asked = 0;
    const forecast = async (input: ForecastInput) => {
      asked += 1;
      if (asked <= 2) throw new Error('out of memory');
      return localSimulator.forecast(input);
    };
    const forecasts = new Forecaster({ store, simulator: { ...localSimulator, forecast }, clock, log: silentLog });
    const tell = async () => viewForecast({ ...app, forecasts }, await find(), clock.now());
    for (const [minutes, attempts] of [
      [1, 1],
      [2, 2],
    ] as const) {
      assert.equal((await tell()).isBeingMade, true);
      const failsBy = clock.now() + minutes * MINUTE_MS;
      await until(async () => (await tell()).isBeingMade === undefined);
      const at = `${formatInstant(failsBy).slice(11, 16)} UTC`;
      assert.equal((await tell()).text, `The forecast failed; the server's log says why. It is tried again at ${at}.`);
      await clock.pass(minutes * MINUTE_MS - 1);
      await tell();
      assert.equal(asked, attempts, 'too soon');
      await clock.pass(1);
    }
    await until(async () => (await tell()).basis !== undefined);
    assert.equal(asked, 3);
  });

  it('come from a thread that a crash does not end for good [Z5]', async (test) => {
    const { past, find } = await createWorld();
    await past.submit(0, 1);
    const { queue } = await find();
    const entry = new URL('../../simulator-main.ts', import.meta.url);
    const thread = new SimulatorThread({ entry, clock: systemClock, log: silentLog });
    test.after(() => thread.stop());
    const run = { tested: [1], passed: true, tookMs: MINUTE_MS, checks: [], endedAt: 0 };
    const pace = { runs: [run], buildMs: [], landMs: [], arrivalMs: undefined };
    const input = { queue, now: Date.now(), pace, seed: '1' };
    assert.equal((await thread.forecast(input)).entries.size, 1);
    await assert.rejects(thread.forecast({ ...input, queue: { ...queue, entries: 7 as never } }));
    assert.equal((await thread.forecast(input)).entries.size, 1);
    await thread.stop();
    await assert.rejects(thread.forecast(input), /is stopping/);
  });
});

async function untilForecast<T extends { readonly basis?: unknown }>(read: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const told = await read();
    if (told?.basis !== undefined) return told;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function untilTold(read: () => Promise<string>, text: RegExp): Promise<void> {
  await until(async () => text.test(await read()));
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}
