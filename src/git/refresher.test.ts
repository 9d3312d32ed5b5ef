import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refresher } from './refresher.ts';

function createScene() {
  const clock = { time: 0, now: () => clock.time };
  const started: PromiseWithResolvers<void>[] = [];
  const refresher = new Refresher(() => {
    const refresh = Promise.withResolvers<void>();
    started.push(refresh);
    return refresh.promise;
  }, clock);
  return { clock, started, refresher };
}

test('callers that arrive during a refresh share the next one', async () => {
  const { started, refresher } = createScene();
  const first = refresher.ensureFresh();
  const second = refresher.ensureFresh();
  const third = refresher.ensureFresh();
  assert.equal(started.length, 1);
  started[0]?.reject(new Error('lost'));
  await assert.rejects(first, /lost/);
  await new Promise(setImmediate);
  assert.equal(started.length, 2);
  started[1]?.resolve();
  await Promise.all([second, third]);
  assert.equal(started.length, 2);
});

test('a refresh serves for a second from its start', async () => {
  const { clock, started, refresher } = createScene();
  const first = refresher.ensureFresh();
  clock.time = 600;
  started[0]?.resolve();
  await first;
  clock.time = 999;
  await refresher.ensureFresh();
  assert.equal(started.length, 1);
  clock.time = 1000;
  void refresher.ensureFresh();
  assert.equal(started.length, 2);
});

test('a clock that was set back does not make old news fresh', async () => {
  const { clock, started, refresher } = createScene();
  clock.time = 5000;
  const first = refresher.ensureFresh();
  started[0]?.resolve();
  await first;
  clock.time = 10;
  void refresher.ensureFresh();
  assert.equal(started.length, 2);
});
