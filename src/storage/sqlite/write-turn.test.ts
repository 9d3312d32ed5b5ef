import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createTurnMemory, createWriteTurn } from './write-turn.ts';

/** Takes the turn, reports it, and gives it back on request. */
const HOLDER = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(workerData.module).then(({ createWriteTurn }) => {
    const turn = createWriteTurn(workerData.memory);
    turn.take();
    parentPort.postMessage('taken');
    const state = new Int32Array(workerData.until);
    Atomics.wait(state, 0, 0);
    turn.giveBack();
  });
`;

describe('turns of writers', () => {
  it('goes from one thread to the next', async () => {
    const [memory, until] = [createTurnMemory(), createTurnMemory()];
    const module = new URL('./write-turn.ts', import.meta.url).href;
    const worker = new Worker(HOLDER, { eval: true, workerData: { memory, until, module } });
    await new Promise((resolve) => worker.once('message', resolve));
    const turn = createWriteTurn(memory);
    assert.equal(new Int32Array(memory)[0], 1);
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    Atomics.store(new Int32Array(until), 0, 1);
    Atomics.notify(new Int32Array(until), 0);
    turn.take();
    assert.equal(new Int32Array(memory)[0], 1);
    turn.giveBack();
    await exited;
    assert.equal(new Int32Array(memory)[0], 0);
  });

  it('is taken from one that ended without giving it back', () => {
    const memory = createTurnMemory();
    createWriteTurn(memory).take();
    const turn = createWriteTurn(memory);
    turn.take();
    turn.giveBack();
    assert.equal(new Int32Array(memory)[0], 0);
  });
});
