import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { storeQueue } from '../../../test/helpers/store-rows.ts';
import { createTestApp } from '../../../test/worlds/shell/create-app.ts';
import { ManualClock, NOON } from '../../../test/worlds/shell/manual-clock.ts';
import { openSqliteStore } from '../../storage/sqlite/open-sqlite-store.ts';
import { Backups, nameBackup } from '../core/backups.ts';
import { isRefusal } from '../core/refusal.ts';
import { createBackup, createBackupRounds } from './backup.ts';
import { describeServer } from './server-metrics.ts';

const HOUR_MS = 3_600_000;
const SCHEDULE = { everyMs: 6 * HOUR_MS, keep: 2 };

/** A real store, a folder for its backups, and a clock that the test moves. */
async function createWorld(context: TestContext) {
  const directory = await mkdtemp(path.join(tmpdir(), 'sluice-backups-'));
  context.after(() => rm(directory, { recursive: true, force: true }));
  const store = await openSqliteStore({ directory: path.join(directory, 'data') });
  context.after(() => store.close());
  await storeQueue(store);
  const folder = path.join(directory, 'kept');
  await mkdir(folder);
  const clock = new ManualClock();
  const errors: string[] = [];
  const log = { ...silentLog, error: (_facts: object, text: string) => void errors.push(text) };
  const backups = new Backups({ folder, isChosen: true });
  const app = createTestApp({ store, forges: new Map(), clock, log, backups });
  const rounds = createBackupRounds(app, SCHEDULE);
  context.after(() => rounds.stop());
  const names = async () => (await readdir(folder)).sort();
  /** Copying takes real time, in which the clock stands still. */
  const pass = async (ms: number, isDone: () => boolean | Promise<boolean>) => {
    await clock.pass(ms);
    // The round has ended once the next one is set.
    for (let tries = 0; !(await isDone()) || clock.waiting === 0; tries += 1) {
      assert.ok(tries < 500, 'it did not happen');
      await pause(10);
    }
  };
  return { app, store, folder, clock, errors, rounds, names, pass };
}

async function readMetrics(world: Awaited<ReturnType<typeof createWorld>>): Promise<string> {
  return describeServer(world.app, []);
}

describe('backups on a schedule', { timeout: 60_000 }, () => {
  it('are made when they are due, and the newest are kept [D20] [D21] [M10]', async (context) => {
    const world = await createWorld(context);
    const { names, pass, folder, clock } = world;
    await writeFile(path.join(folder, 'sluice-important.db'), 'of a person');
    const partial = `sluice-2026-01-01T00-00-00.000Z.db.${crypto.randomUUID()}.partial`;
    await writeFile(path.join(folder, partial), 'of a killed server');
    world.rounds.start();
    const at = [2_000];
    await pass(2_000, async () => (await names()).length === 2);
    for (const count of [3, 3, 3]) {
      at.push((at.at(-1) ?? 0) + SCHEDULE.everyMs);
      const expected = nameBackup(NOON + (at.at(-1) ?? 0), 'sluice-');
      await pass(SCHEDULE.everyMs, async () => (await names()).includes(expected) && (await names()).length === count);
    }
    const kept = at.slice(-2).map((ms) => nameBackup(NOON + ms, 'sluice-'));
    assert.deepEqual(await names(), [...kept, 'sluice-important.db']);
    await clock.pass(HOUR_MS);
    const { size } = await stat(path.join(folder, kept[1] ?? ''));
    const metrics = await readMetrics(world);
    assert.match(metrics, /^mq_backup_age_seconds\{\} 3600$/m);
    assert.match(metrics, new RegExp(`^mq_backup_size_bytes\\{\\} ${size}$`, 'm'));
    assert.match(metrics, /^mq_backup_failures_total\{\} 0$/m);
  });

  it('continue after a restart where they stopped, and catch up a missed one [D20] [M10]', async (context) => {
    const { app, names, pass, rounds, clock, folder } = await createWorld(context);
    await createBackup(app, {});
    const again = new Backups({ folder, isChosen: true });
    await again.load();
    assert.deepEqual(again.last, app.backups.last);
    rounds.start();
    await clock.pass(SCHEDULE.everyMs - HOUR_MS);
    assert.equal((await names()).length, 1);
    await pass(HOUR_MS, async () => (await names()).length === 2);
  });

  it('say that they failed, and are tried again soon [D20] [D25]', async (context) => {
    const world = await createWorld(context);
    const { app, names, pass, rounds, folder, errors } = world;
    await rm(folder, { recursive: true });
    rounds.start();
    await pass(2_000, () => app.backups.failures === 1);
    assert.deepEqual(errors, ['The scheduled backup failed. The server tries again.']);
    const metrics = await readMetrics(world);
    assert.match(metrics, /^mq_backup_failures_total\{\} 1$/m);
    assert.doesNotMatch(metrics, /mq_backup_age_seconds/);
    await mkdir(folder);
    await pass(10 * 60_000, async () => (await names()).length === 1);
  });

  it('do not wait for a clock that was set back [D20]', async (context) => {
    const { app, names, pass, rounds, clock } = await createWorld(context);
    await createBackup(app, {});
    clock.setBack(48 * HOUR_MS);
    rounds.start();
    await pass(2_000, async () => (await names()).length === 2);
  });
});

describe('a backup that a person asks for', () => {
  it('is refused where the folder does not exist [D24]', async (context) => {
    const { app, folder } = await createWorld(context);
    const missing = path.join(folder, 'missing');
    const answer = await createBackup(app, { file: path.join(missing, 'x.db') });
    assert.ok(isRefusal(answer));
    assert.equal(answer.detail, `The folder ${missing} does not exist on the server's machine. Create it first.`);
    assert.deepEqual(await readdir(folder), []);
  });
});
