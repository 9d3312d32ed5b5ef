import assert from 'node:assert/strict';
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { TrustedPaths } from './trusted-path.ts';

const ME = process.getuid?.() ?? 0;
const SOMEBODY = 12_345;

describe('paths that only their owner can change', () => {
  let folder: string;
  let file: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-trust-'));
    file = join(folder, 'deep', 'file');
    await mkdir(join(folder, 'deep'), { mode: 0o755 });
    await writeFile(file, '', { mode: 0o644 });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const find = (path: string, owner = ME) => new TrustedPaths(owner).findProblem(path);

  test('a file of ours in folders of ours is ours, also below a sticky folder [L14]', async () => {
    await chmod(folder, 0o1777);
    assert.equal(await find(file), undefined);
    assert.match((await find(folder)) ?? '', /can be written by other users/);
  });

  test('a file, folder or link of somebody else is not [L14]', async () => {
    // Only root can change the owner of a file. Other users check with another owner id instead.
    if (ME !== 0) {
      assert.match((await find(file, SOMEBODY)) ?? '', /belongs to another user/);
      return;
    }
    const link = join(folder, 'link');
    await symlink(file, link);
    assert.equal(await find(link), undefined);
    for (const path of [file, join(folder, 'deep')]) {
      await chown(path, SOMEBODY, SOMEBODY);
      for (const way of [file, link]) assert.equal(await find(way), `${path} belongs to another user (id ${SOMEBODY})`);
      assert.equal(await find(file, SOMEBODY), undefined);
      await chown(path, 0, 0);
    }
  });

  test('links are followed one by one, up and down, and not for ever [L14]', async () => {
    await mkdir(join(folder, 'open'));
    await chmod(join(folder, 'open'), 0o777);
    await symlink('../deep/file', join(folder, 'open', 'back'));
    await symlink('open/back', join(folder, 'through'));
    assert.match((await find(join(folder, 'through'))) ?? '', /\/open can be written by other users/);
    await symlink('loop', join(folder, 'loop'));
    assert.match((await find(join(folder, 'loop'))) ?? '', /too many symbolic links/);
  });

  test('a missing path counts as changed by anyone who can create it [L14]', async () => {
    assert.equal(await find(join(folder, 'deep', 'none', 'at', 'all')), undefined);
    await chmod(folder, 0o1777);
    assert.equal(
      await find(join(folder, 'none', 'at', 'all')),
      `${join(folder, 'none')} does not exist, and other users can create it`,
    );
  });
});
