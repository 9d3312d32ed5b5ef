import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { aCheckedQueue, assertNothingLeft, logOf, testRunOf } from './checks.ts';
import { until } from './harness.ts';
import { openServer, type TestQueue, useServer } from './test-queue.ts';

/** The best protection that works on this machine. */
const PROTECTED = { SLUICE_RUNNER_PROTECTION: '' };

async function untilState(queue: TestQueue, number: number, state: string): Promise<void> {
  const entry = await queue.untilEntry(number, (found) => found.state === state || !found.isCurrentlySubmittedToQueue);
  assert.equal(entry.state, state);
}

/** The refs of a candidate are removed after its end. */
function untilOnlyMain({ git }: TestQueue): Promise<true> {
  return until('there is no other branch than main', 15_000, async () => {
    const refs = await git.git(['for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/sluice']);
    return refs === 'refs/heads/main' ? true : undefined;
  });
}

describe('the built-in runner', () => {
  const world = useServer(PROTECTED);

  it('[R1] tests what would land, and lands it', async () => {
    const queue = await aCheckedQueue(world, [
      { name: 'test', command: 'test -f a.txt && test -f new.txt && cat new.txt' },
    ]);
    const number = await queue.submitOne({ 'new.txt': 'hello from the change\n' });
    await untilState(queue, number, 'MERGED');
    const text = await logOf(queue, await testRunOf(queue, number));
    assert.match(
      text,
      /^\[Sluice\] "test" on main at [0-9a-f]{12} with #1, commit [0-9a-f]{40}.*\n\[Sluice\] \$ test -f/,
    );
    assert.match(text, /hello from the change\n\n\[Sluice\] Passed after/);
    assert.equal(await queue.git.git(['show', 'main:new.txt']), 'hello from the change');
    await assertNothingLeft(world.server);
  });

  it('[E37] [V38] names a missing command where the branch is held for it, until the command is changed', async () => {
    const queue = await aCheckedQueue(world, [{ name: 'test', command: 'no-such-tool' }]);
    const [first, second] = [await queue.submitOne(), await queue.submitOne()];
    const held = await until('the queue is held', 30_000, async () => (await queue.getQueue()).held);
    assert.match(held.text, /the queue is resumed \(sluice queue resume\), or the command of a check changes/);
    await untilState(queue, second, 'PENDING');
    const entry = { repo: queue.repo, targetBranch: 'main', pr: { number: second }, includeExplanation: true };
    const { explanation } = await queue.api.ok<EntryView>('getSubmittedPullRequest', entry);
    const [why] = explanation?.reasons ?? [];
    assert.match(why?.reasons[0]?.text ?? '', /exit code 127 \(a command was not found\) .* sluice logs [0-9a-f-]{36}/);
    const alarm = await until('the alarm', 5_000, async () => (await queue.getQueue()).alarms[0]);
    assert.match(alarm.text, /exit code 127 .* sluice logs /);
    await queue.api.ok('registerRepository', { repo: queue.repo, checks: [{ name: 'test', command: 'true' }] });
    await untilState(queue, first, 'MERGED');
    await untilState(queue, second, 'MERGED');
  });

  it('[V83] ends a required check when a fail-fast one has failed', async () => {
    const checks = [
      { name: 'lint', command: 'false' },
      { name: 'slow', command: 'sleep 600' },
    ];
    const queue = await aCheckedQueue(world, checks, {
      settings: { requiredStatuses: ['slow'], failFastStatuses: ['l*'] },
    });
    const number = await queue.submitOne();
    await untilState(queue, number, 'FAILED');
    assert.match((await queue.get(number, { includeExplanation: true })).explanation?.summary ?? '', /lint failed/);
    await assertNothingLeft(world.server);
  });

  it('[C31] refuses reports of others about its own checks', async () => {
    const queue = await aCheckedQueue(world, [{ name: 'test', command: 'sleep 1; exit 1' }]);
    const number = await queue.submitOne();
    const testRunId = await testRunOf(queue, number);
    const report = { repo: queue.repo, testRunId, name: 'test', status: 'COMPLETED', conclusion: 'SUCCESS' };
    const problem = await queue.api.refused('400 VALIDATION_FAILED', 'reportCheck', report);
    assert.match(problem.detail, /"test", which Sluice runs itself/);
    await queue.api.ok('reportCheck', { ...report, name: 'another' });
    await untilState(queue, number, 'FAILED');
  });

  it('[R2] gives checks what they need to know, and nothing of the server', async (t) => {
    const world = await openServer(t, {
      ...PROTECTED,
      SLUICE_ADMIN_TOKEN: 'a-very-secret-admin-token',
      SOME_SECRET: 'xyzzy',
    });
    const queue = await aCheckedQueue(world, [
      { name: 'test', command: 'env | sort; pwd; git log --format=%s -1; git status --porcelain; ls -a "$HOME"' },
    ]);
    const number = await queue.submitOne();
    await untilState(queue, number, 'MERGED');
    const testRunId = await testRunOf(queue, number);
    const text = await logOf(queue, testRunId);
    const { landed } = await queue.get(number);
    for (const line of [
      'CI=true',
      'SLUICE_CHECK=test',
      `SLUICE_COMMIT=${landed?.testedSha}`,
      `SLUICE_BASE_COMMIT=${landed?.base}`,
      `SLUICE_PULL_REQUESTS=${number}`,
      `SLUICE_TEST_RUN_ID=${testRunId}`,
      'SLUICE_TARGET_BRANCH=main',
    ]) {
      assert.ok(text.includes(`\n${line}\n`), `${line} is missing in ${text}`);
    }
    assert.ok(!text.includes(world.server.token));
    assert.doesNotMatch(text, /SLUICE_(?:DATA|ADMIN_TOKEN|DATABASE_URL|PORT)=/);
    assert.match(text, new RegExp(`Change 1 \\(#${number}\\)`));
  });

  it('[R3] a check cannot change the repository through its work tree', async () => {
    const queue = await aCheckedQueue(world, [
      {
        name: 'test',
        command:
          'git -c user.name=x -c user.email=x commit -q --allow-empty -m evil && git update-ref refs/heads/main HEAD && git gc -q --prune=now && git branch evil',
      },
    ]);
    const number = await queue.submitOne();
    await untilState(queue, number, 'MERGED');
    const { landed } = await queue.get(number);
    assert.equal(await queue.git.git(['rev-parse', 'main']), landed?.pushedSha);
    await untilOnlyMain(queue);
    await queue.git.git(['fsck', '--strict']);
  });
});
