import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Refresher } from './refresher.ts';

const REFS = ['refs/heads/*', 'refs/pull/*'];

function createScene() {
  const clock = { time: 0, now: () => clock.time };
  const started: PromiseWithResolvers<void>[] = [];
  const asked: (readonly string[])[] = [];
  const refresher = new Refresher((refs) => {
    const refresh = Promise.withResolvers<void>();
    started.push(refresh);
    asked.push(refs);
    return refresh.promise;
  }, clock);
  return { clock, started, asked, refresher };
}

test('callers that arrive during a refresh share the next one', async () => {
  const { started, refresher } = createScene();
  const first = refresher.ensureFresh(REFS);
  await nextTurn();
  const second = refresher.ensureFresh(REFS);
  await nextTurn();
  const third = refresher.ensureFresh(REFS, 1_000);
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
  const both = Promise.all([refresher.ensureFresh(REFS), refresher.ensureFresh(REFS, 1_000)]);
  await nextTurn();
  started[0]?.resolve();
  await both;
  assert.equal(started.length, 1);
});

test('a refresh that ended serves no later caller', async () => {
  const { started, refresher } = createScene();
  const first = refresher.ensureFresh(REFS);
  await nextTurn();
  started[0]?.resolve();
  await first;
  void refresher.ensureFresh(REFS);
  await nextTurn();
  assert.equal(started.length, 2);
});

test('a caller that takes old news has them for so long from the start of the refresh', async () => {
  const { clock, started, refresher } = createScene();
  const first = refresher.ensureFresh(REFS, 1_000);
  await nextTurn();
  clock.time = 600;
  started[0]?.resolve();
  await first;
  clock.time = 999;
  await refresher.ensureFresh(REFS, 1_000);
  assert.equal(started.length, 1);
  clock.time = 1000;
  void refresher.ensureFresh(REFS, 1_000);
  await nextTurn();
  assert.equal(started.length, 2);
});

test('a clock that was set back does not make old news fresh', async () => {
  const { clock, started, refresher } = createScene();
  clock.time = 5000;
  const first = refresher.ensureFresh(REFS, 1_000);
  await nextTurn();
  started[0]?.resolve();
  await first;
  clock.time = 10;
  void refresher.ensureFresh(REFS, 1_000);
  await nextTurn();
  assert.equal(started.length, 2);
});

test('callers that wait for different refs share a fetch of all of them', async () => {
  const { started, asked, refresher } = createScene();
  const first = refresher.ensureFresh(['refs/heads/main']);
  await nextTurn();
  const others = Promise.all([refresher.ensureFresh(['a', 'b']), refresher.ensureFresh(['b', 'c'], 1_000)]);
  started[0]?.resolve();
  await first;
  await nextTurn();
  started[1]?.resolve();
  await others;
  assert.deepEqual(asked, [['refs/heads/main'], ['a', 'b', 'c']]);
});

test('only old refs are fetched', async () => {
  const { started, asked, refresher } = createScene();
  const first = refresher.ensureFresh(['a']);
  await nextTurn();
  started[0]?.resolve();
  await first;
  await refresher.ensureFresh([]);
  void refresher.ensureFresh(['a', 'b'], 1_000);
  await nextTurn();
  assert.deepEqual(asked, [['a'], ['b']]);
});
