import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Fault } from '../../src/lib/fault.ts';
import { Prng } from '../../src/lib/prng.ts';
import { TaskHeap } from '../../src/lib/task-heap.ts';
import { type FaultRates, type FaultyOptions, faulty } from './faulty.ts';
import type { SimProcess } from './sim-process.ts';
import { SimWorld } from './sim-world.ts';

const MINUTE_MS = 60_000;

describe('task heap', () => {
  it('gives tasks back by time, then by chance', () => {
    const random = new Prng(1);
    const heap = new TaskHeap();
    const keys: number[] = [];
    for (let round = 0; round < 2_000; round += 1) {
      heap.push({ at: random.integer(50), tie: random.next(), act: () => undefined, isCalledOff: false });
      if (round % 3 === 0) heap.pop();
    }
    for (let task = heap.pop(); task !== undefined; task = heap.pop()) keys.push(task.at + task.tie);
    assert.deepEqual(
      keys,
      keys.toSorted((a, b) => a - b),
    );
    assert.equal(heap.size, 0);
  });
});

describe('simulated world', () => {
  it('runs tasks in time, each with all that follows from it', async () => {
    const world = new SimWorld({ seed: 1, jitterMs: 0 });
    const start = world.now;
    const log: string[] = [];
    world.schedule(2_000, () => log.push('later'));
    const cancel = world.schedule(1_500, () => log.push('never'));
    world.schedule(1_000, () => {
      void (async () => {
        for (let round = 0; round < 20; round += 1) await undefined;
        log.push(`at ${world.now - start}`);
        await world.pause(500);
        log.push(`at ${world.now - start}`);
      })();
    });
    world.observe(() => log.push('.'));
    cancel();
    await world.runFor(MINUTE_MS);
    assert.deepEqual(log, ['at 1000', '.', 'at 1500', '.', 'later', '.']);
    assert.deepEqual([world.now - start, world.tasks], [MINUTE_MS, 3]);
  });

  it('stops when something comes true, and when it goes round in circles', async () => {
    const world = new SimWorld({ seed: 1, maxTasks: 100 });
    let count = 0;
    const again = () => {
      count += 1;
      world.schedule(10, again);
    };
    again();
    assert.equal(await world.runUntilTrue(() => count === 5, world.now + MINUTE_MS), true);
    assert.equal(count, 5);
    assert.equal(await world.runUntilTrue(() => false, world.now + 100), false);
    await assert.rejects(world.runFor(MINUTE_MS), /seed 1: more than 100 tasks/);
  });

  it('gives each process a clock that dies with it', async () => {
    const world = new SimWorld({ seed: 1 });
    const crashed: string[] = [];
    const process = world.spawn({ name: 'one', skewMs: 5_000, onCrash: ({ name }) => crashed.push(name) });
    const log: string[] = [];
    assert.equal(process.clock.now(), world.now + 5_000);
    process.clock.after(10, () => log.push('before'));
    process.clock.after(1_000, () => log.push('after'));
    world.schedule(500, () => process.crash());
    await world.runFor(MINUTE_MS);
    process.clock.after(0, () => log.push('dead'));
    await world.runFor(MINUTE_MS);
    assert.deepEqual([log, crashed, process.isAlive], [['before'], ['one'], false]);
  });
});

class Counter {
  #value = 0;
  async add(amount: number): Promise<number> {
    this.#value += amount;
    return this.#value;
  }
  async read(): Promise<number> {
    return this.#value;
  }
  async close(): Promise<void> {}
}

describe('faulty port', () => {
  /** The result of one call under these rates, and the state of the port after it. */
  async function tryOnce(rates: FaultRates, more: Partial<FaultyOptions> = {}) {
    const world = new SimWorld({ seed: 1, jitterMs: 0 });
    const process = world.spawn({ name: 'server' });
    const counter = new Counter();
    const options = { world, process, name: 'counter', code: 'FORGE_UNAVAILABLE', random: new Prng(1), rates } as const;
    const port = faulty(counter, { ...options, ...more });
    const outcome = { answer: 'none' as string | number, at: 0, valueThen: -1, value: -1 };
    const start = world.now;
    const settle = (answer: string | number) => {
      void counter.read().then((value) => {
        Object.assign(outcome, { answer, at: world.now - start, valueThen: value });
      });
    };
    port.add(1).then(settle, (error: unknown) => settle(error instanceof Fault ? error.code : String(error)));
    await world.runFor(10 * MINUTE_MS);
    outcome.value = await counter.read();
    return { ...outcome, isAlive: process.isAlive, faults: world.faultCounts(), process, port, world };
  }

  const pick = ({ answer, at, valueThen, value, isAlive }: Awaited<ReturnType<typeof tryOnce>>) => [
    answer,
    at,
    valueThen,
    value,
    isAlive,
  ];
  const failed = 'FORGE_UNAVAILABLE';

  it('answers, after a while', async () => {
    assert.deepEqual(pick(await tryOnce({})), [1, 0, 1, 1, true]);
    assert.deepEqual(pick(await tryOnce({}, { delayMs: [50, 50] })), [1, 100, 1, 1, true]);
  });

  it('fails before the act and after it, at once and late', async () => {
    assert.deepEqual(pick(await tryOnce({ refused: 1 })), [failed, 0, 0, 0, true]);
    assert.deepEqual(pick(await tryOnce({ lost: 1 })), [failed, 0, 1, 1, true]);
    const timeoutMs = 7_000;
    assert.deepEqual(pick(await tryOnce({ timedOutBefore: 1 }, { timeoutMs })), [failed, 7_000, 0, 0, true]);
    assert.deepEqual(pick(await tryOnce({ timedOutAfter: 1 }, { timeoutMs })), [failed, 7_000, 1, 1, true]);
    assert.deepEqual(pick(await tryOnce({ doneAfterTimeout: 1 }, { timeoutMs })), [failed, 7_000, 0, 1, true]);
  });

  it('crashes the caller before the act and after it', async () => {
    assert.deepEqual(pick(await tryOnce({ crashBefore: 1 })), ['none', 0, -1, 0, false]);
    const after = await tryOnce({ crashAfter: 1 });
    assert.deepEqual(pick(after), ['none', 0, -1, 1, false]);
    assert.deepEqual(after.faults, { 'counter.crashAfter': 1 });
    let isAnswered = false;
    const note = () => {
      isAnswered = true;
    };
    after.port.read().then(note, note);
    await after.world.runFor(MINUTE_MS);
    assert.equal(isAnswered, false);
  });

  it('injects no fault in fair weather', async () => {
    const { port, world } = await tryOnce({ refused: 1 });
    world.calm();
    assert.equal(await port.read(), 0);
  });

  it('an answer under way does not reach a process that died', async () => {
    const world = new SimWorld({ seed: 1 });
    const counter = new Counter();
    const process: SimProcess = world.spawn({ name: 'server' });
    const random = new Prng(1);
    const options = { world, process, name: 'counter', code: failed, random, rates: {} } as const;
    const port = faulty(counter, { ...options, delayMs: [100, 100] });
    const answers: unknown[] = [];
    void port.add(1).then((answer) => answers.push(answer));
    world.schedule(150, () => {
      void port.add(10).then((answer) => answers.push(answer));
      process.crash();
    });
    await world.runFor(MINUTE_MS);
    // The first call had arrived and was executed. The second had not been sent.
    assert.deepEqual([answers, await counter.read()], [[], 1]);
  });
});
