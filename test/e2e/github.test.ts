import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PullRequest } from '../fake/github/model.ts';
import { type GithubWorld, shareGithub, WRITER } from './github-world.ts';
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
});
