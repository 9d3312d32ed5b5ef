import assert from 'node:assert/strict';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createPlainWorld } from '../../test/contract/plain-repository.ts';
import { madeForEach } from '../../test/helpers/made.ts';
import type { Sha } from '../lib/sha.ts';
import { watchRefTimes } from './ref-times.ts';

/** Longer than times of files are unsure, shorter than they are trusted. */
const LATER_MS = 10_000;
/** Longer than a tick of the kernel's clock, by which it stamps files. */
const TICK_MS = 12;

describe('the times of refs [E35]', { skip: process.platform !== 'linux' }, () => {
  const world = madeForEach(() => createPlainWorld());
  let main: Sha;
  let aheadMs = LATER_MS;

  beforeEach(async () => {
    main = await world.commit('main', { files: { 'a.txt': 'a\n' } });
    aheadMs = LATER_MS;
  });

  const watch = () => watchRefTimes(world.path, () => Date.now() + aheadMs);

  it('change with every way to write a ref, and with nothing else', async () => {
    const times = watch();
    const other = await world.commitTo('refs/pull/7/head', main, { files: { b: 'b\n' } });
    let last = await times.findVersion();
    assert.notEqual(last, undefined);
    const ways: readonly (readonly string[])[] = [
      ['update-ref', 'refs/pull/7/head', main],
      ['update-ref', 'refs/pull/8/head', main],
      ['update-ref', 'refs/heads/deep/er', main],
      ['update-ref', 'refs/heads/deep/er', other],
      ['pack-refs', '--all'],
      ['update-ref', 'refs/heads/main', other],
      ['update-ref', '-d', 'refs/pull/8/head'],
      ['symbolic-ref', 'refs/heads/link', 'refs/heads/main'],
      ['fetch', '--quiet', '.', 'refs/heads/main:refs/heads/copy'],
    ];
    for (const way of ways) {
      assert.equal(await times.findVersion(), last, `before ${way.join(' ')}`);
      await sleep(TICK_MS);
      await world.git(way);
      const now = await times.findVersion();
      assert.notEqual(now, last, way.join(' '));
      last = now;
    }
    await world.git(['log', '--oneline', 'main']);
    await world.git(['for-each-ref']);
    assert.equal(await times.findVersion(), last);
  });

  it('of pull requests are looked at less often in a quiet repository, until objects come [E13]', async () => {
    const other = await world.commitTo('refs/pull/7/head', main, { files: { b: 'b\n' } });
    await world.git(['update-ref', 'refs/pull/8/head', main]);
    const times = watch();
    await times.findVersion();
    aheadMs += 60_000;
    const version = await times.findVersion();
    await sleep(TICK_MS);
    await world.git(['update-ref', 'refs/pull/7/head', main]);
    assert.equal(await times.findVersion(), version);
    aheadMs += 6_000;
    const moved = await times.findVersion();
    assert.notEqual(moved, version);
    // The same, but objects came ten seconds ago.
    const fresh = watch();
    aheadMs = -60_000;
    await fresh.findVersion();
    aheadMs = LATER_MS;
    await mkdir(join(world.path, 'objects', 'tmp_objdir-incoming-x'));
    const before = await fresh.findVersion();
    await sleep(TICK_MS);
    await world.git(['update-ref', 'refs/pull/7/head', other]);
    assert.notEqual(await fresh.findVersion(), before);
  });

  it('say nothing about a change of this moment, and are not trusted for long', async () => {
    const times = watch();
    aheadMs = 0;
    assert.equal(await times.findVersion(), undefined);
    aheadMs = LATER_MS;
    const version = await times.findVersion();
    assert.notEqual(version, undefined);
    // Written in place, which git never does.
    await writeFile(join(world.path, 'refs', 'heads', 'main'), `${main}\n`);
    assert.equal(await times.findVersion(), version);
    aheadMs += 10 * 60_000;
    assert.notEqual(await times.findVersion(), version);
  });

  it('leave a folder that is gone, moved or forbidden to git', async () => {
    const times = watch();
    assert.notEqual(await times.findVersion(), undefined);
    const version = await times.findVersion();
    await chmod(join(world.path, 'refs', 'heads'), 0o000);
    assert.notEqual(await times.findVersion(), version);
    await chmod(join(world.path, 'refs', 'heads'), 0o755);
    await rename(world.path, `${world.path}-moved`);
    assert.equal(await times.findVersion(), undefined);
    await rename(`${world.path}-moved`, world.path);
    assert.notEqual(await times.findVersion(), undefined);
    await rm(world.path, { recursive: true });
    assert.equal(await times.findVersion(), undefined);
  });
});
