import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { madeForEach } from '../../../test/helpers/made.ts';
import { HostedWorld } from '../../../test/worlds/shell/hosted-world.ts';
import type { Sha } from '../../lib/sha.ts';
import type { App } from '../core/app.ts';
import { receiveWebhook, sendersAt } from './receive-webhook.ts';

const world = madeForEach(() => HostedWorld.create());

/** The number of stored hints. */
async function countHints(app: App = world.app): Promise<number> {
  let hints = 0;
  for (const delivery of world.hosting.deliveries.splice(0)) {
    const receipt = await receiveWebhook(app, sendersAt(app, { kind: 'github', host: undefined }), delivery);
    hints += receipt.kind === 'received' ? receipt.hints : 0;
  }
  return hints;
}

const checksOf = (sha: Sha, check?: string) => ({ kind: 'checks', sha, ...(check && { check }) }) as const;

describe('a webhook', () => {
  test('about commits, branches and labels that no queue waits for is not stored [G86]', async () => {
    const { hosting } = world;
    world.start();
    const number = await world.world.submit();
    await world.deliverAndPass(10_000);
    const tested = await world.testedSha();
    const stranger = 'f'.repeat(40) as Sha;
    hosting.tell('1', checksOf(stranger, 'ci'));
    hosting.tell('2', checksOf(stranger));
    hosting.tell('3', checksOf(tested, 'nobody requires it'));
    hosting.tell('4', { kind: 'branch', branch: 'a-feature' });
    hosting.tell('5', { kind: 'label', number, label: 'needs-docs' });
    // It is admitted, and its candidate is another commit.
    hosting.tell('6', checksOf(world.world.repository.getPullRequestHead(number), 'ci'));
    assert.equal(await countHints(), 0);
    hosting.tell('7', checksOf(tested, 'ci'));
    hosting.tell('8', checksOf(tested));
    hosting.tell('9', { kind: 'branch', branch: 'main' });
    hosting.tell('10', { kind: 'label', number, label: 'Trunk-Merge-Queue-Submit' });
    assert.equal(await countHints(), 4);
  });

  test('is stored by one server if only another one knows the candidate [G86]', async () => {
    const other = world.createServer();
    await other.queues.find(world.world.queueId);
    world.start();
    await world.world.submit();
    await world.deliverAndPass(10_000);
    world.hosting.tell('1', checksOf(await world.testedSha(), 'ci'));
    assert.equal(await countHints(other), 1);
  });

  test('about a check suite is stored while an entry waits: its head may be known a moment later [G86]', async () => {
    world.start();
    const { forge } = world.world;
    const find = forge.findPullRequest.bind(forge);
    forge.findPullRequest = async (query) => {
      const pr = await find(query);
      return pr && { ...pr, mergeability: 'NOT_MERGEABLE', blockReasons: ['awaitingCheck'] };
    };
    const number = await world.world.submit(undefined, 'another');
    world.hosting.tell('0', {
      kind: 'pull_request',
      number,
      headSha: world.world.repository.getPullRequestHead(number),
    });
    await world.deliverAndPass(10_000);
    const stranger = 'f'.repeat(40) as Sha;
    world.hosting.tell('1', checksOf(stranger));
    world.hosting.tell('2', checksOf(stranger, 'ci'));
    assert.equal(await countHints(), 1);
  });
});
