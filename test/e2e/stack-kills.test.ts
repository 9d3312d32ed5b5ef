// Stacks on plain git through kill -9: each member lands as git would merge it, by one push that happens once.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { lines } from '../contract/forge-bench.ts';
import { makeFolder, type ServerProcess, startServer } from './harness.ts';
import { createQueue, describeQueue, type TestQueue } from './test-queue.ts';

const SIZE = 5;

interface Lives {
  readonly queue: () => TestQueue;
  kill(): Promise<void>;
}

/** A server that is killed and started again on its data. */
async function live(t: TestContext, settings: object): Promise<Lives> {
  const environment = { SLUICE_DATA: await makeFolder() };
  let server: ServerProcess = await startServer(environment);
  let queue = await createQueue(server.api, settings);
  t.after(async () => {
    await server.stop();
    await queue.close();
    await rm(environment.SLUICE_DATA, { recursive: true, force: true, maxRetries: 5 });
  });
  return {
    queue: () => queue,
    kill: async () => {
      server.child.kill('SIGKILL');
      await server.exited;
      server = await startServer(environment);
      queue = { ...describeQueue(queue, server.api), close: queue.close };
    },
  };
}

/** Each rewrites the line of the one before, and names it. */
async function openStack(queue: TestQueue): Promise<readonly number[]> {
  const numbers: number[] = [];
  for (let index = 0; index < SIZE; index += 1) {
    const files = { 'a.txt': lines({ 5: `version ${index}` }) };
    const number = await queue.openPullRequest(files);
    const below = numbers.at(-1);
    const message = `Step ${index}\n\nDepends-On: #${below}`;
    if (below !== undefined)
      await queue.git.commitTo(`refs/pull/${number}/head`, await queue.headOf(below), { files, message });
    numbers.push(number);
  }
  return numbers;
}

test('a stack of squashed members, submitted from the top through kill -9, lands by one run as git merges it [O30] [O37] [C70] [L1]', async (t) => {
  const { queue, kill } = await live(t, { mergeMethod: 'SQUASH' });
  const { git } = queue().git;
  await queue().git.commit('main', { files: { 'a.txt': lines() } });
  const stack = await openStack(queue());
  // The target branch has moved since: no tree that lands is a tree of a head.
  await queue().git.commit('main', { files: { 'b.txt': 'beside' } });
  const base = await git(['rev-parse', 'main']);
  const heads = await Promise.all(stack.map((number) => queue().headOf(number)));
  for (const [index, number] of stack.toReversed().entries()) {
    await queue().submit(number);
    if (index % 2 === 0) await kill();
  }
  const tip = stack.at(-1) as number;
  const run = await queue().ci.runOf(tip);
  await kill();
  assert.equal((await queue().ci.runOf(tip)).testRunId, run.testRunId);
  assert.equal(await git(['rev-parse', 'main']), base);
  await queue().ci.report(run, 'SUCCESS');
  await kill();
  for (const number of stack) {
    const { landed } = await queue().untilEntry(number, ({ state }) => state === 'MERGED');
    assert.equal(landed?.testRunId, run.testRunId);
  }
  const commits = (await git(['rev-list', '--first-parent', '--reverse', `${base}..main`])).split('\n');
  const landed = await Promise.all(commits.map((sha) => git(['rev-parse', `${sha}^{tree}`])));
  const merged = await Promise.all(heads.map((head) => git(['merge-tree', '--write-tree', base, head])));
  assert.deepEqual(landed, merged);
  // The alarm of the commits beside is right.
  assert.ok((await queue().getQueue()).alarms.every(({ text }) => text.includes(`moved to ${base}`)));
});
