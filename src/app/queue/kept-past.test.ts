import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { endWithProcess } from '../../../test/helpers/children.ts';
import { act, perform } from '../../../test/worlds/engine/random-acts.ts';
import { Scenario } from '../../../test/worlds/engine/scenario.ts';
import { PastWorld } from '../../../test/worlds/shell/past-world.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';

const PRS = [1, 2, 3, 4];
const CHILD = fileURLToPath(new URL('../../../test/helpers/pack-child.ts', import.meta.url));

function makeFolder(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-kept-'));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** A queue with some history, and what it answered meanwhile. */
async function makePast(directory: string): Promise<PastWorld> {
  const world = await PastWorld.create(await openSqliteStore({ directory }), { concurrency: 3 });
  const story = new Scenario({ concurrency: 3 });
  const [acts = []] = fc.sample(fc.array(act, { minLength: 300, maxLength: 300, size: 'max' }), {
    seed: 11,
    numRuns: 1,
  });
  for (const each of acts) perform(story, each);
  for (const [index, event] of story.events.entries()) {
    await world.happen([{ ...event, at: event.at + index }]);
    if (index % Math.ceil(story.events.length / 12) === 0) await world.remember(PRS, [undefined]);
  }
  return world;
}

/** Another server on this store answers about every instant as the first one did. */
async function check(directory: string, { given, now }: Pick<PastWorld, 'given' | 'now'>): Promise<void> {
  const store = await openSqliteStore({ directory });
  const world = await PastWorld.reopen(store, now);
  world.given.push(...given);
  await world.checkAll(PRS, [undefined]);
  await store.close();
}

/** Kills it so long after it began a pack; without a time, it may end. False if it was killed. */
async function pack(directory: string, now: number, killAfterMs?: number): Promise<boolean> {
  const child = spawn(process.execPath, [CHILD, directory, `${now}`], { stdio: ['ignore', 'pipe', 'inherit'] });
  endWithProcess(child);
  child.stdout.once('data', () => {
    if (killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  });
  const [code] = await once(child, 'close');
  assert.ok(code === null || code === 0, `it ended with ${code}`);
  return code === 0;
}

describe('the kept past', () => {
  it('answers as before after kill -9 while it is packed [Y2] [Y7]', async (t) => {
    const directory = makeFolder(t);
    const world = await makePast(directory);
    await world.store.close();
    const ends: boolean[] = [];
    for (const killAfterMs of [0, 6, undefined]) {
      ends.push(await pack(directory, world.now, killAfterMs));
      await check(directory, world);
    }
    assert.deepEqual([ends[0], ends.at(-1)], [false, true]);
  });

  it('is part of a backup [Y2] [D5]', async (t) => {
    const directory = makeFolder(t);
    const world = await makePast(directory);
    const half = world.given[6]?.at ?? 0;
    await world.pack({ bytes: 1, before: 0, now: half });
    const restored = makeFolder(t);
    await world.store.snapshots?.backup(join(restored, 'sluice.db'));
    await world.store.close();
    await check(restored, world);
  });
});
