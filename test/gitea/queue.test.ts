import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { type GiteaWorld, type OpenRequest, shareGitea } from './gitea-world.ts';

const aWorld = shareGitea();

const show = async (world: GiteaWorld, { number }: Pick<OpenRequest, 'number'>) =>
  (await world.ask(`/pulls/${number}`)).body;
/** The tests wait more than they compute. */
describe('a queue on Gitea', { concurrency: 4 }, () => {
  test('a comment submits, CI passes, the tested commit lands, and the pull request shows as merged', async () => {
    const world = await aWorld();
    const pr = await world.open();
    await world.say(pr, 'Looks good.\n\n/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await world.untilTold(pr, 'Being tested');
    // Everybody with write access may set a status. Only the one of CI counts.
    await world.report(sha, 'failure', 'ada');
    await world.report(sha, 'success');
    const { landed } = await world.untilState(pr, 'MERGED');
    assert.equal(landed?.sha, sha);
    assert.equal(await world.head('main'), sha);
    assert.equal((await world.untilMerged(pr)).merge_commit_sha, sha);
    await world.untilTold(pr, 'Landed');
    assert.equal((await world.comments(pr)).length, 1);
    await world.until('test branches are gone', async () =>
      (await world.testBranches()).length === 0 ? true : undefined,
    );
  });

  for (const mergeMethod of ['SQUASH', 'MERGE_COMMIT']) {
    test(`a stack lands by one run with ${mergeMethod}, and shows as merged [O44] [L60]`, async () => {
      const world = await aWorld({ settings: { mergeMethod } });
      const stack = await world.openStack(3);
      const [lower, , tip] = stack as [OpenRequest, OpenRequest, OpenRequest];
      await world.say(tip, '/sluice merge --stack');
      const { sha } = await world.untilTestBranch(lower);
      await world.report(sha, 'success');
      for (const pr of stack) {
        assert.equal((await world.untilState(pr, 'MERGED')).landed?.testedSha, sha);
        await world.untilMerged(pr);
        assert.equal((await show(world, pr)).base.ref, 'main');
      }
    });
  }

  test('a pass that a webhook tells of is shown, but lands nothing before Gitea confirms it [G173] [G31]', async () => {
    const requiredStatuses = ['build', 'lint', 'unit'].map((name) => ({ name, app: 'ci' }));
    const world = await aWorld({ settings: { requiredStatuses } });
    const pr = await world.open();
    await world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    const before = await world.head('main');
    const { id } = (await world.people.ask('ci', 'GET', '/user')).body;
    const created_at = new Date().toISOString();
    const sender = { id, login: 'ci' };
    for (const context of ['lint', 'unit', 'build']) {
      await world.deliver('status', { id: 1, sha, state: 'success', context, created_at, sender });
    }
    const untilShown = (name: string) =>
      world.until(`${name} is shown as passed`, async () => {
        type Shown = { readonly testRuns: readonly CandidateView[] };
        const { testRuns } = await world.api.ok<Shown>('getMergeQueueTestingDetails', world.ref);
        const checks = testRuns.flatMap(({ checkSuites }) => checkSuites.flatMap(({ checkRuns }) => checkRuns));
        return checks.find((check) => check.name === name && check.conclusion === 'SUCCESS');
      });
    await untilShown('unit');
    await world.report(sha, 'success', 'ci', 'build');
    await untilShown('build');
    assert.equal((await world.untilState(pr, 'TESTING')).state, 'TESTING');
    assert.equal(await world.head('main'), before);
    await world.report(sha, 'success', 'ci', 'lint');
    await world.report(sha, 'success', 'ci', 'unit');
    await world.untilState(pr, 'MERGED');
  });

  test('a batch lands in one push, and every pull request shows as merged with its own commit [G167]', async () => {
    const world = await aWorld({ settings: { batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 10 } });
    const prs = [await world.open(), await world.open(), await world.open()];
    for (const pr of prs) await world.say(pr, '/sluice merge');
    const { sha } = await world.until('the batch is built', async () => (await world.testBranches())[0]);
    await world.report(sha, 'success');
    const entries = await Promise.all(prs.map((pr) => world.untilState(pr, 'MERGED')));
    assert.equal(await world.head('main'), sha);
    for (const [index, pr] of prs.entries()) {
      assert.equal((await world.untilMerged(pr)).merge_commit_sha, entries[index]?.landed?.sha);
    }
    assert.equal(new Set(entries.map(({ landed }) => landed?.sha)).size, 3);
  });

  test('through the API, Gitea merges itself [G166]', async () => {
    const world = await aWorld({ settings: { landingMode: 'API' } });
    const pr = await world.open();
    await world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await world.report(sha, 'success');
    const { landed } = await world.untilState(pr, 'MERGED');
    assert.equal(landed?.kind, 'SAME_TREE');
    const shown = await world.untilMerged(pr);
    assert.deepEqual([shown.merge_commit_sha, await world.head('main')], [landed?.sha, landed?.sha]);
  });

  test('a label submits the pull request of a fork [G164]', async () => {
    const world = await aWorld();
    const { people } = world;
    await people.get('eve', 'POST', `${world.path}/forks`, {});
    const change = { files: { 'fork.txt': 'x\n' } };
    const fork = `eve/${world.name}`;
    await people.commit('eve', fork, 'refs/heads/theirs', await world.head('main'), change, world.fullName);
    const number = await world.request('eve', 'eve:theirs', 'From a fork');
    // The server must have heard of the commit a second before: Gitea tells whole seconds.
    const { updated_at } = await show(world, { number });
    await world.until('a few seconds passed', async () => Date.now() >= Date.parse(updated_at) + 4_000 || undefined);
    const name = 'trunk-merge-queue-submit';
    const { id } = await people.get('ada', 'POST', `${world.path}/labels`, { name, color: '#00aabb' });
    await people.get('ada', 'POST', `${world.path}/issues/${number}/labels`, { labels: [id] });
    const { sha } = await world.untilTestBranch({ number });
    await world.report(sha, 'success');
    await world.untilState({ number }, 'MERGED');
    await world.untilMerged({ number });
  });
});
