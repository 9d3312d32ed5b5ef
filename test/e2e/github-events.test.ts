import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { GithubServer } from './github-server.ts';
import { until } from './harness.ts';

const PATIENCE_MS = 60_000;

describe('a server that GitHub tells what happens', () => {
  let world: GithubServer;
  before(async () => {
    world = await GithubServer.start();
  });
  after(() => world.stop());

  test('a command in a comment lands a pull request', async () => {
    const { github, repository } = world;
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    github.comment(pr, 'ada', '/sluice merge');
    await world.untilState(pr, 'MERGED');
    assert.notEqual(pr.merged, undefined);
  });

  test('a label lands a pull request, and a failed check fails it', async () => {
    const { github, repository } = world;
    world.verdict = 'failure';
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    github.label(pr, 'ada', 'trunk-merge-queue-submit');
    await world.untilState(pr, 'FAILED');
    await until('the label is gone', PATIENCE_MS, async () => (pr.labels.length === 0 ? true : undefined));
    // By then the server usually knows that the label is gone. The label is added again within GitHub's one-second
    // resolution.
    await delay(150);
    world.verdict = 'success';
    github.label(pr, 'ada', 'trunk-merge-queue-submit');
    await world.untilState(pr, 'MERGED');
  });

  test('a pull request that is not ready lands when its review is there', async () => {
    const { github, repository } = world;
    github.protect(repository, 'main', { reviews: { count: 1, dismissesStale: false, needsCodeOwners: false } });
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    await world.post('submitPullRequest', { targetBranch: 'main', pr: { number: pr.number } });
    await world.untilState(pr, 'NOT_READY');
    github.review(pr, 'root', 'APPROVED');
    await world.untilState(pr, 'MERGED');
    github.unprotect(repository, 'main');
  });

  test('a push cancels what is under test', async () => {
    const { github, repository } = world;
    world.verdict = undefined;
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    github.comment(pr, 'ada', '/sluice merge');
    await world.untilState(pr, 'TESTING');
    await github.push(pr, { more: 'x\n' });
    await world.untilState(pr, 'CANCELLED');
    world.verdict = 'success';
  });

  test('deliveries that are doubled and disordered change nothing of how it ends [G31]', async () => {
    const { github, repository } = world;
    github.webhooks.configure({ doubled: 0.5, isDoubledAnew: true, disordered: 0.5, delayMs: 5 });
    const prs = [];
    for (let n = 0; n < 3; n += 1) prs.push(await github.openPullRequest(repository, { author: 'ada' }));
    for (const pr of prs) github.comment(pr, 'ada', '/sluice merge');
    for (const pr of prs) await world.untilState(pr, 'MERGED', 2 * PATIENCE_MS);
    github.webhooks.configure({});
  });

  test('a suspended app is an outage, and work goes on when it is back [G37]', async () => {
    const { github, repository, installation } = world;
    world.verdict = undefined;
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    github.comment(pr, 'ada', '/sluice merge');
    await world.untilState(pr, 'TESTING');
    github.suspend(installation);
    await until('the outage is explained', PATIENCE_MS, async () =>
      /is suspended/.test(JSON.stringify(await world.find(pr))) ? true : undefined,
    );
    world.verdict = 'success';
    github.unsuspend(installation);
    await world.untilState(pr, 'MERGED', 2 * PATIENCE_MS);
  });

  test('a renamed and transferred repository goes on [G36]', async () => {
    const { github, repository } = world;
    github.rename(repository, 'renamed');
    await until('it is known by its new name', PATIENCE_MS, async () => {
      const { repositories } = await world.ask('listRepositories', {});
      return JSON.stringify(repositories).includes('renamed') ? true : undefined;
    });
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    github.comment(pr, 'ada', '/sluice merge');
    await world.untilState(pr, 'MERGED');
  });
});

describe('a server that GitHub tells nothing', () => {
  test('lands what is commented and labelled all the same [G34]', async (t) => {
    const world = await GithubServer.start({ hasWebhooks: false });
    t.after(() => world.stop());
    const { github, repository } = world;
    const commented = await github.openPullRequest(repository, { author: 'ada' });
    const labelled = await github.openPullRequest(repository, { author: 'ada' });
    github.comment(commented, 'ada', '/sluice merge');
    github.label(labelled, 'ada', 'trunk-merge-queue-submit');
    await world.untilState(commented, 'MERGED', 4 * PATIENCE_MS);
    await world.untilState(labelled, 'MERGED', 4 * PATIENCE_MS);
  });
});
