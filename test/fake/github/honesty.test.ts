import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { App, Octokit } from 'octokit';
import { asTheApp } from './a-client.ts';
import { createKeyPair } from './auth.ts';
import { createFakeGithub } from './fake-github.ts';
import { refusal, useGithub } from './use-github.ts';

/** GitHub's own client asks, and every answer is compared with GitHub's description when the file ends. */
const here = useGithub();

describe('the app', () => {
  it('acts as its bot, where it is installed', async () => {
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const { data } = await octokit.rest.issues.createComment({ ...here.ref, issue_number: pr.number, body: 'Hello' });
    assert.deepEqual([data.user?.login, data.performed_via_github_app?.slug], ['sluice[bot]', 'sluice']);
    await here.github.createRepository('elsewhere/app', { isPrivate: true });
    await assert.rejects(octokit.rest.repos.get({ owner: 'elsewhere', repo: 'app' }), refusal(404, /Not Found/));
  });

  it('an app learns who it is, and one with a wrong key is refused', async () => {
    const { rest } = asTheApp(here.github).octokit;
    assert.equal((await rest.apps.getAuthenticated()).data?.slug, 'sluice');
    assert.equal((await rest.apps.getRepoInstallation(here.ref)).data.app_slug, 'sluice');
    await rest.apps.getWebhookConfigForApp();
    const Quick = Octokit.defaults({ baseUrl: here.github.url, retry: { enabled: false } });
    const stranger = new App({ appId: here.github.app.id, privateKey: createKeyPair().privateKey, Octokit: Quick });
    await assert.rejects(stranger.octokit.rest.apps.getAuthenticated(), refusal(401, /could not be decoded/));
  });

  it('may only do what it was given, and is told which permission it needs', async () => {
    const { installation, github } = here;
    github.grant(installation, { metadata: 'read', pull_requests: 'read' });
    const octokit = await here.asApp();
    const pr = await github.openPullRequest(here.repository, { author: 'ada' });
    await octokit.rest.pulls.get({ ...here.ref, pull_number: pr.number });
    const asked = octokit.rest.issues.createComment({ ...here.ref, issue_number: pr.number, body: 'No' });
    await assert.rejects(asked, (error: { status: number; response: { headers: Record<string, string> } }) => {
      const needed = error.response.headers['x-accepted-github-permissions'];
      assert.deepEqual([error.status, needed], [403, 'issues=write; pull_requests=write']);
      return true;
    });
    github.grant(installation, github.app.permissions);
  });
});

describe('a request', () => {
  it('that the description of the API does not allow is refused', async () => {
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const run = { ...here.ref, name: 'unit', head_sha: pr.headSha };
    const half = { title: 'No summary' } as { title: string; summary: string };
    await assert.rejects(octokit.rest.checks.create({ ...run, output: half }), refusal(422, /'summary'/));
    await assert.rejects(octokit.rest.checks.create({ ...run, status: 'completed' }), refusal(422, /conclusion/));
    const status = { ...here.ref, sha: pr.headSha, state: 'success' as const };
    const description = 'x'.repeat(141);
    await assert.rejects(octokit.rest.repos.createCommitStatus({ ...status, description }), refusal(422, /too long/));
  });

  it('a route that the fake lacks is answered with 501, not as a hidden one', async () => {
    const octokit = await here.asApp();
    await assert.rejects(
      octokit.rest.issues.listMilestones(here.ref),
      refusal(501, /fake GitHub does not have GET \/repos\/acme\/app-\d+\/milestones/),
    );
    await assert.rejects(octokit.request('GET /no/such/thing'), refusal(404, /Not Found/));
  });

  it('for a renamed repository is sent on as it is', async () => {
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const { ref } = here;
    here.github.rename(here.repository, `${here.repository.name}-moved`);
    const { status } = await octokit.rest.issues.createComment({ ...ref, issue_number: pr.number, body: 'Found' });
    assert.deepEqual([status, here.github.listComments(pr).length], [201, 1]);
    assert.equal((await octokit.rest.repos.get(ref)).data.name, here.repository.name);
    const { id } = here.repository;
    assert.equal((await octokit.request('GET /repositories/{id}', { id })).data.name, here.repository.name);
    const answer = await fetch(`${here.github.url}/repos/acme/${ref.repo}/pulls?state=all`, { redirect: 'manual' });
    assert.equal(answer.status, 301);
    assert.equal(answer.headers.get('location'), `${here.github.url}/repositories/${id}/pulls?state=all`);
  });

  it('for a list leads to its other pages, and back from beyond its end', async () => {
    for (const branch of ['a', 'b', 'c']) await here.github.openPullRequest(here.repository, { author: 'ada', branch });
    const octokit = await here.asApp();
    const list = async (more: object) => octokit.rest.pulls.list({ ...here.ref, ...more });
    const links = async (page: number) => {
      const { headers } = await list({ per_page: 2, page });
      return [...(headers.link ?? '').matchAll(/[?&]page=(\d+)[^>]*>; rel="(\w+)"/g)].map(
        ([, at, rel]) => `${rel} ${at}`,
      );
    };
    assert.deepEqual(await links(1), ['next 2', 'last 2']);
    assert.deepEqual(await links(2), ['prev 1', 'first 1']);
    assert.deepEqual(await links(9), ['prev 2', 'last 2', 'first 1']);
    const numbers = async (more: object) => (await list(more)).data.map(({ number }) => number);
    assert.deepEqual(await numbers({ head: 'acme:a' }), [1]);
    assert.deepEqual(await numbers({ head: 'a' }), [3, 2, 1], 'no owner is no filter');
    assert.deepEqual(await numbers({ state: 'closed' }), []);
  });
});

describe('a repository', () => {
  it('has branches, files and people', async () => {
    const octokit = await here.asApp();
    const { data: main } = await octokit.rest.repos.getBranch({ ...here.ref, branch: 'main' });
    assert.deepEqual([main.commit.sha, main.protected], [here.main, false]);
    await assert.rejects(octokit.rest.repos.getBranch({ ...here.ref, branch: 'nowhere' }), { status: 404 });
    const { data: file } = await octokit.rest.repos.getContent({ ...here.ref, path: 'README.md' });
    assert.match(Buffer.from((file as { content: string }).content, 'base64').toString(), /^# acme/);
    const may = async (username: string) =>
      (await octokit.rest.repos.getCollaboratorPermissionLevel({ ...here.ref, username })).data.permission;
    assert.deepEqual([await may('root'), await may('ada'), await may('eve')], ['admin', 'write', 'read']);
    assert.equal((await here.as('ada').rest.users.getAuthenticated()).data.login, 'ada');
    assert.equal((await here.as('ada').rest.repos.get(here.ref)).data.permissions?.push, true);
  });

  it('has protection and rules', async () => {
    const { github, repository } = here;
    const octokit = await here.asApp();
    await github.commit(repository, { branch: 'release', files: { 'r.txt': 'r\n' } });
    const branch = { ...here.ref, branch: 'release' };
    await assert.rejects(octokit.rest.repos.getBranchProtection(branch), { status: 404 });
    github.protect(repository, 'rel*', {
      checks: [{ context: 'ci', appId: 7 }],
      reviews: { count: 2, dismissesStale: true, needsCodeOwners: false },
      pushers: ['ada'],
    });
    const { data } = await octokit.rest.repos.getBranchProtection(branch);
    assert.deepEqual(data.required_status_checks?.checks, [{ context: 'ci', app_id: 7 }]);
    const types = ['required_status_checks', 'pull_request', 'update', 'deletion', 'non_fast_forward'] as const;
    const [checks, reviews, ...plain] = types;
    const { id } = github.addRuleset(repository, {
      include: ['refs/heads/rel**'],
      bypass: [{ actorId: github.app.id, type: 'Integration', mode: 'always' }],
      rules: [
        { type: checks, checks: [{ context: 'lint', appId: 9 }], isStrict: false },
        { type: reviews, approvals: 1 },
        ...plain.map((type) => ({ type })),
      ],
    });
    const rules = await octokit.rest.repos.getBranchRules(branch);
    assert.deepEqual(
      rules.data.map(({ type }) => type),
      types,
    );
    const { data: ruleset } = await octokit.rest.repos.getRepoRuleset({ ...here.ref, ruleset_id: id });
    assert.equal(ruleset.current_user_can_bypass, 'always');
    assert.equal((await octokit.rest.repos.getBranch(branch)).data.protected, true);
  });
});

describe('a pull request', () => {
  it('can be merged or not, which the first reader does not learn, nor after the base moved', async () => {
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
    const { github, repository } = here;
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    const isWord = async (word: string) => {
      const { data } = await here.as('ada').rest.pulls.get({ ...here.ref, pull_number: pr.number });
      assert.equal(data.mergeable_state, word);
    };
    await isWord('clean');
    github.setStatus(repository, { sha: pr.headSha, context: 'lint', state: 'pending' });
    await isWord('unstable');
    github.addRuleset(repository, { rules: [{ type: 'pull_request', approvals: 1 }] });
    await isWord('blocked');
    github.review(pr, 'root');
    await isWord('unstable');
    github.convertToDraft(pr);
    await isWord('draft');
    github.markReady(pr);
    const checks = [{ context: 'lint', appId: undefined }];
    github.setStatus(repository, { sha: pr.headSha, context: 'lint', state: 'success' });
    github.protect(repository, 'main', { checks, isStrict: true });
    await isWord('clean');
    github.unprotect(repository, 'main');
    await github.commit(repository, { branch: 'main', files: { 'm.txt': 'm\n' } });
    github.protect(repository, 'main', { checks, isStrict: true });
    await isWord('behind');
  });
});

describe('checks', () => {
  it('are made and ended by their app, and the newest of each suite counts', async () => {
    const { github, repository, ref } = here;
    const octokit = await here.asApp();
    const { headSha: sha } = await github.openPullRequest(repository, { author: 'ada' });
    const draft = { ...ref, name: 'Sluice (main)', head_sha: sha, external_id: 'e1' };
    const { data } = await octokit.rest.checks.create({ ...draft, status: 'in_progress' });
    assert.ok(data.id > 2 ** 32);
    const output = { title: 'Done', summary: 'All good' };
    const ended = await octokit.rest.checks.update({ ...ref, check_run_id: data.id, conclusion: 'success', output });
    assert.deepEqual([ended.data.status, ended.data.conclusion], ['completed', 'success']);
    await assert.rejects(here.as('ada').rest.checks.create(draft), { status: 403 });
    github.reportCheck(repository, { sha, name: 'ci', conclusion: 'failure' });
    github.reportCheck(repository, { sha, name: 'ci', attempt: 2, conclusion: 'success' });
    const list = async (more = {}) => (await octokit.rest.checks.listForRef({ ...ref, ref: sha, ...more })).data;
    const ofCi = async () => (await list({ check_name: 'ci' })).check_runs.map(({ conclusion }) => conclusion);
    assert.deepEqual(await ofCi(), ['success']);
    assert.equal((await list({ filter: 'all' })).total_count, 3);
    github.reportCheck(repository, { sha, name: 'ci', conclusion: 'failure', isOtherSuite: true });
    assert.deepEqual((await ofCi()).toSorted(), ['failure', 'success']);
  });
});
