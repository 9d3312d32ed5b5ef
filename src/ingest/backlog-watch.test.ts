import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { createBacklogWatch } from './backlog-watch.ts';

const SECOND = 1000;

describe('the watch over waiting uploads [U40]', () => {
  function createWatch() {
    const world = { now: 0, waiting: 0, oldestAt: null as number | null, looks: 0 };
    const lines: string[] = [];
    const note = (level: string) => (facts: object, text: string) =>
      void lines.push(`${level} ${text} ${JSON.stringify(facts)}`);
    const measure = async () => {
      world.looks += 1;
      return { waiting: world.waiting, oldestAt: world.oldestAt };
    };
    const clock = { now: () => world.now };
    const watch = createBacklogWatch({
      uploadWork: { measure },
      clock,
      log: { ...silentLog, info: note('info'), warn: note('warn') },
    });
    const pass = async (seconds: number) => {
      for (let passed = 0; passed < seconds; passed += 1) {
        world.now += SECOND;
        await watch();
      }
    };
    return { world, lines, watch, pass };
  }

  it('warns once a minute while the oldest is older than a minute, and says when that is over', async () => {
    const { world, lines, pass } = createWatch();
    Object.assign(world, { waiting: 3, oldestAt: 0 });
    await pass(60);
    assert.deepEqual(lines, []);
    await pass(120);
    assert.equal(lines.length, 2);
    assert.match(lines[0] ?? '', /^warn uploads wait to be processed {"waiting":3,"oldestSeconds":(7|8|9)\d}$/);
    Object.assign(world, { waiting: 1, oldestAt: world.now });
    await pass(30);
    assert.deepEqual(lines.slice(2), ['info uploads no longer wait to be processed {"waiting":1}']);
  });

  it('says nothing of an old upload that is processed at once, and seldom looks', async () => {
    const { world, lines, pass } = createWatch();
    world.now = 1_000_000;
    Object.assign(world, { waiting: 1, oldestAt: 0 });
    await pass(1);
    Object.assign(world, { waiting: 0, oldestAt: null });
    await pass(59);
    assert.deepEqual(lines, []);
    assert.equal(world.looks, 4);
  });

  it('does not warn more often where it comes and goes', async () => {
    const { world, lines, pass } = createWatch();
    world.now = 1_000_000;
    for (let times = 0; times < 2; times += 1) {
      Object.assign(world, { waiting: 1, oldestAt: 0 });
      await pass(30);
      Object.assign(world, { waiting: 0, oldestAt: null });
      await pass(15);
    }
    assert.deepEqual(
      lines.map((line) => line.split(' ')[0]),
      ['warn', 'info'],
    );
  });
});
