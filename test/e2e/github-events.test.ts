import { describe, type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GithubWorld, shareGithub, WRITER } from './github-world.ts';
import { until } from './harness.ts';

const PATIENCE_MS = 60_000;

const LABEL = 'trunk-merge-queue-submit';
type Result = 'success' | 'failure' | undefined;

const join = shareGithub();

/** With a CI that reports `result.now`. */
async function aWorld(t: TestContext): Promise<{ readonly world: GithubWorld; readonly result: { now: Result } }> {
  const world = await join();
  const result: { now: Result } = { now: 'success' };
  world.runCi(t, () => result.now);
  return { world, result };
}

/** The tests wait more than they compute. */
describe('a server that GitHub tells what happens', { concurrency: 4 }, () => {
  test('a label lands a pull request, and a failed check fails it', async (t) => {
    const { world, result } = await aWorld(t);
    result.now = 'failure';
    const pr = await world.open();
    world.github.label(pr, WRITER, LABEL);
    await world.untilState(pr, 'FAILED');
    await until('the label is gone', PATIENCE_MS, async () => (pr.labels.length === 0 ? true : undefined));
    // By then the server usually knows that the label is gone. The label is added again within GitHub's one-second
    // resolution.
    await delay(150);
    result.now = 'success';
    world.github.label(pr, WRITER, LABEL);
    await world.untilState(pr, 'MERGED');
  });

  test('deliveries that are doubled and disordered change nothing of how it ends [G31]', async (t) => {
    const world = await GithubWorld.of(t);
    world.runCi(t, () => 'success');
    const { github } = world;
    github.webhooks.configure({ doubled: 0.5, isDoubledAnew: true, disordered: 0.5, delayMs: 5 });
    const prs = [];
    for (let n = 0; n < 3; n += 1) prs.push(await world.open());
    for (const pr of prs) world.say(pr, '/sluice merge');
    for (const pr of prs) await world.untilState(pr, 'MERGED', 2 * PATIENCE_MS);
  });
});

describe('a server that GitHub tells nothing', () => {
  test('lands pull requests that were commented or labelled all the same [G34]', async (t) => {
    const world = await GithubWorld.of(t, { webhooks: false });
    world.runCi(t, () => 'success');
    const commented = await world.open();
    const labelled = await world.open();
    world.say(commented, '/sluice merge');
    world.github.label(labelled, WRITER, LABEL);
    await world.untilState(commented, 'MERGED', 4 * PATIENCE_MS);
    await world.untilState(labelled, 'MERGED', 4 * PATIENCE_MS);
  });
});
