import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { findSandboxFolders, findTools } from './sandbox-folders.ts';

describe('folders of PATH in a sandbox', () => {
  const find = (path: string, secrets: readonly string[] = ['/var/lib/sluice']) => findTools(path, secrets, '/home/ci');

  it('come with the folder above a bin, where the libraries are [R8]', () => {
    assert.deepEqual(find('/opt/node/bin:/home/ci/.nvm/v24/bin:/opt/tool/scripts'), [
      ...['/opt/node', '/home/ci/.nvm/v24', '/opt/tool/scripts'],
    ]);
  });

  it('never bring a home, the data folder or the whole of a top folder with them [R8]', () => {
    assert.deepEqual(find('/home/ci/bin:/home/other/bin:/opt/bin:/bin:/'), [
      ...['/home/ci/bin', '/home/other/bin', '/opt/bin', '/bin'],
    ]);
    assert.deepEqual(find('/srv/sluice/bin', ['/srv/sluice/data']), ['/srv/sluice/bin']);
    assert.deepEqual(find('/srv/sluice/data/bin', ['/srv/sluice/data']), []);
    assert.deepEqual(find(`${process.cwd()}/bin`), [`${process.cwd()}/bin`]);
  });

  it('are absolute, and none lies within another [R8]', () => {
    assert.deepEqual(find('bin::.:/opt/a/bin:/opt/a/bin/:/opt/a/lib/tool'), ['/opt/a']);
  });
});

describe('folders of a sandbox', () => {
  let work = '';
  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'sluice-folders-'));
    await mkdir(join(work, 'data', 'inner'), { recursive: true });
    await mkdir(join(work, 'cache'));
    await writeFile(join(work, 'file'), '');
  });
  after(() => rm(work, { recursive: true }));
  const find = (more: { tools?: string[]; caches?: string[]; secrets?: string[] }) =>
    findSandboxFolders({ tools: [], caches: [], secrets: [join(work, 'data')], ...more, work, user: undefined });

  it('hide the data folder where it lies in one of them [R8]', async () => {
    assert.deepEqual((await find({})).hidden, []);
    assert.deepEqual((await find({ secrets: ['/usr/share', '/srv/none'] })).hidden, ['/usr/share']);
  });

  it('are refused where they are none, or have files of the server in them [R8]', async () => {
    for (const folder of [join(work, 'nothing'), join(work, 'file'), work, join(work, 'data', 'inner'), '/']) {
      const isRefused = (error: unknown) => error instanceof Fault && error.code === 'MISCONFIGURED';
      await assert.rejects(find({ caches: [folder] }), isRefused, folder);
      await assert.rejects(find({ tools: [folder] }), isRefused, folder);
    }
    assert.deepEqual((await find({ caches: [join(work, 'cache')] })).caches, [join(work, 'cache')]);
  });
});
