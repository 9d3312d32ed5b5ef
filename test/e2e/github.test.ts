import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, test } from 'node:test';
import type { PullRequest } from '../fake/github/model.ts';
import { type GithubWorld, shareGithub } from './github-world.ts';
import { makeFolder, until } from './harness.ts';
import { sluice } from './kept-sluice.ts';

const TOLD_MS = 30_000;

const aWorld = shareGithub();

const untilTold = (world: GithubWorld, pr: PullRequest, text: string) =>
  until(`#${pr.number} says "${text}"; it says ${world.sticky(pr)}`, TOLD_MS, async () =>
    world.sticky(pr)?.includes(text) ? true : undefined,
  );

const untilTidy = ({ github, repository }: GithubWorld) =>
  until('refs of candidates are gone', TOLD_MS, async () => {
    const left = [...github.refs(repository).keys()].filter((ref) => ref.startsWith('refs/heads/sluice/'));
    return left.length === 0 ? true : undefined;
  });

/** The tests wait more than they compute. */
describe('a queue on GitHub', { concurrency: 4 }, () => {
  test('a failed pull request is removed, says why, its CI runs are stopped, and its commit stays [E93]', async () => {
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
    const { result } = await world.get(pr.number, { includeResult: true });
    const kept = result?.repro?.fetch.replace('git fetch origin ', '') ?? '';
    assert.equal(world.github.refs(world.repository).get(kept), sha);
    await until('the run is stopped', TOLD_MS, async () => run.conclusion);
    assert.equal(run.conclusion, 'cancelled');
    assert.equal(pr.state, 'open');
    await untilTidy(world);
  });

  test('sluice land takes the pull request of the branch, and says that there is none [W80] [E96]', async () => {
    const world = await aWorld();
    const { gitDir, owner } = world.repository;
    const pr = await world.open({ branch: 'feature' });
    const folder = await makeFolder();
    const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'pipe' });
    execFileSync('git', ['clone', '-q', '-b', 'feature', gitDir, folder]);
    git('remote', 'set-url', 'origin', `https://github.com/${owner.login}/app.git`);
    const land = (...args: string[]) => sluice(['land', ...args], { env: world.server.env, cwd: folder });
    const landing = land('--json');
    world.report((await world.untilTestBranch(pr)).sha, 'success');
    const { code, out, err } = await landing;
    assert.deepEqual([code, JSON.parse(out).prNumber, JSON.parse(out).result.outcome], [0, pr.number, 'LANDED'], err);
    git('checkout', '-q', '-b', 'other');
    const none = await land();
    assert.equal(none.code, 1);
    assert.match(
      none.err,
      /no open pull request\. If it has not landed, push the branch and open a pull request into main at the forge\./,
    );
    git('checkout', '-q', '--detach');
    assert.match((await land()).err, /HEAD is detached\. Say which pull request: --pr 7/);
    const next = await world.open();
    assert.match(
      (await land('--pr', `${next.number}`)).err,
      /is at [0-9a-f]{40}, and HEAD here is [0-9a-f]{40}\. Push first/,
    );
  });

  test('a failed shard removes a pull request while the required check runs, and stops its CI runs [V83]', async () => {
    const shard = { name: 'test (*)', app: 'github-actions' };
    const world = await aWorld({ requiredStatuses: ['build'], failFastStatuses: [shard] });
    const pr = await world.open();
    world.say(pr, '/sluice merge');
    const { sha, branch } = await world.untilTestBranch(pr);
    const run = world.github.startRun(world.repository, { sha, branch, event: 'push' });
    world.report(sha, 'success', 'test (1)');
    world.report(sha, 'failure', 'test (2)');
    await world.untilState(pr, 'FAILED');
    await untilTold(world, pr, 'Failed and removed');
    assert.match(world.sticky(pr) ?? '', /`test \(2\)` failed/);
    await until('the run is stopped', TOLD_MS, async () => run.conclusion);
    assert.equal(run.conclusion, 'cancelled');
  });

  test('a report of an abandoned run changes nothing [C11] [G35]', async () => {
    const world = await aWorld();
    const { github } = world;
    const pr = await world.open();
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await github.push(pr, { more: 'more\n' });
    await world.untilState(pr, 'CANCELLED');
    world.report(sha, 'success');
    await untilTidy(world);
    world.say(pr, '/sluice merge');
    const again = await until('there is another test branch', TOLD_MS, async () =>
      world.testBranches().find((branch) => branch.sha !== sha),
    );
    github.reportCheck(world.repository, {
      sha,
      name: 'build',
      attempt: 2,
      status: 'completed',
      conclusion: 'failure',
    });
    world.report(again.sha, 'success');
    const { landed, prSha } = await world.untilState(pr, 'MERGED');
    assert.deepEqual([landed?.testedSha, prSha], [again.sha, pr.headSha]);
  });
});
