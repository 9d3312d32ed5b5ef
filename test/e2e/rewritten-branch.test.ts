// Somebody force-pushes the target branch past what landed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

describe('a rewritten branch', { timeout: 120_000 }, () => {
  const world = useServer();

  it('that lost a landing says so, and the pull request lands again [N14] [E19]', async () => {
    const queue = await world.aQueue();
    const name = `local/acme/${queue.repo.name}`;
    const begin = await queue.git.git(['rev-parse', 'main']);
    const number = await queue.submitOne();
    await queue.ci.report(await queue.ci.runOf(number), 'SUCCESS');
    await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    await queue.git.git(['update-ref', 'refs/heads/main', begin]);
    await queue.git.commit('main', { files: { 'other.txt': 'x\n' }, message: 'Another history' });
    const lost = await until('the loss is known', 60_000, async () => {
      const { out } = await sluice(['pr', 'status', name, 'main', `${number}`], { env: world.server.env });
      return out.includes('no longer contains it') ? out : undefined;
    });
    assert.match(lost, /Landed as [0-9a-f]{12}; main was rewritten at .* Submit it again, or ask who pushed\./s);
    await queue.submit(number);
    await queue.ci.report(await queue.ci.runOf(number), 'SUCCESS');
    const again = await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    assert.equal(again.lostAt, undefined);
    assert.equal(await queue.git.git(['show', 'main:other.txt']), 'x');
  });
});
