import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeFolder, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { HAS_TERMINAL, type Running, runOnTerminal, runSluice } from './run-sluice.ts';
import { openProcess, useServer } from './test-queue.ts';

const HIDE = '\u001b[?25l';
const SHOW = '\u001b[?25h';

function untilOut({ output }: Running, expected: RegExp): Promise<true> {
  return until(`it prints ${expected}`, 20_000, async () => expected.test(output.out) || undefined);
}

/** The types of the events of a pull request, in their order. */
function story(out: string, number: number): string[] {
  const cells = out
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'));
  return cells
    .filter(([, , , text]) => text?.startsWith(`#${number}:`))
    .map(([, type = '']) => type.replace(/.*\./, ''));
}

describe('sluice watch', { concurrency: 3 }, () => {
  const world = useServer();

  it('prints a line for each event, nothing twice, until the queue is empty [W1] [W9]', async () => {
    const queue = await world.aQueue();
    const [first, second] = [await queue.openPullRequest(), await queue.openPullRequest()];
    await queue.submit(first);
    await queue.ci.runOf(first);
    const watching = runSluice(['watch', queue.name, '--until-empty', '--interval', '0.1'], world.server.env);
    await untilOut(watching, /pull_request\.testing/);
    await queue.submit(second);
    await queue.ci.runOf(second);
    await queue.ci.fail(second);
    await queue.ci.pass(first);
    const { code, out, err } = await watching.ended;
    assert.deepEqual([code, err], [0, '']);
    assert.deepEqual(story(out, first), ['submitted', 'queued', 'testing', 'merged']);
    assert.deepEqual(story(out, second), ['submitted', 'queued', 'testing', 'pending_failure', 'failed']);
    assert.equal(new Set(out.split('\n')).size, out.split('\n').length, 'no line twice');
    assert.match(
      out,
      /Z\tpull_request\.failed\t\S+ main\t#\d+: The check test failed when it was tested on top of #1\. It may pass without #1\./,
    );
  });

  it('shows the past of a pull request and of a queue [Y11]', async () => {
    const queue = await world.aQueue();
    const { env } = world.server;
    const number = await queue.openPullRequest();
    await queue.submit(number);
    await queue.ci.runOf(number);
    const tested = new Date().toISOString();
    await queue.ci.pass(number);
    await queue.untilEntry(number, ({ state }) => state === 'MERGED');
    const status = await sluice(['pr', 'status', queue.name, 'main', `${number}`, '--at', tested], { env });
    assert.match(status.out, /Being tested/);
    const show = await sluice(['queue', 'show', queue.name, 'main', '--at', tested, '--json'], { env });
    const then = JSON.parse(show.out) as { asOf: { version: number }; enqueuedPullRequests: { state: string }[] };
    assert.deepEqual([then.enqueuedPullRequests[0]?.state, then.asOf.version > 1], ['TESTING', true]);
    const future = await sluice(['pr', 'status', queue.name, 'main', `${number}`, '--at', '2999-01-01'], { env });
    assert.match(future.err, /--at must not be in the future/);
  });

  it('ends at once where the queue is empty, and prints JSON where asked for [W1]', async () => {
    const queue = await world.aQueue();
    const env = world.server.env;
    const empty = await sluice(['watch', queue.name, 'main', '--until-empty'], { env });
    assert.deepEqual([empty.code, empty.err], [0, '']);
    assert.match(empty.out, /^\S+Z\tqueue\.created\t.*\n$/);
    const number = await queue.openPullRequest();
    await queue.update({ state: 'PAUSED' });
    await queue.submit(number);
    const watching = runSluice(['watch', queue.name, '--json', '--interval', '0.1'], env);
    await untilOut(watching, /pull_request\.submitted/);
    watching.kill('SIGINT');
    const { code, out } = await watching.ended;
    const events = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      [code, ...events.map(({ type, prNumber }) => [type, prNumber])],
      [130, ['queue.created', undefined], ['queue.paused', undefined], ['pull_request.submitted', number]],
    );
  });

  it('asks for the branch where there are several queues, and says how to make one where there is none', async () => {
    const queue = await world.aQueue();
    const env = world.server.env;
    await queue.git.git(['branch', 'next', 'main']);
    await queue.api.ok('createQueue', { ...queue.ref, targetBranch: 'next' });
    const several = await sluice(['watch', queue.name], { env });
    assert.equal(several.code, 2);
    assert.match(several.err, /has several queues\. Say which branch: -B main, -B next\.\n/);
    await queue.api.ok('deleteQueue', { ...queue.ref, targetBranch: 'next' });
    await queue.api.ok('deleteQueue', queue.ref);
    const none = await sluice(['watch', queue.name], { env });
    assert.equal(none.code, 1);
    assert.match(none.err, /has no queue\. Create one: sluice queue create/);
    const unknown = await sluice(['watch', queue.name, 'main'], { env });
    assert.deepEqual([unknown.code, unknown.out], [1, '']);
    assert.equal((await sluice(['watch', queue.name, '--interval', '0'], { env })).code, 2);
  });

  it('draws a picture on a terminal, and gives the terminal back after Ctrl-C [W2] [W10]', {
    skip: !HAS_TERMINAL,
  }, async () => {
    const queue = await world.aQueue();
    const number = await queue.submitOne();
    await queue.ci.runOf(number);
    const watching = runOnTerminal(['watch', queue.name, '--interval', '0.1'], world.server.env);
    await untilOut(watching, /Under test/);
    await untilOut(watching, new RegExp(`#${number}\\b.*on main.*○.* test.*Change 1`));
    await queue.ci.pass(number);
    await untilOut(watching, /Left[\s\S]*landed/);
    watching.type('\u0003');
    const { out, code } = await watching.ended;
    assert.equal(code, 130);
    assert.ok(out.startsWith(HIDE) && out.lastIndexOf(SHOW) > out.lastIndexOf(HIDE), 'the cursor is back');
  });

  it('waits for a server that starts again [W9]', async (t) => {
    const SLUICE_DATA = await makeFolder();
    const { server: first, aQueue } = await openProcess(t, { SLUICE_DATA });
    const queue = await aQueue();
    const number = await queue.openPullRequest();
    await queue.update({ state: 'PAUSED' });
    await queue.submit(number);
    const watching = runSluice(['watch', queue.name, 'main', '--until-empty', '--interval', '0.1'], first.env);
    await untilOut(watching, /pull_request\.submitted/);
    await first.stop();
    await until(
      'it says that the server is away',
      20_000,
      async () => /Trying again/.test(watching.output.err) || undefined,
    );
    const { server: second } = await openProcess(t, { SLUICE_DATA, SLUICE_PORT: String(first.port) });
    await second.api.ok('cancelPullRequest', queue.entry(number));
    const { code, out, err } = await watching.ended;
    assert.equal(code, 0);
    assert.deepEqual(story(out, number), ['submitted', 'canceled']);
    assert.match(err, /^[^\n]*Trying again\.\nThe server answers again\.\n$/);
  });
});
