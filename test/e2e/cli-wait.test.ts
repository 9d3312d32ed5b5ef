// Commands that wait until a pull request has left the queue.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sluice } from './kept-sluice.ts';
import { HAS_TERMINAL, runOnTerminal } from './run-sluice.ts';
import { useServer } from './test-queue.ts';

describe('sluice pr submit --wait and pr watch', () => {
  const world = useServer();

  it('exits with 0 when it has landed, and tells each state on the way [W27] [W28]', async () => {
    const queue = await world.aQueue();
    const number = await queue.openPullRequest();
    const args = ['pr', 'submit', queue.name, 'main', String(number), '--wait'];
    const waiting = sluice(args, { env: world.server.env });
    await queue.ci.pass(number);
    const { code, out, err } = await waiting;
    assert.equal(code, 0, err);
    assert.match(out, /^#\d+ Change \d+: MERGED\.\n.*Landed on main/);
    const lines = err.trimEnd().split('\n');
    assert.ok(lines.every((line) => /^\d{4}-\S+Z #\d+ [A-Z_]+: /.test(line)));
    assert.equal(new Set(lines).size, lines.length);
    // Afterwards it ends at once.
    const json = await sluice(['pr', 'watch', queue.name, 'main', String(number), '--json'], { env: world.server.env });
    assert.deepEqual([json.code, json.err, JSON.parse(json.out).state], [0, '', 'MERGED']);
  });

  it('exits with 1 and the reason when it was removed [W27]', async () => {
    const queue = await world.aQueue();
    const number = await queue.submitOne();
    const waiting = sluice(['pr', 'watch', queue.name, 'main', String(number)], { env: world.server.env });
    await queue.ci.fail(number);
    const { code, out } = await waiting;
    assert.equal(code, 1);
    assert.match(out, /: FAILED\.\n.*test failed[\s\S]*Next: /);
  });

  it('exits with 124 after its time, and leaves the pull request in the queue [W27]', async () => {
    const queue = await world.aQueue();
    const number = await queue.submitOne();
    const env = world.server.env;
    const { code, out, err } = await sluice(['pr', 'watch', queue.name, String(number), '--timeout', '1s'], { env });
    assert.deepEqual([code, out], [124, '']);
    assert.match(err, /is still in the queue\. Stopped waiting\.\n$/);
    assert.match((await queue.get(number)).state ?? '', /PENDING|TESTING/);
    const wrong = await sluice(['pr', 'watch', queue.name, String(number), '--timeout', '0m'], { env });
    assert.equal(wrong.code, 2);
  });

  it('exits with 1 at once for a pull request that was never submitted [W27]', async () => {
    const queue = await world.aQueue();
    const { code, err } = await sluice(['pr', 'watch', queue.name, '77'], { env: world.server.env });
    assert.equal(code, 1);
    assert.match(err, /#77 was never submitted/);
  });

  it('redraws one line on a terminal, and erases it at the end [W28]', { skip: !HAS_TERMINAL }, async () => {
    const queue = await world.aQueue();
    const number = await queue.submitOne();
    const waiting = runOnTerminal(['pr', 'watch', queue.name, 'main', String(number)], world.server.env);
    await queue.ci.pass(number);
    const { code, out } = await waiting.ended;
    assert.equal(code, 0, out);
    const [progress = ''] = out.split(`#${number} Change`, 1);
    assert.ok(!progress.includes('\n') && progress.endsWith('\u001b[K'), JSON.stringify(out));
  });
});
