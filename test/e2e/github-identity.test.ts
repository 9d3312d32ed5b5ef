// Repository names on GitHub change hands. Each test has a GitHub and a server of its own.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { PullRequest } from '../fake/github/model.ts';
import { GithubWorld } from './github-world.ts';
import { until } from './harness.ts';

const PATIENCE_MS = 60_000;

async function underTest(t: TestContext) {
  const world = await GithubWorld.create();
  t.after(() => world.close());
  const pr = await world.open();
  world.say(pr, '/sluice merge');
  const { sha } = await world.untilTestBranch(pr);
  await until('the comment is there', PATIENCE_MS, async () => world.sticky(pr));
  return { world, pr, sha };
}

function untilExplained(world: GithubWorld, pr: PullRequest, words: RegExp): Promise<string> {
  return until(`#${pr.number} says ${words}`, PATIENCE_MS, async () => {
    const { explanation } = await world.get(pr.number, { includeExplanation: true });
    const text = JSON.stringify(explanation);
    return words.test(text) ? text : undefined;
  });
}

describe('the name of a repository on GitHub', { concurrency: 3 }, () => {
  test('that another one has now is left alone, until it takes the place of the former one [G112]', async (t) => {
    const { world, pr, sha } = await underTest(t);
    const { github } = world;
    github.deleteRepository(world.repository);
    const other = await github.createRepository('acme/app', { roles: { grace: 'write' } });
    await untilExplained(world, pr, /is another repository now \(number \d+ at its forge\)/);
    const theirs = await github.openPullRequest(other, { author: 'grace' });
    github.comment(theirs, 'grace', '/sluice merge');
    const report = { sha, name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' };
    await world.api.ok('reportCheck', { repo: world.ref.repo, ...report });
    const refused = await world.api.post('submitPullRequest', { ...world.ref, pr: { number: theirs.number } });
    assert.equal(refused.status, 502);
    await world.untilState(pr, 'TESTS_PASSED');
    await untilExplained(world, pr, /TRYING_AGAIN.*is another repository now/);
    assert.deepEqual(
      [...github.refs(other).keys()].filter((ref) => ref.includes('sluice')),
      [],
    );
    assert.equal(github.listComments(theirs).length, 1);
    assert.equal(theirs.merged, undefined);
    await world.api.refused('400 VALIDATION_FAILED', 'registerRepository', { repo: world.ref.repo });
    await world.api.ok('cancelPullRequest', { ...world.ref, pr: { number: pr.number } });
    await world.untilState(pr, 'CANCELLED');
    await world.api.ok('deleteQueue', world.ref);
    await world.api.ok('registerRepository', { repo: world.ref.repo });
    await world.api.ok('createQueue', { ...world.ref, requiredStatuses: ['build'] });
    github.comment(theirs, 'grace', '/sluice merge');
    const branch = () => [...github.refs(other)].find(([ref]) => ref.startsWith('refs/heads/sluice/pr-'));
    const [, tested = ''] = await until('it is tested', PATIENCE_MS, async () => branch());
    assert.notEqual(tested, sha);
    github.reportCheck(other, { sha: tested, name: 'build', status: 'completed', conclusion: 'success' });
    await until('it has landed', PATIENCE_MS, async () => theirs.merged);
  });

  test('is given to another one, and the queue goes on with its own under its new name [G77]', async (t) => {
    const { world, pr, sha } = await underTest(t);
    const { github, repository } = world;
    github.rename(repository, 'moved');
    const other = await github.createRepository('acme/app');
    const list = () => world.api.ok<{ repositories: { repo: { name: string } }[] }>('listRepositories', {});
    await until('it is known by its new name', PATIENCE_MS, async () =>
      (await list()).repositories.some(({ repo }) => repo.name === 'moved') ? true : undefined,
    );
    world.report(sha, 'success');
    await until('it has landed', PATIENCE_MS, async () => pr.merged);
    assert.deepEqual(
      [...github.refs(other).keys()].filter((ref) => ref.includes('sluice')),
      [],
    );
  });

  test('is found in any letters, and is spelled as GitHub does [G79]', async (t) => {
    const world = await GithubWorld.create();
    t.after(() => world.close());
    const loud = { host: 'GitHub.com', owner: 'ACME', name: 'APP' };
    const { repo } = await world.api.ok<{ repo: object }>('registerRepository', { repo: loud });
    assert.deepEqual(repo, world.ref.repo);
    const pr = await world.open();
    await world.api.ok('submitPullRequest', { ...world.ref, repo: loud, pr: { number: pr.number } });
    const { sha } = await world.untilTestBranch(pr);
    await world.api.ok('setImpactedTargets', {
      ...{ repo: loud, targetBranch: 'main', impactedTargets: ['a'] },
      pr: { number: pr.number, sha: pr.headSha },
    });
    const report = { name: 'build', status: 'COMPLETED', conclusion: 'SUCCESS' };
    await world.api.ok('reportCheck', { repo: loud, sha, ...report });
    await world.untilState(pr, 'MERGED');
  });
});
