// A disk that is full or read-only, under the repository and under the server.
import assert from 'node:assert/strict';
import { chmod, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { type BadDay, onBadDays, statusOf } from './bad-days.ts';
import { aCheckedQueue } from './checks.ts';
import { assertLanded } from './ci.ts';
import { launch, until } from './harness.ts';
import { createSmallDisk, findMountProblem, type SmallDisk } from './small-disk.ts';
import { openProcess, useServer } from './test-queue.ts';

const skip = await findMountProblem();

/** Moves the repository of a queue to a disk of its own. */
async function moveTo(disk: SmallDisk, { git }: BadDay): Promise<void> {
  const path = join(disk.folder, 'app.git');
  await git.git(['clone', '--quiet', '--mirror', git.path, path]);
  await rename(git.path, `${git.path}.old`);
  await symlink(path, git.path);
  await rm(`${git.path}.old`, { recursive: true });
}

describe('a small disk under the repository', { skip }, () => {
  const fixture = useServer();
  const disks: SmallDisk[] = [];
  const aQueue = async () => {
    const disk = await createSmallDisk(4);
    disks.push(disk);
    const queue = onBadDays(await fixture.aQueue());
    await moveTo(disk, queue);
    return { disk, queue };
  };
  after(async () => {
    for (const disk of disks) await disk.close();
  });

  it('full while a candidate is built: it waits, says why, and goes on when there is room [C16] [E15]', async () => {
    const { disk, queue } = await aQueue();
    const number = await queue.openPullRequest();
    const makeRoom = await disk.fill();
    await queue.submit(number);
    await queue.untilReason(number, 'TRYING_AGAIN', /could not be built: .*the disk is full\. Tried 2 times; the next/);
    assert.match(
      await statusOf(fixture.server, queue, number),
      /State +.*\(TESTING\).*the disk is full\. Tried \d times;/s,
    );
    await makeRoom();
    await assertLanded(queue, await queue.untilMerged(number));
    await queue.git.git(['fsck', '--strict']);
  });
});

describe('a small disk under the server', { skip }, () => {
  const onSmallDisk = async (t: TestContext, { isTemporary } = { isTemporary: false }) => {
    const disk = await createSmallDisk(24);
    // A server that runs as root keeps its work trees in the temporary folder.
    await chmod(disk.folder, 0o711);
    const temporary = isTemporary ? { TMPDIR: disk.folder } : {};
    const world = await openProcess(t, { SLUICE_DATA: join(disk.folder, 'data'), ...temporary });
    t.after(() => disk.close());
    return { disk, ...world };
  };
  const untilRoom = (queue: BadDay, number: number) =>
    until('there is room again', 30_000, async () => {
      const answer = await queue.api.post('submitPullRequest', queue.entry(number));
      return answer.status === 200 ? true : undefined;
    });

  it('full: what cannot be stored is refused in words, it is not ready, and goes on when there is room [C16] [D2] [D9]', async (t) => {
    const { disk, server, aQueue } = await onSmallDisk(t);
    const queue = onBadDays(await aQueue());
    const [one, two] = [await queue.submitOne(), await queue.openPullRequest()];
    const run = await queue.ci.runOf(one);
    const makeRoom = await disk.fill();
    const refused = await queue.api.refused('503 UNAVAILABLE', 'submitPullRequest', queue.entry(two));
    assert.match(refused.detail, /^The disk of the server is full: nothing was stored\./);
    const notReady = await until('it is not ready', 10_000, async () => {
      const response = await fetch(`${server.url}/readyz`);
      const text = await response.text();
      return response.status === 503 ? text : undefined;
    });
    assert.match(notReady, /The disk of the server is full/);
    assert.equal((await fetch(`${server.url}/healthz`)).status, 200);
    const metrics = await queue.api.send('../metrics');
    assert.match(metrics.text, /^sluice_http_requests_total\{route="\/readyz",status="503"\} \d+$/m, 'alerts see it');
    const result = { repo: queue.repo, testRunId: run.testRunId, name: 'test', status: 'COMPLETED' };
    await queue.api.refused('503 UNAVAILABLE', 'reportCheck', { ...result, conclusion: 'SUCCESS' });
    assert.equal((await queue.get(one)).state, 'TESTING');
    await until('the log says it', 5_000, async () => (/the disk is full/.test(server.output.err) ? true : undefined));
    await makeRoom();
    await untilRoom(queue, two);
    await until('it is ready', 10_000, async () => (await fetch(`${server.url}/readyz`)).ok || undefined);
    await assertLanded(queue, await queue.untilMerged(one));
    await assertLanded(queue, await queue.untilMerged(two));
  });

  for (const leftMegabytes of [0, 1 / 32, 1 / 4]) {
    it(`with ${leftMegabytes} MB left at a first start: it ends with a sentence and no stack [D9]`, async () => {
      const disk = await createSmallDisk(4);
      try {
        await disk.fill(leftMegabytes);
        const { exited, output } = launch({ SLUICE_DATA: join(disk.folder, 'data'), SLUICE_PORT: '0' });
        assert.equal((await exited).code, 1);
        assert.match(output.err, /cannot be used: (the disk is full|reading or writing its files failed)\./);
        assert.doesNotMatch(output.err, /\n\s+at /);
      } finally {
        await disk.close();
      }
    });
  }

  it('of another file system than the work trees: commits are copied all the same [R8]', async (t) => {
    const checks = [{ name: 'test', command: 'git status --porcelain; git fsck; test -f x.txt' }];
    const queue = onBadDays(await aCheckedQueue(await onSmallDisk(t), checks));
    const number = await queue.submitOne({ 'x.txt': 'x\n' });
    await assertLanded(queue, await queue.untilMerged(number));
  });

  it('full while the built-in runner works: checks wait for room, and say so [C16] [E15]', async (t) => {
    const world = await onSmallDisk(t, { isTemporary: true });
    const { disk, server } = world;
    const queue = onBadDays(await aCheckedQueue(world, [{ name: 'test', command: 'true' }]));
    // Larger than the free space, so that the work tree does not fit while the store still does.
    const files = { 'large.bin': 'x'.repeat(16 * 1024 * 1024) };
    const number = await queue.openPullRequest(files);
    const makeRoom = await disk.fill(8);
    await queue.submit(number);
    await queue.untilReason(number, 'TRYING_AGAIN', /^Its checks could not be started: .*unable to write file/);
    assert.match(await statusOf(server, queue, number), /State +.*\(TESTING\).*unable to write file/s);
    await makeRoom();
    await assertLanded(queue, await queue.untilMerged(number));
  });
});
