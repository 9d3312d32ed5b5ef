import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Octokit } from 'octokit';
import { createFakeGithub } from './fake-github.ts';
import { refusal, useGithub } from './use-github.ts';

/** GitHub's own client asks, and every answer is compared with GitHub's description when the file ends. */
const here = useGithub();

describe('a request', () => {
  it('a request that the description of the API does not allow is refused', async () => {
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

  it('a request for a renamed repository is sent on as it is', async () => {
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

  it('a list leads to its other pages, and back from beyond its end', async () => {
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

describe('a pull request', () => {
  it('a pull request can be merged or not, which the first reader does not learn, nor after the base moved', async () => {
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

  it('a pull request says in one word what stands in the way', async () => {
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
