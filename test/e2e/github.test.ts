import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PullRequest } from '../fake/github/model.ts';
import { GithubWorld, shareGithub, WRITER } from './github-world.ts';
import { until } from './harness.ts';

const TOLD_MS = 30_000;

const aWorld = shareGithub();

const untilTold = (world: GithubWorld, pr: PullRequest, text: string) =>
  until(`#${pr.number} says "${text}"; it says ${world.sticky(pr)}`, TOLD_MS, async () =>
    world.sticky(pr)?.includes(text) ? true : undefined,
  );

function ownCheck({ github, repository }: GithubWorld, pr: PullRequest) {
  const own = github.listChecks(repository, pr.headSha).filter(({ name }) => name === 'Sluice (main)');
  assert.ok(own.length <= 1, 'there is one check');
  return own[0];
}

const untilTidy = ({ github, repository }: GithubWorld) =>
  until('refs of candidates are gone', TOLD_MS, async () => {
    const left = [...github.refs(repository).keys()].filter((ref) => ref.includes('/sluice/'));
    return left.length === 0 ? true : undefined;
  });

/** The tests wait more than they compute. */
describe('a queue on GitHub', { concurrency: 4 }, () => {
  test('a comment submits, CI passes, the pull request is merged, and its page says so [G1] [G45] [G48] [G50]', async () => {
    const world = await aWorld();
    const pr = await world.open();
    world.say(pr, 'Looks good.\n\n/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await untilTold(world, pr, 'Being tested');
    world.report(sha, 'success');
    const { landed } = await world.untilState(pr, 'MERGED');
    assert.equal(landed?.kind, 'SAME_TREE');
    assert.equal(landed?.testedSha, sha);
    assert.equal(world.github.refs(world.repository).get('refs/heads/main'), landed?.sha);
    assert.ok(pr.merged !== undefined || pr.state === 'closed');
    await untilTold(world, pr, 'Landed');
    await until('the check has ended', TOLD_MS, async () => ownCheck(world, pr)?.conclusion);
    assert.equal(ownCheck(world, pr)?.conclusion, 'success');
    assert.deepEqual(world.replies(pr), []);
    await untilTidy(world);
  });

  test('a failed pull request is removed, says why, and its CI runs are stopped', async () => {
    const world = await aWorld({ requiredStatuses: ['build', 'lint'] });
    const pr = await world.open();
    world.say(pr, '/trunk merge -p high --no-batch');
    const { sha, branch } = await world.untilTestBranch(pr);
    const run = world.github.startRun(world.repository, { sha, branch, event: 'push' });
    world.report(sha, 'failure');
    const entry = await world.untilState(pr, 'FAILED');
    assert.equal(entry.priorityName, 'high');
    assert.equal(entry.noBatch, true);
    await untilTold(world, pr, 'Failed and removed');
    assert.match(world.sticky(pr) ?? '', /`build` failed/);
    await until('the run is stopped', TOLD_MS, async () => run.conclusion);
    assert.equal(run.conclusion, 'cancelled');
    assert.equal(pr.state, 'open');
    await untilTidy(world);
  });

  test('a batch lands one by one, and each entry says how its landing is proven', async () => {
    const world = await aWorld({ batch: true, batchingMinSize: 3, batchingMaxWaitTimeMinutes: 10 });
    const prs: PullRequest[] = [];
    for (let count = 0; count < 3; count += 1) prs.push(await world.open());
    for (const pr of prs) world.say(pr, '/sluice merge');
    const { sha } = await until('the batch is built', TOLD_MS, async () => world.testBranches()[0]);
    world.report(sha, 'success');
    const entries = await Promise.all(prs.map((pr) => world.untilState(pr, 'MERGED')));
    const kinds = entries.map(({ landed }) => landed?.kind).toSorted();
    assert.deepEqual(kinds, ['PREFIX', 'PREFIX', 'SAME_TREE']);
    for (const pr of prs) await untilTold(world, pr, 'Landed');
  });

  test('a red branch holds the queue, who was removed for it returns, and a repair lands [V16] [V17] [V18]', async () => {
    const world = await aWorld({ concurrency: 1 });
    const [first, second, repair] = [await world.open(), await world.open(), await world.open()];
    for (const pr of [first, second]) {
      world.say(pr, '/sluice merge');
      world.report((await world.untilTestBranch(pr)).sha, 'failure');
      await world.untilState(pr, 'FAILED');
    }
    const isOfHead = ({ branch }: { readonly branch: string }) => !/\/pr-\d+\//.test(branch);
    const head = await until('the head is tested', TOLD_MS, async () => world.testBranches().find(isOfHead));
    world.report(head.sha, 'failure');
    for (const pr of [first, second]) await world.untilState(pr, 'PENDING');
    await untilTold(world, first, 'main itself was broken when it failed');
    await untilTold(world, second, 'the head of main itself fails build');
    world.say(repair, '/sluice merge');
    world.report((await world.untilTestBranch(repair)).sha, 'success');
    await world.untilState(repair, 'MERGED');
    for (const pr of [first, second]) {
      world.report((await world.untilTestBranch(pr)).sha, 'success');
      await world.untilState(pr, 'MERGED');
    }
  });

  test('without deliveries everything still happens', async (t) => {
    const world = await GithubWorld.of(t, { webhooks: false });
    const pr = await world.open();
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    world.report(sha, 'success');
    await world.untilState(pr, 'MERGED');
    await untilTold(world, pr, 'Landed');
  });

  test('pushed, the tested commit itself lands, and the pull request is closed with a word [G52]', async () => {
    const world = await aWorld({ landingMode: 'PUSH', createPrsForTestingBranches: true });
    const pr = await world.open();
    world.say(pr, '/sluice merge');
    const { sha, branch } = await world.untilTestBranch(pr);
    const draft = await until('there is a draft', TOLD_MS, async () =>
      [...world.repository.pulls.values()].find(({ headRef }) => headRef === branch),
    );
    assert.equal(draft.isDraft, true);
    world.report(sha, 'success');
    const { landed } = await world.untilState(pr, 'MERGED');
    assert.equal(landed?.kind, 'IDENTICAL');
    assert.equal(world.github.refs(world.repository).get('refs/heads/main'), sha);
    await until('it is closed', TOLD_MS, async () => (pr.state === 'closed' ? true : undefined));
    await untilTold(world, pr, sha.slice(0, 12));
    assert.match(world.sticky(pr) ?? '', /It is on `main`. Its commit \[`[0-9a-f]{12}`\]/);
    await until('the draft is closed', TOLD_MS, async () => (draft.state === 'closed' ? true : undefined));
    await untilTidy(world);
  });

  test("a fork's code is tested only after a writer's act on that head, and a later push cancels [G54] [G56]", async () => {
    const world = await aWorld();
    const fork = await world.github.fork(world.repository, 'mallory');
    const pr = await world.open({ author: 'mallory', from: fork });
    world.say(pr, '/sluice merge', 'mallory');
    await until('mallory is refused', TOLD_MS, async () => (world.replies(pr).length === 1 ? true : undefined));
    assert.match(world.replies(pr)[0] ?? '', /`mallory` has no write access to this repository/);
    assert.deepEqual(world.testBranches(), []);
    // GitHub dates comments in whole seconds: a comment in the second in which the server learned of the head counts as
    // earlier. The server knows of the head by now.
    const heardAt = Date.now();
    await until('a new second has begun', TOLD_MS, async () =>
      Math.floor(Date.now() / 1_000) * 1_000 > heardAt ? true : undefined,
    );
    world.say(pr, '/sluice merge', WRITER);
    await world.untilTestBranch(pr);
    await world.github.push(pr, { 'evil.txt': 'steal\n' });
    const entry = await world.untilState(pr, 'CANCELLED');
    assert.equal(entry.isCurrentlySubmittedToQueue, false);
    await untilTidy(world);
  });

  test('a command counts with the present permission of its author, and never from the app itself [G54] [G55]', async () => {
    const world = await aWorld();
    world.github.setPermission(world.repository, 'eve', 'read');
    const pr = await world.open();
    world.say(pr, '/sluice merge', 'eve');
    await until('eve is refused', TOLD_MS, async () => (world.replies(pr).length === 1 ? true : undefined));
    world.github.setPermission(world.repository, 'eve', 'write');
    const own = world.github.listComments(pr).find(({ author }) => author === world.github.app.bot);
    assert.ok(own);
    world.github.editComment(pr, own, '/sluice merge');
    world.say(pr, '/sluice merge', own.author.login);
    world.say(pr, '/sluice help', 'eve');
    await until('eve is answered', TOLD_MS, async () =>
      world.replies(pr).find((text) => /`\/sluice merge` puts/.test(text)),
    );
    assert.equal(world.sticky(pr), undefined);
    assert.deepEqual(world.testBranches(), []);
  });

  test('a label submits, its removal cancels, and it is removed at the end [G53] [G57] [G140]', async () => {
    const world = await aWorld({ enqueueingLabel: 'land it', stateLabelsEnabled: true });
    const pr = await world.open();
    world.github.label(pr, WRITER, 'land it');
    await world.untilTestBranch(pr);
    await until('it has a label', TOLD_MS, async () => pr.labels.find(({ name }) => name === 'sluice-testing'));
    world.github.unlabel(pr, WRITER, 'land it');
    await world.untilState(pr, 'CANCELLED');
    await until('it has another', TOLD_MS, async () => pr.labels.find(({ name }) => name === 'sluice-cancelled'));
    await until('the former is gone', TOLD_MS, async () =>
      pr.labels.some(({ name }) => name === 'sluice-testing') ? undefined : true,
    );
    world.github.label(pr, WRITER, 'land it');
    world.report((await world.untilTestBranch(pr)).sha, 'failure');
    await until('labels are as they should be', TOLD_MS, async () =>
      pr.labels.map(({ name }) => name).join() === 'sluice-failed' ? true : undefined,
    );
    await world.untilState(pr, 'FAILED');
  });
});
