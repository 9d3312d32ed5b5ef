import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { App, Octokit } from 'octokit';
import { createKeyPair } from './auth.ts';
import { createFakeGithub } from './fake-github.ts';
import { refusal, useGithub } from './use-github.ts';

const here = useGithub();

describe('the app', () => {
  it('gets a token for a repository, and acts as its bot', async () => {
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const { data } = await octokit.rest.issues.createComment({ ...here.ref, issue_number: pr.number, body: 'Hello' });
    assert.equal(data.user?.login, 'sluice[bot]');
    assert.equal(data.performed_via_github_app?.slug, 'sluice');
    const found = await octokit.rest.issues.listComments({ ...here.ref, issue_number: pr.number });
    assert.deepEqual(
      found.data.map(({ body }) => body),
      ['Hello'],
    );
  });

  it('is nobody with a wrong key, and does not see where it is not installed', async () => {
    const { privateKey } = createKeyPair();
    const app = new App({
      appId: here.github.app.id,
      privateKey,
      Octokit: Octokit.defaults({ baseUrl: here.github.url, retry: { enabled: false } }),
    });
    await assert.rejects(app.octokit.rest.apps.getAuthenticated(), refusal(401, /could not be decoded/));
    await here.github.createRepository('elsewhere/app', { isPrivate: true });
    const octokit = await here.asApp();
    await assert.rejects(octokit.rest.repos.get({ owner: 'elsewhere', repo: 'app' }), refusal(404, /Not Found/));
  });

  it('may only do what it was given', async () => {
    const { installation } = here;
    here.github.grant(installation, { metadata: 'read', pull_requests: 'read' });
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    await octokit.rest.pulls.get({ ...here.ref, pull_number: pr.number });
    await assert.rejects(
      octokit.rest.issues.createComment({ ...here.ref, issue_number: pr.number, body: 'No' }),
      refusal(403, /not accessible by integration/),
    );
    here.github.grant(installation, here.github.app.permissions);
  });

  it('is locked out while it is suspended', async () => {
    const octokit = await here.asApp();
    const { installation } = here;
    here.github.suspend(installation);
    await assert.rejects(octokit.rest.repos.get(here.ref), refusal(403, /suspended/));
    here.github.unsuspend(installation);
    assert.equal((await octokit.rest.repos.get(here.ref)).data.name, here.repository.name);
  });
});

describe('checks', () => {
  it('asks apps for theirs with every push, where that is wanted', async () => {
    const busy = await createFakeGithub({ requestsSuites: true });
    busy.install(busy.app, 'acme');
    const heard: string[] = [];
    busy.world.onHappening((happening) => {
      if (happening.event === 'check_suite') heard.push(`${happening.action} ${happening.suite.app.slug}`);
    });
    const own = await busy.createRepository('acme/app');
    await busy.openPullRequest(own);
    assert.deepEqual(heard, ['requested sluice', 'requested sluice']);
    await busy.close();
  });

  it('has the newest of each suite count', async () => {
    const { headSha: sha } = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const report = { sha, name: 'ci' };
    here.github.reportCheck(here.repository, { ...report, conclusion: 'failure' });
    here.github.reportCheck(here.repository, { ...report, conclusion: 'success', attempt: 2 });
    const list = async () => (await here.as('ada').rest.checks.listForRef({ ...here.ref, ref: sha })).data.check_runs;
    assert.deepEqual(
      (await list()).map(({ conclusion }) => conclusion),
      ['success'],
    );
    here.github.reportCheck(here.repository, { ...report, conclusion: 'failure', isOtherSuite: true });
    assert.equal((await list()).length, 2);
  });
});

describe('mergeability', () => {
  it('is unknown at first, and again when the base moves', async () => {
    const lazy = await createFakeGithub({ mergeability: 'lazy' });
    const own = await lazy.createRepository('acme/app');
    const pr = await lazy.openPullRequest(own, { files: { 'a.txt': 'a\n' } });
    const octokit = new Octokit({ auth: lazy.createToken('acme'), baseUrl: lazy.url });
    const look = async () => {
      const { data } = await octokit.rest.pulls.get({ owner: 'acme', repo: 'app', pull_number: pr.number });
      await lazy.settle();
      return [data.mergeable, data.mergeable_state];
    };
    assert.deepEqual(await look(), [null, 'unknown']);
    assert.deepEqual(await look(), [true, 'clean']);
    await lazy.commit(own, { branch: 'main', files: { 'a.txt': 'b\n' } });
    assert.deepEqual(await look(), [null, 'unknown']);
    assert.deepEqual(await look(), [false, 'dirty']);
    await lazy.close();
  });

  it('says in one word what stands in the way', async () => {
    const octokit = here.as('ada');
    const state = async (pull_number: number) =>
      (await octokit.rest.pulls.get({ ...here.ref, pull_number })).data.mergeable_state;
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    assert.equal(await state(pr.number), 'clean');
    here.github.setStatus(here.repository, { sha: pr.headSha, context: 'lint', state: 'pending' });
    assert.equal(await state(pr.number), 'unstable');
    here.github.addRuleset(here.repository, { rules: [{ type: 'pull_request', approvals: 1 }] });
    assert.equal(await state(pr.number), 'blocked');
    here.github.review(pr, 'root');
    assert.equal(await state(pr.number), 'unstable');
    here.github.convertToDraft(pr);
    assert.equal(await state(pr.number), 'draft');
    here.github.markReady(pr);
    const checks = [{ context: 'lint', appId: undefined }];
    here.github.setStatus(here.repository, { sha: pr.headSha, context: 'lint', state: 'success' });
    here.github.protect(here.repository, 'main', { checks, isStrict: true });
    assert.equal(await state(pr.number), 'clean');
    here.github.unprotect(here.repository, 'main');
    await here.github.commit(here.repository, { branch: 'main', files: { 'm.txt': 'm\n' } });
    here.github.protect(here.repository, 'main', { checks, isStrict: true });
    assert.equal(await state(pr.number), 'behind');
  });
});
