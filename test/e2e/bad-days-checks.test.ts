// Misbehaving checks on the built-in runner of a real server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onBadDays, statusOf } from './bad-days.ts';
import { aCheckedQueue, checkOf, untilLeft } from './checks.ts';
import { useServer } from './test-queue.ts';

describe('checks that misbehave', () => {
  const fixture = useServer({ SLUICE_RUNNER_PROTECTION: '' });
  const aQueue = async (...checks: Parameters<typeof aCheckedQueue>[1]) =>
    onBadDays(await aCheckedQueue(fixture, checks));

  for (const [what, command, words] of [
    ['a command that is not found', 'no-such-command-anywhere', /exit code 127/],
    ['a crash', 'kill -SEGV $$', /Crashed \(SIGSEGV\)/],
    ['an exit in a subshell of a pipe', 'true | (exit 9)', /exit code 9/],
  ] as const) {
    it(`${what} fails at once, with the reason [R20] [R34] [R21]`, async () => {
      const queue = await aQueue({ name: 'test', command });
      const number = await queue.submitOne();
      const { state, timeline } = await untilLeft(queue, number);
      assert.equal(state, 'FAILED');
      const [{ testRunId = '', reason } = { reason: '' }] = timeline ?? [];
      assert.equal(reason, 'TEST_RUN_REQUIRED_STATUS_FAILED');
      assert.match((await checkOf(queue, testRunId))?.summary ?? '', words);
      assert.equal(timeline?.filter((each) => each.reason === 'TEST_RUN_STARTED').length, 1);
      assert.match(await statusOf(fixture.server, queue, number), new RegExp(`sluice logs ${testRunId}`));
    });
  }

  it('a command with a byte that no command can have is refused [R21]', async () => {
    const queue = await aQueue();
    const checks = [{ name: 'test', command: 'true\0' }];
    await queue.api.refused('400 MALFORMED_JSON', 'registerRepository', { repo: queue.repo, checks });
  });
});
