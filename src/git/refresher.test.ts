import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
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
  await nextTurn();
  const second = refresher.ensureFresh();
  await nextTurn();
  const third = refresher.ensureFresh(1_000);
  assert.equal(started.length, 1);
  started[0]?.reject(new Error('lost'));
  await assert.rejects(first, /lost/);
  await nextTurn();
  assert.equal(started.length, 2);
  started[1]?.resolve();
  await Promise.all([second, third]);
  assert.equal(started.length, 2);
});

test('callers of one turn share a refresh', async () => {
  const { started, refresher } = createScene();
  const both = Promise.all([refresher.ensureFresh(), refresher.ensureFresh(1_000)]);
  await nextTurn();
  started[0]?.resolve();
  await both;
  assert.equal(started.length, 1);
});

test('a refresh that ended serves nobody who asks afterwards', async () => {
  const { started, refresher } = createScene();
  const first = refresher.ensureFresh();
  await nextTurn();
  started[0]?.resolve();
  await first;
  void refresher.ensureFresh();
  await nextTurn();
  assert.equal(started.length, 2);
});

test('who can do with old news has them for so long from the start of the refresh', async () => {
  const { clock, started, refresher } = createScene();
  const first = refresher.ensureFresh(1_000);
  await nextTurn();
  clock.time = 600;
  started[0]?.resolve();
  await first;
  clock.time = 999;
  await refresher.ensureFresh(1_000);
  assert.equal(started.length, 1);
  clock.time = 1000;
  void refresher.ensureFresh(1_000);
  await nextTurn();
  assert.equal(started.length, 2);
});

test('a clock that was set back does not make old news fresh', async () => {
  const { clock, started, refresher } = createScene();
  clock.time = 5000;
  const first = refresher.ensureFresh(1_000);
  await nextTurn();
  started[0]?.resolve();
  await first;
  clock.time = 10;
  void refresher.ensureFresh(1_000);
  await nextTurn();
  assert.equal(started.length, 2);
});
