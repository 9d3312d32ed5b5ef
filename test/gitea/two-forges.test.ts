// One server on a GitHub and a Gitea, with the same names on both.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GithubWorld } from '../e2e/github-world.ts';
import { connectionOf, GiteaWorld, startPeople } from './gitea-world.ts';

test('a server on two forges keeps repositories and pull requests of the same name apart [G159]', async (t) => {
  const here = await startPeople();
  const github = await GithubWorld.create({ environment: await connectionOf(here.people, here.proxy) });
  t.after(async () => {
    await github.close();
    await here.proxy.close();
    await here.people.gitea.close();
  });
  const place = { ...here, server: github.server };
  const gitea = await GiteaWorld.create(place, 'app');
  const [theirs, ours] = [await github.open(), await gitea.open()];
  assert.equal(theirs.number, ours.number, 'both are #1 of acme/app');
  github.say(theirs, '/sluice merge');
  const tested = await github.untilTestBranch(theirs);
  assert.deepEqual(await gitea.testBranches(), [], 'a command on GitHub tests nothing on Gitea');
  await gitea.say(ours, '/sluice merge');
  const { sha } = await gitea.untilTestBranch(ours);
  await gitea.report(sha, 'success');
  await gitea.landedAll([ours]);
  assert.equal((await github.get(theirs.number)).state, 'TESTING', 'a status of Gitea passes nothing on GitHub');
  assert.equal(github.sticky(theirs)?.includes('Landed'), false);
  github.report(tested.sha, 'success');
  await github.untilState(theirs, 'MERGED');
  await gitea.untilTold(ours, 'Landed');
  assert.equal((await gitea.line()).length, 1);
});
