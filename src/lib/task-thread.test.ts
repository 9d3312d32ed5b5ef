import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { systemClock } from './clock.ts';
import { TaskThread } from './task-thread.ts';

interface Tasks extends Readonly<Record<string, (input: never) => unknown>> {
  readonly echo: (input: string) => string;
  readonly hang: (input: string) => string;
  readonly die: (input: string) => string;
}

const CODE = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ kind, input }) => {
  if (kind === 'die') process.exit(1);
  while (kind === 'hang');
  parentPort.postMessage(input === '' ? { problem: 'empty' } : { result: input });
});
`;

describe('a thread for tasks', () => {
  const entry = new URL(`data:text/javascript,${encodeURIComponent(CODE)}`);
  const thread = new TaskThread<Tasks>({ name: 'test', entry, clock: systemClock, log: silentLog });
  after(() => thread.stop());

  it('[T12] gives up a task that hangs or ends the thread, and does the others', async () => {
    const all = [
      thread.run('echo', 'one'),
      thread.run('hang', 'two', 300),
      thread.run('echo', 'three'),
      thread.run('die', 'four'),
      thread.run('echo', ''),
      thread.run('echo', 'six', 10_000),
    ];
    const told = (await Promise.allSettled(all)).map((each) =>
      each.status === 'fulfilled' ? each.value : (each.reason as Error).message,
    );
    const [two, four] = ['It took longer than 0.3 seconds.', 'The test thread ended.'];
    assert.deepEqual(told, ['one', two, 'three', four, 'empty', 'six']);
  });

  it('[T12] refuses tasks when it has stopped', async () => {
    const other = new TaskThread<Tasks>({ name: 'test', entry, clock: systemClock, log: silentLog });
    const under = other.run('hang', 'x');
    const waiting = other.run('echo', 'x');
    const stopped = other.stop();
    await assert.rejects(under, { code: 'SHUTTING_DOWN' });
    await assert.rejects(waiting, { code: 'SHUTTING_DOWN' });
    await assert.rejects(other.run('echo', 'x'), { code: 'SHUTTING_DOWN' });
    await stopped;
  });
});
