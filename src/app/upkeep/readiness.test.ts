import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, open, readdir, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Fault } from '../../lib/fault.ts';
import { createMemoryStore } from '../../storage/sqlite/create-memory-store.ts';
import { createReadiness } from './readiness.ts';

describe('a server', () => {
  const store = createMemoryStore();
  let folder: string;
  let now = 0;
  let timers: (() => void)[] = [];
  const clock = {
    now: () => now,
    after: (_: number, act: () => void) => {
      timers.push(act);
      return () => {
        timers = timers.filter((each) => each !== act);
      };
    },
  };
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-ready-'));
  });
  after(async () => {
    await store.close();
    await rm(folder, { recursive: true });
  });
  const told = (sentence: RegExp) => (error: unknown) => error instanceof Fault && sentence.test(error.told ?? '');

  test('is ready if its disk takes a write; the answer counts for 2 s [D9] [D26] [D27]', async () => {
    const check = createReadiness({ store, clock }, folder);
    await check();
    assert.deepEqual(await readdir(folder), []);
    await symlink('/dev/full', join(folder, 'room-check'));
    await check();
    now += 2_001;
    await assert.rejects(check, told(/^The disk of the server is full/));
    await assert.rejects(check, told(/full/));
    now += 2_001;
    await check();
    assert.deepEqual(timers, []);
  });

  test('is not ready without its data folder, and the sentence does not name the folder [D26]', async () => {
    const check = createReadiness({ store, clock }, join(folder, 'gone'));
    await assert.rejects(check, told(/^The data folder cannot be written: [^/]+\.$/));
  });

  test('is not ready while its disk hangs, asks the disk once, and is ready again when the disk answers [D27]', async () => {
    const pipe = join(folder, 'room-check');
    await promisify(execFile)('mkfifo', [pipe]);
    const check = createReadiness({ store, clock }, folder);
    const asked = [check(), check()];
    let written = 0;
    try {
      // The store has answered by then, and the disk is waited for.
      await setImmediate();
      assert.equal(timers.length, 2);
      for (const late of timers) late();
      for (const answer of asked) {
        await assert.rejects(answer, told(/^The disk of the data folder did not answer within 4 s\.$/));
      }
      now += 60_000;
      asked.push(check());
    } finally {
      // Opening the other end lets the first write go on.
      const reader = await open(pipe, 'r');
      written = (await reader.readFile()).length;
      await reader.close();
    }
    await asked.at(-1);
    assert.equal(written, 256 * 1024);
  });

  test('is not ready while its store fails, and only the log has the reason [D26]', async () => {
    const fail = async () => {
      throw new Fault('STORE_UNAVAILABLE', 'PostgreSQL at db.acme.dev cannot be used: nothing listens there.');
    };
    await assert.rejects(
      createReadiness({ store: { ...store, ping: fail }, clock }),
      told(/^The store does not answer\.$/),
    );
  });
});
