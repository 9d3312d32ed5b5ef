// Objects of a repository that are truncated, lost, or unreadable.
import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type BadDay, onBadDays } from './bad-days.ts';
import { assertLanded } from './ci.ts';
import { useServer } from './test-queue.ts';

/** Truncates an object in the middle. Returns its repair. */
async function damage({ git }: BadDay, name: string): Promise<() => Promise<void>> {
  const sha = await git.git(['rev-parse', name]);
  const file = join(git.path, 'objects', sha.slice(0, 2), sha.slice(2));
  const bytes = await readFile(file);
  const replace = async (content: Buffer) => {
    // A process that has the old file open keeps it.
    await rm(file);
    await writeFile(file, content, { mode: 0o444 });
  };
  await replace(bytes.subarray(0, Math.floor(bytes.length / 2)));
  return () => replace(bytes);
}

/** Every object in a file of its own, as small pushes leave them. */
async function unpack({ git }: BadDay): Promise<void> {
  const folder = join(git.path, 'objects', 'pack');
  for (const name of (await readdir(folder)).filter((each) => each.endsWith('.pack'))) {
    const bytes = await readFile(join(folder, name));
    for (const kind of ['pack', 'idx', 'rev'])
      await rm(join(folder, name.replace('.pack', `.${kind}`)), { force: true });
    await git.git(['unpack-objects', '-q'], bytes);
  }
}

/**
 * Moves every object into a pack beside the folder of packs, which it returns. The pack was never in its place, because a
 * process that has it open keeps it.
 */
async function losePack({ git }: BadDay): Promise<string> {
  const objects = join(git.path, 'objects');
  const folder = join(objects, 'pack');
  await mkdir(`${folder}.aside`);
  await git.git(['pack-objects', '--quiet', '--all', join(`${folder}.aside`, 'pack')], Buffer.alloc(0));
  const loose = (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name));
  for (const name of loose) await rm(join(objects, name), { recursive: true });
  await rm(folder, { recursive: true });
  await mkdir(folder);
  return folder;
}

describe('a damaged repository', () => {
  const fixture = useServer();
  const aQueue = async (settings = {}) => onBadDays(await fixture.aQueue(settings));
  /** The texts must not reveal the server's own folders. */
  const assertClear = (text: string, { git }: BadDay) => assert.ok(!text.includes(git.folder), text);

  for (const part of ['', '^{tree}']) {
    const what = part === '' ? 'commit' : 'tree';

    it(`a ${what} of the target, cut off: everything waits, and says why [C16] [E15]`, async () => {
      const queue = await aQueue();
      await queue.git.commit('main', { files: { 'base.txt': 'base\n' }, message: 'Base' });
      const [number, other] = [await queue.openPullRequest(), await queue.openPullRequest()];
      await unpack(queue);
      await queue.submit(number);
      const run = await queue.ci.runOf(number);
      const repair = await damage(queue, `main${part}`);
      const problem = await queue.api.refused('502 FORGE_UNAVAILABLE', 'submitPullRequest', queue.entry(other));
      assertClear(problem.detail, queue);
      await queue.ci.report(run, 'SUCCESS');
      await queue.untilReason(number, 'TRYING_AGAIN', /^Landing it failed: .*is corrupt/);
      assert.equal((await queue.alarms()).includes('TARGET_GONE'), false);
      await repair();
      await queue.submit(other);
      await assertLanded(queue, await queue.untilMerged(number));
      await assertLanded(queue, await queue.untilMerged(other));
      await queue.git.git(['fsck', '--strict']);
    });
  }

  it('a file of a pull request, cut off: the built-in runner waits, and says why [C16] [E15]', async () => {
    const queue = await aQueue({ requiredStatuses: null });
    await queue.api.ok('registerRepository', { repo: queue.repo, checks: [{ name: 'test', command: 'cat x.txt' }] });
    const number = await queue.openPullRequest({ 'x.txt': 'x\n' });
    await unpack(queue);
    const repair = await damage(queue, `refs/pull/${number}/head:x.txt`);
    await queue.submit(number);
    const text = await queue.untilReason(number, 'TRYING_AGAIN', /^Its checks could not be started: /);
    assertClear(text, queue);
    await repair();
    await assertLanded(queue, await queue.untilMerged(number));
  });

  it('an entry that waits for a damaged pull request is freed by a push to it [C47] [L6]', async () => {
    const queue = await aQueue();
    const [broken, other] = [await queue.openPullRequest(), await queue.openPullRequest()];
    const spare = await queue.git.commitTo('refs/heads/spare', await queue.git.git(['rev-parse', 'main']), {
      files: { 'spare.txt': 'x\n' },
    });
    await unpack(queue);
    await queue.submit(broken);
    await queue.submit(other);
    const run = await queue.ci.runOf(broken);
    await damage(queue, `refs/pull/${broken}/head`);
    await queue.ci.report(run, 'SUCCESS');
    await queue.untilReason(other, 'TRYING_AGAIN', new RegExp(`^Landing #${broken} failed: .*is corrupt`));
    await queue.git.git(['update-ref', `refs/pull/${broken}/head`, spare]);
    await queue.ci.untilState(broken, 'FAILED');
    assert.equal((await queue.ci.storyOf(broken)).at(-1), 'FAILED PR_UPDATED_AT_MERGE_TIME');
    await assertLanded(queue, await queue.untilMerged(other));
  });

  it('a pack that is lost: its objects are not taken for absent, and everything waits [C46] [E15]', async () => {
    const queue = await aQueue();
    const [number, other] = [await queue.openPullRequest(), await queue.openPullRequest()];
    await queue.submit(number);
    const run = await queue.ci.runOf(number);
    const folder = await losePack(queue);
    await queue.api.refused('502 FORGE_UNAVAILABLE', 'submitPullRequest', queue.entry(other));
    await queue.ci.report(run, 'SUCCESS');
    await queue.untilReason(number, 'TRYING_AGAIN', /^Landing it failed: .*missing object/);
    await queue.untilReason(number, 'FORGE_UNAVAILABLE', /missing object/);
    assert.equal((await queue.alarms()).includes('TARGET_GONE'), false);
    await rm(folder, { recursive: true });
    await rename(`${folder}.aside`, folder);
    await queue.submit(other);
    await assertLanded(queue, await queue.untilMerged(number));
    await assertLanded(queue, await queue.untilMerged(other));
    await queue.git.git(['fsck', '--strict']);
  });

  for (const lock of ['refs/heads/main.lock', 'packed-refs.lock']) {
    it(`a ${lock} that a dead process left: it waits, and says why [C16] [E15]`, async () => {
      const queue = await aQueue();
      const number = await queue.submitOne();
      const run = await queue.ci.runOf(number);
      await queue.git.git(['pack-refs', '--all']);
      await writeFile(join(queue.git.path, lock), '');
      await queue.ci.report(run, 'SUCCESS');
      if (lock.startsWith('refs')) await queue.untilReason(number, 'TRYING_AGAIN', /main\.lock': File exists/);
      await rm(join(queue.git.path, lock));
      await assertLanded(queue, await queue.untilMerged(number));
    });
  }
});
