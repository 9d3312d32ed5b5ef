import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Fault } from '../../lib/fault.ts';
import { findMarked, MARK } from '../../lib/marked-processes.ts';
import { createJobFolder, createWorkFolder, giveTo, removeFolder, removeLeftovers } from './work-folder.ts';

const UIDS = { first: 61_064, last: 61_099 };
const isRoot = process.getuid?.() === 0;
const folders: string[] = [];
after(async () => {
  for (const folder of folders) await removeFolder(folder);
});

async function makeParent(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-work-'));
  folders.push(folder);
  return join(folder, 'runner');
}

/** Leaves a folder like a killed server: its owner is a process that no longer exists. */
async function leaveBehind(parent: string, mark: string, owner: string): Promise<void> {
  await mkdir(join(parent, mark, '1', 'tree'), { recursive: true });
  await writeFile(join(parent, mark, 'owner'), owner);
}

describe('the folder of a runner', () => {
  it('keeps what belongs to a server that lives, and removes what belongs to none [R7]', async () => {
    const parent = await makeParent();
    const { path } = await createWorkFolder(parent, 'alive');
    await createJobFolder({ path, mark: 'alive' }, '1');
    await leaveBehind(parent, 'dead', JSON.stringify({ pid: 2 ** 22 - 1, startedAt: '1' }));
    await leaveBehind(parent, 'number-used-again', JSON.stringify({ pid: process.pid, startedAt: '1' }));
    await leaveBehind(parent, 'torn', '{"pid":');
    await leaveBehind(parent, 'odd', 'null');
    assert.equal(await removeLeftovers(parent, UIDS), 4);
    assert.deepEqual(await readdir(parent), ['alive']);
    assert.deepEqual((await readdir(path)).toSorted(), ['1', 'owner']);
  });

  it('there is nothing to remove before the first start [R7]', async () => {
    assert.equal(await removeLeftovers(await makeParent(), UIDS), 0);
  });

  it('ends the processes of a server that died before it removes their folders [R7]', {
    skip: process.platform !== 'linux',
  }, async () => {
    const parent = await makeParent();
    const mark = `dead-${process.pid}`;
    await leaveBehind(parent, mark, '{}');
    const child = spawn('sleep', ['1000'], { env: { PATH: process.env['PATH'], [MARK]: `${mark}.1.` } });
    await once(child, 'spawn');
    const ended = once(child, 'exit');
    await removeLeftovers(parent, UIDS);
    assert.deepEqual(await ended, [null, 'SIGKILL']);
    assert.deepEqual(await findMarked(mark), []);
  });

  it('is refused where others can write [R8]', async () => {
    const parent = await makeParent();
    await mkdir(parent);
    await chmod(parent, 0o777);
    const isFault = (error: unknown) => error instanceof Fault && error.code === 'MISCONFIGURED';
    await assert.rejects(createWorkFolder(parent, 'mark'), isFault);
    await rm(parent, { recursive: true });
    await symlink(tmpdir(), parent);
    await assert.rejects(createWorkFolder(parent, 'mark'), isFault);
  });

  it('a job whose folder cannot be made is tried again later, not failed [R7]', async () => {
    const parent = await makeParent();
    const work = await createWorkFolder(parent, 'mark');
    await createJobFolder(work, '1');
    await assert.rejects(
      createJobFolder(work, '1'),
      (error) => error instanceof Fault && error.code === 'RUNNER_UNAVAILABLE' && /EEXIST/.test(error.detail),
    );
  });

  it('closed folders are removed too [R20]', async () => {
    const parent = await makeParent();
    const closed = join(parent, 'a', 'b');
    await mkdir(closed, { recursive: true });
    await writeFile(join(closed, 'file'), '');
    await chmod(closed, 0);
    await chmod(join(parent, 'a'), 0);
    await removeFolder(parent);
    await assert.rejects(readdir(parent), /ENOENT/);
  });

  it('of somebody else is emptied by that somebody: root follows no path in it [R8]', { skip: !isRoot }, async () => {
    const parent = await makeParent();
    await chmod(dirname(parent), 0o711);
    const job = await createJobFolder(await createWorkFolder(parent, 'mark'), '1');
    const [kept, closed] = [join(dirname(parent), 'kept'), join(job.tree, 'closed')];
    await mkdir(kept, { mode: 0o755 });
    await writeFile(join(kept, 'file'), '');
    await mkdir(closed);
    await writeFile(join(closed, 'file'), '');
    await symlink(kept, join(job.tree, 'link'));
    await giveTo({ uid: 61_099, gid: 61_099 }, job);
    await chmod(closed, 0);
    // The user of the job cannot remove a folder of root. That it survives proves that root did not walk here.
    await mkdir(join(job.home, 'root'));
    await writeFile(join(job.home, 'root', 'file'), '');
    await assert.rejects(removeFolder(job.path), /ENOTEMPTY/);
    assert.deepEqual(await readdir(job.path), ['home']);
    await writeFile(join(parent, 'mark', 'owner'), '');
    assert.equal(await removeLeftovers(parent, UIDS), 0, 'and nobody is kept from starting');
    await rm(join(job.home, 'root'), { recursive: true });
    await removeFolder(job.path);
    await assert.rejects(readdir(job.path), /ENOENT/);
    assert.deepEqual(await readdir(kept), ['file']);
  });

  it('a job whose folder cannot be given away is tried again later, not failed [R8]', async () => {
    const parent = await makeParent();
    const job = await createJobFolder(await createWorkFolder(parent, 'mark'), '1');
    const nowhere = { ...job, tree: join(parent, 'nowhere') };
    await assert.rejects(
      giveTo({ uid: 65_534, gid: 65_534 }, nowhere),
      (error) => error instanceof Fault && error.code === 'RUNNER_UNAVAILABLE',
    );
  });
});
