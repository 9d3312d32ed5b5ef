import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runGit } from '../contract/plain-repository.ts';
import type { ApiFault } from '../fake/hosted/faults.ts';
import { shareGitea } from './gitea-world.ts';

const aWorld = shareGitea();

/** They break the Gitea that they share, so each has it for itself. */
describe('a queue on Gitea, on bad days', () => {
  test('a repository that is renamed while it is tested lands under its new name [G172]', async () => {
    const world = await aWorld();
    const pr = await world.open();
    await world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await world.rename(`${world.name}-renamed`);
    await world.report(sha, 'success');
    await world.until('main has moved', async () => ((await world.head('main')) === sha ? true : undefined));
    await world.untilMerged(pr);
  });

  test('a pull request that a person merges past the queue leaves it', async () => {
    const world = await aWorld();
    const [mine, other] = [await world.open(), await world.open()];
    for (const pr of [mine, other]) await world.say(pr, '/sluice merge');
    await world.untilTestBranch(other);
    await world.until('a person merges it', async () => {
      const answer = await world.people.ask('root', 'POST', `${world.path}/pulls/${mine.number}/merge`, {
        Do: 'merge',
      });
      return answer.status === 200 ? true : undefined;
    });
    const merged = await world.head('main');
    const { landed } = await world.untilLanded(other, { onto: merged });
    assert.equal(await world.head('main'), landed);
    await world.untilMerged(other);
  });

  test('test branches get drafts that are closed in the end', async () => {
    const world = await aWorld({ settings: { createPrsForTestingBranches: true } });
    const pr = await world.open();
    await world.say(pr, '/sluice merge');
    const { sha, branch } = await world.untilTestBranch(pr);
    const drafts = async () =>
      (
        (await world.ask('/pulls?state=all')).body as readonly {
          title: string;
          state: string;
          head: { label: string };
        }[]
      ).filter(({ head }) => head.label === branch);
    const [draft] = await world.until('there is a draft', async () =>
      (await drafts()).length > 0 ? drafts() : undefined,
    );
    assert.match(draft?.title ?? '', /^WIP: /);
    await world.report(sha, 'success');
    await world.untilState(pr, 'MERGED');
    await world.until('it is closed', async () =>
      (await drafts()).every(({ state }) => state === 'closed') ? true : undefined,
    );
  });
});

/** A real Gitea cannot be told to misbehave. */
const isReal = process.env['SLUICE_REAL_GITEA'] !== undefined;

describe('a queue on Gitea lands a pull request once when', { skip: isReal }, () => {
  const again: ApiFault = {
    kind: 'answer',
    answer: { status: 405, body: { message: 'Please try again later' } },
    when: 'before',
  };
  const lost: ApiFault = { kind: 'reset', when: 'after' };
  const broken: ApiFault = { kind: 'error', status: 500, when: 'before' };
  const merge = 'POST /repos/{owner}/{repo}/pulls/{index}/merge';

  for (const { name, landingMode, route, faults } of [
    { name: 'a merge is answered with "try again later"', landingMode: 'API', route: merge, faults: [again, again] },
    { name: 'the answer to a merge is lost', landingMode: 'API', route: merge, faults: [lost] },
    { name: 'the answer to the push is lost', landingMode: 'PUSH', route: 'git-receive-pack', faults: [lost] },
    {
      name: 'a landed pull request cannot be marked at first',
      landingMode: 'PUSH',
      route: merge,
      faults: [broken, lost],
    },
  ]) {
    test(name, async () => {
      const world = await aWorld({ settings: { landingMode } });
      const pr = await world.open();
      await world.say(pr, '/sluice merge');
      const { sha } = await world.untilTestBranch(pr);
      const before = await world.head('main');
      const { gitea } = world.people;
      assert.ok('faults' in gitea);
      for (const fault of faults) gitea.faults.once(route, fault);
      await world.report(sha, 'success');
      const { landed } = await world.untilState(pr, 'MERGED');
      assert.equal(await world.head('main'), landed?.sha);
      await world.untilMerged(pr);
      const gitDir = gitea.gitDirOf(world.fullName);
      assert.equal(await runGit(gitDir, ['rev-list', '--count', '--first-parent', `${before}..main`]), '1');
      assert.equal(gitea.faults.fired.length > 0, true);
      gitea.faults.clear();
    });
  }
});
