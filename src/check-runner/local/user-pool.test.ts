import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdtemp, rmdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { findProcessesOf, killProcessesOf } from './user.ts';
import { UserPool } from './user-pool.ts';

const isRoot = process.getuid?.() === 0;
const ALONE = { sharesGroup: false };
const isUsedUp = (error: unknown) => error instanceof Fault && error.code === 'RUNNER_UNAVAILABLE';

describe('users of checks', { skip: !isRoot && 'only root hands them out' }, () => {
  it('are one for each check, also of two servers on one machine [R40] [R42]', async () => {
    const range = { first: 61_064, last: 61_066 };
    const [one, two] = [new UserPool(range, ALONE), new UserPool(range, ALONE)];
    const taken = await Promise.all([one.take(), one.take(), two.take()]);
    assert.deepEqual(taken.map(({ uid }) => uid).toSorted(), [61_064, 61_065, 61_066]);
    await assert.rejects(one.take(), isUsedUp);
    const [first] = taken;
    await one.giveBack(first);
    assert.deepEqual(await two.take(), first);
  });

  it('users of the pool have neither an account nor a process [R42]', async () => {
    await assert.rejects(new UserPool({ first: 65_534, last: 65_534 }, ALONE).take(), isUsedUp);
    const child = spawn('sleep', ['1000'], { uid: 61_067, gid: 61_067 });
    await once(child, 'spawn');
    const pool = new UserPool({ first: 61_067, last: 61_067 }, ALONE);
    await assert.rejects(pool.take(), isUsedUp);
    assert.equal(await killProcessesOf({ uid: 61_067, gid: 61_067 }), true);
    assert.equal((await pool.take()).uid, 61_067);
  });

  it('lose all their processes, however they hide, and their files in shared folders [R42]', async () => {
    const pool = new UserPool({ first: 61_068, last: 61_068 }, ALONE);
    const user = await pool.take();
    const script = `for i in 1 2 3 4 5; do (env -i /usr/bin/env setsid sleep 1000 &); done
      mktemp -d /tmp/sluice-stray-XXXXXX; sleep 1000`;
    const child = spawn('sh', ['-c', script], { ...user, stdio: ['ignore', 'pipe', 'ignore'] });
    const [bytes] = (await once(child.stdout, 'data')) as [Buffer];
    const left = bytes.toString().trim();
    const other = await mkdtemp('/tmp/sluice-stray-');
    assert.ok((await findProcessesOf(user.uid)).length > 0);
    await pool.clear(user);
    assert.deepEqual(await findProcessesOf(user.uid), []);
    await pool.giveBack(user);
    await assert.rejects(lstat(left), /ENOENT/);
    await rmdir(other);
  });

  it('never are root or an account of the system [R42]', async () => {
    for (const uid of [0, 1, 999]) await assert.rejects(killProcessesOf({ uid, gid: uid }), /nobody else/);
  });
});
