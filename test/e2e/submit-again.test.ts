import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TestQueue, useServer } from './test-queue.ts';

describe('a pull request that has landed', () => {
  const place = useServer();

  async function landOne(mergeMethod: string): Promise<{ readonly queue: TestQueue; readonly number: number }> {
    const queue = await place.aQueue({ requiredStatuses: [], mergeMethod });
    const number = await queue.submitOne();
    await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    return { queue, number };
  }

  for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE']) {
    it(`[E19] is not queued a second time by a submission that is repeated (${mergeMethod})`, async () => {
      const { queue, number } = await landOne(mergeMethod);
      await queue.api.refused('422 PULL_REQUEST_NOT_ENQUEUEABLE', 'submitPullRequest', queue.entry(number));
      assert.equal((await queue.get(number)).state, 'MERGED');
    });
  }

  it('[E3] is queued again after a push, and when the target lost it', async () => {
    const { queue, number } = await landOne('SQUASH');
    await queue.push(number);
    await queue.submit(number);
    await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    await queue.git.git(['update-ref', 'refs/heads/main', 'main~2']);
    await queue.submit(number);
    await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    assert.equal(await queue.git.git(['rev-list', '--count', 'main']), '2');
  });
});
