// One server on a GitHub and a Gitea, with the same names on both.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { GithubWorld } from '../e2e/github-world.ts';
import { closePlace, connectionOf, GiteaWorld, SECRET, startPeople, startPlace } from './gitea-world.ts';

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

test('deliveries that are forged, or copies of GitHub’s, are refused [G159] [G168]', async (t) => {
  const place = await startPlace();
  t.after(() => closePlace(place));
  const queue = await GiteaWorld.create(place, 'app', { webhooks: false });
  const { host } = new URL(place.proxy.url);
  const body = JSON.stringify({ ref: 'refs/heads/main', repository: { name: queue.name, owner: { login: 'acme' } } });
  const signature = createHmac('sha256', SECRET).update(body).digest('hex');
  const send = (path: string, headers: Record<string, string>) =>
    fetch(`${place.server.url}${path}`, { method: 'POST', headers, body }).then(({ status }) => status);
  const json = { 'content-type': 'application/json' };
  const gitea = { ...json, 'x-gitea-event': 'push', 'x-gitea-signature': signature };
  const github = { ...json, 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${signature}` };
  assert.equal(await send(`/webhooks/gitea/${host}`, gitea), 202);
  assert.equal(await send(`/webhooks/gitea/${host}`, github), 401);
  assert.equal(await send('/webhooks/github', { ...github, ...gitea }), 401);
  assert.equal(await send(`/webhooks/gitea/${host}`, { ...gitea, 'x-gitea-signature': 'a'.repeat(64) }), 401);
  assert.equal(await send(`/webhooks/gitea/${host}`, { ...gitea, 'x-gitea-signature': '' }), 401);
});
