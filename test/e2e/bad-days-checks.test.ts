// Misbehaving checks on the built-in runner of a real server.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { onBadDays, statusOf } from './bad-days.ts';
import { aCheckedQueue, assertNothingLeft, checkOf, logOf, testRunOf, untilLeft } from './checks.ts';
import { assertLanded } from './ci.ts';
import { useServer } from './test-queue.ts';

/** Rude checks that pass. */
const RUDE = [
  { name: 'daemons', command: 'setsid sleep 1000 & (setsid sh -c "trap : TERM; sleep 1000; sleep 1000" &); true' },
  { name: 'no output', command: 'exec >&- 2>&-; sleep 0.2' },
  { name: 'no work tree', command: 'cd /; rm -rf "$OLDPWD" "$HOME" "$TMPDIR"; true' },
  { name: 'closed folders', command: 'mkdir -p a/b; touch a/b/c; chmod 000 a/b a' },
  { name: 'input', command: 'test -z "$(cat)"' },
  {
    name: `quotes ' " $x \`y\``,
    command: `printf '%s\\n' 'it'\\''s "$HOME" \`id\`' "$SLUICE_CHECK"\n# a comment\ntrue`,
  },
  { name: 'bytes', command: "printf '\\377\\000\\033[31m'; head -c 100000 /dev/urandom" },
];

describe('checks that misbehave', () => {
  const fixture = useServer({ SLUICE_RUNNER_PROTECTION: '' });
  const aQueue = async (...checks: Parameters<typeof aCheckedQueue>[1]) =>
    onBadDays(await aCheckedQueue(fixture, checks));

  it('pass when their command does, and leave nothing behind [R20] [R21]', async () => {
    const queue = await aQueue(...RUDE);
    const number = await queue.submitOne();
    await assertLanded(queue, await queue.untilMerged(number));
    await assertNothingLeft(fixture.server);
    const text = await logOf(queue, await testRunOf(queue, number), RUDE[5]?.name);
    assert.ok(text.includes(`it's "$HOME" \`id\`\n${RUDE[5]?.name}\n`), text);
  });

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

  it('a command that ends its own process group is tried again twice, and fails then [R1] [R20] [V3]', async () => {
    const queue = await aQueue({ name: 'test', command: 'kill -KILL 0' });
    const number = await queue.submitOne();
    const { state, timeline = [] } = await untilLeft(queue, number);
    assert.equal(state, 'FAILED');
    assert.equal(timeline.filter(({ reason }) => reason === 'TEST_RUN_STARTED').length, 3);
    assert.equal(timeline.filter(({ reason }) => reason === 'TEST_RUN_INCONCLUSIVE').length, 2);
    const check = await checkOf(queue, timeline[0]?.testRunId ?? '');
    assert.match(check?.summary ?? '', /Ended by SIGKILL from outside/);
    await assertNothingLeft(fixture.server);
  });

  it('one that never ends does not keep pull requests of another queue from landing [R6]', async () => {
    const stuck = await aQueue({ name: 'test', command: 'trap "" TERM; while :; do sleep 1; done' });
    const other = await aQueue({ name: 'test', command: 'true' });
    const number = await stuck.submitOne();
    const landing = await other.submitOne();
    await assertLanded(other, await other.untilMerged(landing));
    assert.equal((await stuck.get(number)).state, 'TESTING');
    await stuck.api.ok('cancelPullRequest', stuck.entry(number));
    await assertNothingLeft(fixture.server);
  });
});
