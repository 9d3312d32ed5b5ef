// Checks that the repository's own file chooses, and tries of them, with a real server and its runner.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { aCheckedQueue, assertNothingLeft, logOf, testRunOf, untilLeft } from './checks.ts';
import { until } from './harness.ts';
import { runSluice } from './run-sluice.ts';
import { type TestQueue, useServer } from './test-queue.ts';

const GRANT = { network: false, userNamespaces: false, longestMinutes: 10 };

describe('checks of the repository’s file', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: '' });

  /** The file is on main before the queue begins. */
  async function aQueueWith(text: string): Promise<TestQueue> {
    const queue = await aCheckedQueue(world, [{ name: 'registered', command: 'exit 9' }]);
    await queue.git.commit('main', { files: { '.sluice.yaml': text } });
    await queue.api.ok('registerRepository', { repo: queue.repo, fileChecks: GRANT });
    return queue;
  }

  it('[R60] [R64] test each pull request as main has them, prepared, and no pull request changes its own', async () => {
    const queue = await aQueueWith(
      'checks: { unit: { prepare: "echo ready > p", run: "cat p; echo $WHO; test ! -f bad", env: { WHO: ada } } }',
    );
    const good = await queue.submitOne({ 'new.txt': 'x', '.sluice.yaml': 'checks: { evil: { run: "exit 7" } }' });
    assert.equal((await untilLeft(queue, good)).state, 'MERGED');
    const text = await logOf(queue, await testRunOf(queue, good), 'unit');
    assert.match(text, /\$ echo ready > p\n\[Sluice\] \$ cat p.*\nready\nada\n\n\[Sluice\] Passed/);
    // It landed, so it tests the next one.
    const next = await queue.submitOne({ 'next.txt': 'x' });
    assert.equal((await untilLeft(queue, next)).state, 'FAILED');
    assert.match(await logOf(queue, await testRunOf(queue, next), 'evil'), /Failed with exit code 7/);
  });

  it('[R64] say that prepare failed', async () => {
    const queue = await aQueueWith('checks: { unit: { prepare: exit 5, run: "true" } }');
    const number = await queue.submitOne();
    assert.equal((await untilLeft(queue, number)).state, 'FAILED');
    const text = await logOf(queue, await testRunOf(queue, number), 'unit');
    assert.match(text, /\[Sluice\] prepare failed with exit code 5\n\n\[Sluice\] Failed with exit code 5/);
  });

  it('[R62] hold the queue where they ask for more than is granted, with the sentence, until it is granted', async () => {
    const queue = await aQueueWith('checks: { unit: { run: "true", network: true } }');
    const [number] = await queue.submitAll(2);
    const held = await until('the queue is held', 30_000, async () => (await queue.getQueue()).held);
    assert.match(
      held.text,
      /\.sluice\.yaml: checks\.unit asks for the network, which is not granted: an administrator/,
    );
    await queue.api.ok('registerRepository', { repo: queue.repo, fileChecks: { ...GRANT, network: true } });
    assert.equal((await untilLeft(queue, number ?? 0)).state, 'MERGED');
  });

  it('[R63] go neither with trust in everybody, nor to a token without the scope instance', async () => {
    const queue = await aQueueWith('checks: { unit: { run: "true" } }');
    const trusted = { repo: queue.repo, trustChecks: true };
    const problem = await queue.api.refused('400 VALIDATION_FAILED', 'registerRepository', trusted);
    assert.match(problem.detail, /fileChecks.*cannot go with trustChecks/);
  });
});

describe('secrets of checks', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: '' });

  async function aQueueThatPrints(grant: object): Promise<TestQueue> {
    const queue = await aCheckedQueue(world, [{ name: 'registered', command: 'exit 9' }]);
    const run = 'echo "got $TOKEN"; printf %s "$TOKEN" | base64; echo "<t>$TOKEN</t>" > r.xml; test -n "$TOKEN"';
    const checks = { unit: { run, secrets: ['TOKEN'], junit: ['*.xml'] } };
    await queue.git.commit('main', { files: { '.sluice.yaml': JSON.stringify({ checks }) } });
    const fileChecks = { ...GRANT, secrets: ['TOKEN'], ...grant };
    await queue.api.ok('registerRepository', { repo: queue.repo, fileChecks });
    await queue.api.ok('setSecret', { repo: queue.repo, name: 'TOKEN', value: 's3cret-value' });
    return queue;
  }

  const run = (args: readonly string[], input = '') => {
    const command = runSluice(args, { SLUICE_URL: world.server.url, SLUICE_TOKEN: world.server.token });
    command.type(input, { isLast: true });
    return command.ended;
  };

  it('[R97] [R98] reach the head of the branch alone, and no log shows them', async () => {
    const queue = await aQueueThatPrints({});
    const tried = await run(['repo', 'try', queue.name]);
    assert.match(tried.out, /got \*\*\*\n\*\*\*\S?\n.*✓ unit/s);
    const number = await queue.submitOne();
    assert.equal((await untilLeft(queue, number)).state, 'FAILED');
    assert.match(
      await logOf(queue, await testRunOf(queue, number), 'unit'),
      /Pull requests do not get secrets: TOKEN\.\ngot \n/,
    );
  });

  it('[R97] reach pull requests where an administrator of the instance says so', async () => {
    const queue = await aQueueThatPrints({ secretsForPullRequests: true });
    const good = await queue.submitOne();
    assert.equal((await untilLeft(queue, good)).state, 'MERGED');
    assert.match(await logOf(queue, await testRunOf(queue, good), 'unit'), /got \*\*\*\n/);
  });

  it('[R96] are set, listed and removed without being shown, and a log names the one that is not set', async () => {
    const queue = await aQueueThatPrints({});
    const list = await run(['secret', 'list', queue.name]);
    assert.match(list.out, /TOKEN/);
    assert.doesNotMatch(list.out + JSON.stringify(await queue.api.ok('listSecrets', { repo: queue.repo })), /s3cret/);
    assert.match((await run(['secret', 'set', queue.name, 'PATH'], 'long enough')).err, /name.* of the server/);
    assert.match((await run(['secret', 'set', queue.name, 'SHORT'], 'short')).err, /value/);
    assert.equal((await run(['secret', 'remove', queue.name, 'TOKEN'])).code, 0);
    assert.match((await run(['secret', 'remove', queue.name, 'TOKEN'])).err, /names no secret/);
    const tried = await run(['repo', 'try', queue.name]);
    assert.match(tried.out, /The secret TOKEN is not set: sluice secret set \S+ TOKEN\ngot \n/);
  });
});

describe('a try of checks', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: '' });
  const run = (queue: TestQueue, args: readonly string[]) =>
    runSluice(['repo', 'try', queue.name, ...args], {
      SLUICE_URL: world.server.url,
      SLUICE_TOKEN: world.server.token,
    }).ended;

  it('[R70] [W76] shows the output as it comes, what went wrong, and lands nothing', async () => {
    const queue = await aCheckedQueue(world, [
      { name: 'good', command: 'cat a.txt; touch report.xml' },
      { name: 'bad', command: 'no-such-tool' },
    ]);
    await queue.api.ok('registerRepository', { repo: queue.repo, junit: ['*.xml'] });
    const { code, out, err } = await run(queue, []);
    assert.equal(code, 1, err);
    assert.match(out, /\[Sluice\] "good" on main, commit [0-9a-f]{40}, without network/);
    assert.match(out, /Test reports: report\.xml\./);
    assert.match(out, /✓ good: Passed after/);
    assert.match(out, /✗ bad: .*127 \(a command was not found\).* SLUICE_RUNNER_TOOLS\./);
    assert.match(out, /main at [0-9a-f]{12} fails bad\.\n$/);
    await assertNothingLeft(world.server);
  });

  it('[R70] [W76] takes a proposed file, and refuses a bad one', async () => {
    const queue = await aCheckedQueue(world, []);
    const file = join(queue.git.folder, 'proposed.yaml');
    await writeFile(file, 'checks: { unit: { run: "echo proposed" } }');
    const { code, out } = await run(queue, ['main', '--file', file]);
    assert.equal(code, 0);
    assert.match(out, /\nproposed\n\n?✓ unit: Passed/);
    await writeFile(file, 'checks: { unit: { walk: 1 } }');
    const refused = await run(queue, ['--file', file]);
    assert.equal(refused.code, 1);
    assert.match(refused.err, /checks\.unit\.walk is unknown; a check has run, prepare/);
    assert.match((await run(queue, ['gone'])).err, /names no branch/);
  });

  it('[R70] ends the commands when its reader goes away', async () => {
    const queue = await aCheckedQueue(world, [{ name: 'long', command: 'echo begun; sleep 600' }]);
    const running = runSluice(['repo', 'try', queue.name], {
      SLUICE_URL: world.server.url,
      SLUICE_TOKEN: world.server.token,
    });
    await until('it has begun', 15_000, async () => (running.output.out.includes('\nbegun\n') ? true : undefined));
    running.kill('SIGKILL');
    await running.ended;
    await assertNothingLeft(world.server);
  });
});

describe('a proposal of checks', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: '' });

  async function aNewcomer(files: Readonly<Record<string, string>>) {
    const queue = await world.aQueue({ requiredStatuses: null });
    await queue.git.commit('main', { files });
    await queue.api.ok('deleteQueue', queue.ref);
    const add = (args: readonly string[]) =>
      runSluice(['repo', 'add', queue.name, ...args], {
        SLUICE_URL: world.server.url,
        SLUICE_TOKEN: world.server.token,
      }).ended;
    return { queue, add };
  }

  it('[R71] [W77] is shown, tried and registered with a yes, and its queue lands the first pull request', async () => {
    const { queue, add } = await aNewcomer({ Makefile: 'test:\n\t@echo tested; test ! -f bad\n' });
    const shown = await add([]);
    assert.match(shown.out, /checks:\n {2}test:\n {4}run: make test\n/);
    assert.match(shown.err, /Try and use them: sluice repo add \S+ --yes/);
    assert.deepEqual((await queue.api.ok<{ queues: unknown[] }>('listQueues', { repo: queue.repo })).queues, []);
    const { code, out } = await add(['--yes']);
    assert.equal(code, 0);
    assert.match(
      out,
      /tested\n✓ test: Passed.*The checks are registered\. Commit them as \.sluice\.yaml on main.*sluice repo propose \S+ main > \.sluice\.yaml\nThe queue of main is open/s,
    );
    assert.equal((await untilLeft(queue, await queue.submitOne())).state, 'MERGED');
    assert.equal((await untilLeft(queue, await queue.submitOne({ bad: '' }))).state, 'FAILED');
  });

  it('[W77] registers nothing where the checks fail, and takes them once they are mended', async () => {
    const { queue, add } = await aNewcomer({ Makefile: 'test:\n\texit 3\n' });
    const { code, err } = await add(['--yes']);
    assert.equal(code, 1);
    assert.match(err, /Nothing more was registered.*sluice repo add \S+ --checks-from \.sluice\.yaml/s);
    const file = join(world.server.dataFolder, 'mended.yaml');
    await writeFile(file, 'checks: { mended: { run: "true", junit: ["*.xml"] } }');
    const again = await add(['--checks-from', file]);
    assert.match(again.out, /mended\s+true.*✓ mended: Passed/s);
    await writeFile(file, 'checks: { mended: { ran: "true" } }');
    const refused = await add(['--checks-from', file]);
    assert.match(refused.err, /configuration cannot be used\. \.sluice\.yaml: checks\.mended\.ran is unknown/);
    assert.equal((await queue.api.ok<{ queues: unknown[] }>('listQueues', { repo: queue.repo })).queues.length, 0);
  });
});

describe('a try of the head', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: '' });
  const CHECK = { name: 'unit', command: 'test ! -f bad' };
  const settings = { confirmFailures: 'AUTO' };

  async function tryOn(queue: TestQueue, configuration?: string): Promise<void> {
    const file = join(queue.git.folder, 'tried.yaml');
    if (configuration !== undefined) await writeFile(file, configuration);
    const args = ['repo', 'try', queue.name, 'main', ...(configuration === undefined ? [] : ['--file', file])];
    const { code, err } = await runSluice(args, { SLUICE_URL: world.server.url, SLUICE_TOKEN: world.server.token })
      .ended;
    assert.equal(code, 0, err);
  }

  /** A pull request that fails alone has three runs, and the fourth is of the head. */
  async function runsOfFailure(queue: TestQueue): Promise<number> {
    assert.equal((await untilLeft(queue, await queue.submitOne({ bad: '' }))).state, 'FAILED');
    return (await queue.api.ok<{ total: { runs: number } }>('getQueueHealth', { ...queue.ref, days: 1 })).total.runs;
  }

  it('spares its test after a failure, also in a queue that is created later [V82]', async () => {
    const queue = await aCheckedQueue(world, [CHECK], { settings });
    await tryOn(queue);
    assert.equal(await runsOfFailure(queue), 3);
    const later = await aCheckedQueue(world, [CHECK]);
    await later.api.ok('deleteQueue', later.ref);
    await tryOn(later);
    await later.api.ok('createQueue', { ...later.ref, ...settings });
    assert.equal(await runsOfFailure(later), 3);
  });

  it('spares nothing where the tried checks are not those of the queue [V82]', async () => {
    const queue = await aCheckedQueue(world, [CHECK], { settings });
    await tryOn(queue, `checks: { unit: { run: "${CHECK.command}", timeoutMinutes: 9 } }`);
    assert.equal(await runsOfFailure(queue), 4);
  });
});

describe('a proposal without protection', () => {
  const world = useServer({ SLUICE_RUNNER_PROTECTION: 'none', SLUICE_RUNNER_TRUST: 'all' });

  it('[R63] [W77] is registered, and its file is not followed', async () => {
    const queue = await world.aQueue({ requiredStatuses: null });
    await queue.git.commit('main', { files: { Makefile: 'test:\n\t@echo tested\n' } });
    await queue.api.ok('deleteQueue', queue.ref);
    const environment = { SLUICE_URL: world.server.url, SLUICE_TOKEN: world.server.token };
    const { code, out } = await runSluice(['repo', 'add', queue.name, '--yes'], environment).ended;
    assert.equal(code, 0);
    assert.match(out, /The checks are registered\. The queue of main is open\./);
    assert.equal((await untilLeft(queue, await queue.submitOne())).state, 'MERGED');
  });
});
