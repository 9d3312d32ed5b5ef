// Stacks on a real repository of plain git: pull requests that are built on each other, by a message or by their commits.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lines } from '../contract/forge-bench.ts';
import { runSluice } from './run-sluice.ts';
import { type TestQueue, useServer } from './test-queue.ts';

describe('a stack on plain git', () => {
  const world = useServer();

  /** Each changes the same line on top of the one before, and names it. */
  async function openStack(queue: TestQueue, count: number, isStated = true): Promise<number[]> {
    const numbers: number[] = [];
    for (let index = 0; index < count; index += 1) {
      const files = { 'a.txt': lines({ 5: `version ${index}` }) };
      const number = await queue.openPullRequest(files);
      const below = numbers.at(-1);
      const message = below !== undefined && isStated ? `Step ${index}\n\nDepends-On: #${below}` : `Step ${index}`;
      if (below !== undefined)
        await queue.git.commitTo(`refs/pull/${number}/head`, await queue.headOf(below), { files, message });
      numbers.push(number);
    }
    return numbers;
  }

  for (const mergeMethod of ['SQUASH', 'REBASE', 'MERGE_COMMIT']) {
    it(`lands whole by one run with ${mergeMethod}, though its members change one line [O30] [O37] [C70]`, async () => {
      const queue = await world.aQueue({ mergeMethod });
      await queue.git.commit('main', { files: { 'a.txt': lines() } });
      const stack = await openStack(queue, 3);
      await queue.update({ state: 'PAUSED' });
      for (const number of stack.toReversed()) await queue.submit(number);
      await queue.update({ state: 'RUNNING' });
      const tip = stack.at(-1) as number;
      const run = await queue.ci.runOf(tip);
      await queue.ci.report(run, 'SUCCESS');
      for (const number of stack) await queue.untilEntry(number, ({ state }) => state === 'MERGED');
      assert.equal(await queue.git.git(['show', 'main:a.txt']), lines({ 5: 'version 2' }).trim());
      const entry = await queue.get(tip, { includeTimeline: true });
      assert.equal(entry.landed?.testRunId, run.testRunId);
    });
  }

  for (const mergeMethod of ['SQUASH', 'REBASE', 'MERGE_COMMIT']) {
    it(`lands on one that landed with ${mergeMethod} before it was submitted [O30] [C70]`, async () => {
      const queue = await world.aQueue({ mergeMethod });
      await queue.git.commit('main', { files: { 'a.txt': lines() } });
      const stack = await openStack(queue, 2);
      for (const number of stack) {
        await queue.submit(number);
        await queue.ci.report(await queue.ci.runOf(number), 'SUCCESS');
        await queue.untilEntry(number, ({ state }) => state === 'MERGED');
      }
      assert.equal(await queue.git.git(['show', 'main:a.txt']), lines({ 5: 'version 1' }).trim());
    });
  }

  it('waits for what its message names, and says so [O30] [O39]', async () => {
    const queue = await world.aQueue();
    const [lower = 0, upper = 0] = await openStack(queue, 2);
    await queue.submit(upper);
    const waiting = await queue.get(upper, { includeExplanation: true });
    assert.equal(waiting.state, 'NOT_READY');
    assert.match(waiting.explanation?.summary ?? '', new RegExp(`It depends on #${lower}, which is not in the queue`));
    assert.deepEqual(waiting.dependsOn, [{ prNumber: lower, by: 'STATED', isMerged: false }]);
    await queue.submit(lower);
    assert.deepEqual((await queue.get(lower, { includeExplanation: true })).dependents, [upper]);
    await queue.ci.report(await queue.ci.runOf(lower), 'SUCCESS');
    for (const number of [lower, upper]) await queue.untilEntry(number, ({ state }) => state === 'MERGED');
  });

  it('orders by ancestry, and waits for no ancestor [O41]', async () => {
    const queue = await world.aQueue();
    const [lower = 0, upper = 0] = await openStack(queue, 2, false);
    await queue.submit(lower);
    const entry = await queue.submit(upper);
    assert.deepEqual(entry.dependsOn, [{ prNumber: lower, by: 'ANCESTOR', isMerged: false }]);
    await queue.api.ok('cancelPullRequest', queue.entry(lower));
    await queue.ci.report(await queue.ci.runOf(upper), 'SUCCESS');
    await queue.untilEntry(upper, ({ state }) => state === 'MERGED');
  });

  it('asks for a rebase when the one below was rewritten [O35] [O43]', async () => {
    const queue = await world.aQueue();
    const [lower = 0, upper = 0] = await openStack(queue, 2);
    await queue.submit(lower);
    await queue.submit(upper);
    await queue.git.commitTo(`refs/pull/${lower}/head`, await queue.git.git(['rev-parse', 'main']), {
      files: { 'a.txt': lines({ 5: 'rewritten' }) },
    });
    await queue.untilEntry(lower, ({ state }) => state === 'CANCELLED');
    const out = await queue.untilEntry(upper, ({ state }) => state === 'NOT_READY');
    assert.equal(out.isCurrentlySubmittedToQueue, true);
    await queue.submit(lower);
    const { explanation } = await queue.get(upper, { includeExplanation: true });
    assert.match(explanation?.summary ?? '', new RegExp(`it lacks the present commits of #${lower}, on which`));
    const { out: shown } = await runSluice(['pr', 'status', queue.name, 'main', `${upper}`], {
      SLUICE_URL: world.server.url,
      SLUICE_TOKEN: world.server.token,
    }).ended;
    assert.match(shown, new RegExp(`Built on +#${lower}\\n`));
    const files = { 'a.txt': lines({ 5: 'again' }) };
    const message = `Step\n\nDepends-On: #${lower}`;
    await queue.git.commitTo(`refs/pull/${upper}/head`, await queue.headOf(lower), { files, message });
    await queue.untilEntry(upper, ({ state }) => state === 'TESTING');
  });

  it('is no stack where two have one head [O41]', async () => {
    const queue = await world.aQueue();
    const first = await queue.openPullRequest();
    const second = await queue.openPullRequest();
    await queue.git.git(['update-ref', `refs/pull/${second}/head`, await queue.headOf(first)]);
    await queue.submit(first);
    const { dependsOn } = await queue.submit(second);
    assert.equal(dependsOn, undefined);
    assert.equal((await queue.get(first, { includeExplanation: true })).dependents, undefined);
  });

  it('waits for one below it that was deleted, and lands with it when it is back [O35]', async () => {
    const queue = await world.aQueue();
    const [lower = 0, upper = 0] = await openStack(queue, 2);
    await queue.submit(lower);
    await queue.submit(upper);
    const head = await queue.headOf(lower);
    await queue.git.git(['update-ref', '-d', `refs/pull/${lower}/head`]);
    await queue.untilEntry(lower, ({ state }) => state === 'CANCELLED');
    await queue.untilEntry(upper, ({ state }) => state === 'NOT_READY');
    await queue.git.git(['update-ref', `refs/pull/${lower}/head`, head]);
    await queue.submit(lower);
    await queue.ci.report(await queue.ci.runOf(lower), 'SUCCESS');
    await queue.untilEntry(upper, ({ state }) => state === 'MERGED');
  });

  it('is refused where two name each other [O32]', async () => {
    const queue = await world.aQueue();
    const first = await queue.openPullRequest();
    const second = await queue.openPullRequest();
    const main = await queue.git.git(['rev-parse', 'main']);
    for (const [number, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const message = `Change\n\nDepends-On: #${other}`;
      await queue.git.commitTo(`refs/pull/${number}/head`, main, { files: { [`${number}`]: 'x' }, message });
    }
    await queue.submit(first);
    const { detail } = await queue.api.refused('400 VALIDATION_FAILED', 'submitPullRequest', queue.entry(second));
    assert.match(String(detail), new RegExp(`#${second} on #${first} on #${second}`));
  });

  it('waits for a pull request of another repository until that one is merged [O42]', async () => {
    const queue = await world.aQueue();
    const number = await queue.openPullRequest();
    const main = await queue.git.git(['rev-parse', 'main']);
    const message = 'Change\n\nDepends-On: https://git.acme.dev/acme/other/pull/3';
    await queue.git.commitTo(`refs/pull/${number}/head`, main, { files: { b: 'x' }, message });
    await queue.submit(number);
    const { state, explanation } = await queue.get(number, { includeExplanation: true });
    assert.equal(state, 'NOT_READY');
    assert.match(explanation?.summary ?? '', /which has not landed, or cannot be read/);
  });
});
