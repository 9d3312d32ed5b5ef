import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { App, Octokit } from 'octokit';
import { refusal, useGithub } from './use-github.ts';

const here = useGithub();

/** Covers behaviour of GitHub that its own clients and curl users meet, beyond Sluice's requests. */
describe('lists of pull requests', () => {
  it('are sorted and filtered as GitHub does', async () => {
    const first = await here.github.openPullRequest(here.repository, { author: 'ada', branch: 'a' });
    const second = await here.github.openPullRequest(here.repository, { author: 'ada', branch: 'b' });
    const octokit = await here.asApp();
    const list = async (more: object) =>
      (await octokit.rest.pulls.list({ ...here.ref, ...more })).data.map(({ number }) => number);
    assert.deepEqual(await list({}), [second.number, first.number]);
    assert.deepEqual(await list({ sort: 'created' }), [second.number, first.number]);
    assert.deepEqual(await list({ sort: 'long-running' }), [first.number, second.number]);
    here.github.comment(first, 'ada', 'Much talked about');
    assert.deepEqual(await list({ sort: 'popularity', direction: 'desc' }), [first.number, second.number]);
    assert.deepEqual(await list({ head: 'ACME:a' }), [first.number]);
    assert.deepEqual(await list({ head: 'a' }), [second.number, first.number], 'no owner is no filter');
    assert.deepEqual(await list({ state: 'closed' }), []);
  });

  it('lead back from beyond their end', async () => {
    for (const branch of ['a', 'b', 'c']) await here.github.openPullRequest(here.repository, { author: 'ada', branch });
    const octokit = await here.asApp();
    const links = async (page: number) => {
      const { headers } = await octokit.rest.pulls.list({ ...here.ref, per_page: 2, page });
      return [...(headers.link ?? '').matchAll(/[?&]page=(\d+)[^>]*>; rel="(\w+)"/g)].map(
        ([, at, rel]) => `${rel} ${at}`,
      );
    };
    assert.deepEqual(await links(1), ['next 2', 'last 2']);
    assert.deepEqual(await links(2), ['prev 1', 'first 1']);
    assert.deepEqual(await links(9), ['prev 2', 'last 2', 'first 1']);
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

  it('that nobody built here says so, and is not taken for something hidden', async () => {
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
    assert.equal(status, 201);
    assert.equal((await octokit.rest.repos.get(ref)).data.name, here.repository.name);
    assert.equal(here.github.listComments(pr).length, 1);
  });

  it('without the permission is told which one it needs', async () => {
    const { installation, github } = here;
    const pr = await github.openPullRequest(here.repository, { author: 'ada' });
    github.grant(installation, { metadata: 'read' });
    const octokit = await here.asApp();
    const asked = octokit.rest.issues.createComment({ ...here.ref, issue_number: pr.number, body: 'No' });
    const error = await asked.then(
      () => undefined,
      (reason: { response?: { headers: Record<string, string> } }) => reason,
    );
    github.grant(installation, github.app.permissions);
    assert.equal(error?.response?.headers['x-accepted-github-permissions'], 'issues=write; pull_requests=write');
  });

  it('with what is known is answered with 304, by name or by time', async () => {
    const octokit = await here.asApp();
    const { headers } = await octokit.rest.repos.get(here.ref);
    const ask = (known: Record<string, string>) => octokit.rest.repos.get({ ...here.ref, headers: known });
    await assert.rejects(ask({ 'if-none-match': headers.etag ?? '' }), { status: 304 });
    await assert.rejects(ask({ 'if-modified-since': headers['last-modified'] ?? '' }), { status: 304 });
    assert.equal((await ask({ 'if-modified-since': new Date(0).toUTCString() })).status, 200);
    assert.equal((await octokit.request('HEAD /repos/{owner}/{repo}', here.ref)).status, 200);
  });

  it('may leave slashes as they are', async () => {
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada', branch: 'some/thing' });
    const authorization = `token ${here.github.createToken('ada')}`;
    const get = async (path: string) => {
      const response = await fetch(`${here.github.url}/repos/acme/${here.repository.name}/${path}`, {
        headers: { authorization },
      });
      return response.status;
    };
    for (const path of ['branches/some/thing', 'contents/some/thing.txt?ref=some/thing', 'commits/some/thing/status'])
      assert.equal(await get(path), 200, path);
    assert.equal(await get(`compare/main...${pr.headRef}`), 200);
  });
});

describe('tokens', () => {
  async function narrowed(permissions: Record<string, 'read'>): Promise<Octokit> {
    const app = new App({
      appId: here.github.app.id,
      privateKey: here.github.privateKey,
      Octokit: Octokit.defaults({ baseUrl: here.github.url }),
    });
    const { data } = await app.octokit.rest.apps.createInstallationAccessToken({
      installation_id: here.installation.id,
      permissions,
    });
    return new Octokit({ auth: data.token, baseUrl: here.github.url, retry: { enabled: false } });
  }

  it('that are narrowed see the repository, and end when they are given back', async () => {
    const octokit = await narrowed({ contents: 'read' });
    assert.equal((await octokit.rest.repos.get(here.ref)).status, 200);
    await octokit.rest.apps.revokeInstallationAccessToken();
    await assert.rejects(octokit.rest.repos.get(here.ref), { status: 401 });
  });

  it('are told whether they reach everything', async () => {
    const octokit = await here.asApp();
    const { data } = await octokit.rest.apps.listReposAccessibleToInstallation();
    assert.equal((data as { repository_selection?: string }).repository_selection, 'all');
  });
});

describe('a pull request', () => {
  it('is brought up to date with its base', async () => {
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const of = { ...here.ref, pull_number: pr.number };
    await assert.rejects(octokit.rest.pulls.updateBranch(of), refusal(422, /no new commits/));
    await here.github.commit(here.repository, { branch: 'main', files: { 'new.txt': 'new\n' }, message: 'Go on' });
    const wrong = { ...of, expected_head_sha: '0'.repeat(40) };
    await assert.rejects(octokit.rest.pulls.updateBranch(wrong), refusal(422, /expected head sha/));
    assert.equal((await octokit.rest.pulls.updateBranch(of)).status, 202);
    const { data } = await octokit.rest.repos.compareCommitsWithBasehead({
      ...here.ref,
      basehead: `main...${pr.headRef}`,
    });
    assert.deepEqual([data.status, data.ahead_by, data.behind_by, data.files?.length], ['ahead', 2, 0, 1]);
    assert.equal((await octokit.rest.pulls.listFiles(of)).data[0]?.status, 'added');
  });

  it('has reviewers who are asked, answer, and are dismissed', async () => {
    const { github, repository } = here;
    const [octokit, root] = [await here.asApp(), here.as('root')];
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    github.protect(repository, 'main', { reviews: { count: 1, dismissesStale: false, needsCodeOwners: false } });
    const of = { ...here.ref, pull_number: pr.number };
    const state = async () => (await octokit.rest.pulls.get(of)).data.mergeable_state;
    await assert.rejects(octokit.rest.pulls.requestReviewers({ ...of, reviewers: ['ada'] }), { status: 422 });
    await octokit.rest.pulls.requestReviewers({ ...of, reviewers: ['root'] });
    assert.equal((await octokit.rest.pulls.listRequestedReviewers(of)).data.users[0]?.login, 'root');
    await assert.rejects(root.rest.pulls.createReview({ ...of, event: 'COMMENT' }), refusal(422, /blank/));
    const { data } = await root.rest.pulls.createReview({ ...of, event: 'APPROVE' });
    assert.equal((await octokit.rest.pulls.listRequestedReviewers(of)).data.users.length, 0);
    assert.equal(await state(), 'clean');
    await octokit.rest.pulls.dismissReview({ ...of, review_id: data.id, message: 'Not any more' });
    assert.equal(await state(), 'blocked');
    github.unprotect(repository, 'main');
  });

  it('is an issue, with labels that can be set and deleted', async () => {
    const octokit = await here.asApp();
    const pr = await here.github.openPullRequest(here.repository, { author: 'ada' });
    const of = { ...here.ref, issue_number: pr.number };
    const names = async () => (await octokit.rest.issues.listLabelsOnIssue(of)).data.map(({ name }) => name);
    await octokit.rest.issues.addLabels({ ...of, labels: ['one', 'two'] });
    await octokit.rest.issues.setLabels({ ...of, labels: ['two', 'three'] });
    assert.deepEqual(await names(), ['two', 'three']);
    await octokit.rest.issues.deleteLabel({ ...here.ref, name: 'two' });
    assert.deepEqual(await names(), ['three']);
    assert.ok((await octokit.rest.issues.get(of)).data.pull_request);
    await octokit.rest.issues.removeAllLabels(of);
    assert.deepEqual(await names(), []);
  });
});

describe('GraphQL', () => {
  it('refuses what could list too much, and tells what a question costs', async () => {
    const ada = here.as('ada');
    const ask = (first: number) =>
      ada.graphql<{ rateLimit: { cost: number; nodeCount: number; used: number } }>(
        `query($owner: String!, $repo: String!, $first: Int!) {
          rateLimit { cost nodeCount used }
          repository(owner: $owner, name: $repo) {
            pullRequests(first: $first) { nodes { ...P } }
          }
        }
        fragment P on PullRequest { commits(first: 100) { nodes { commit { parents(first: 100) { nodes { oid } } } } } }`,
        { ...here.ref, first },
      );
    await assert.rejects(ask(100), /exceeds the maximum limit of 500000/);
    const { rateLimit: first } = await ask(2);
    assert.deepEqual([first.cost, first.nodeCount], [2, 2 + 200 + 20_000]);
    assert.equal((await ask(2)).rateLimit.used, first.used + first.cost);
  });
});

describe('git', () => {
  it('refuses many refs at once, each with its reason', async () => {
    const checkout = await here.clone('ada');
    await here.commitFile(checkout, 'a.txt', 'a\n');
    const refs = Array.from({ length: 1_000 }, (_, index) => `HEAD:refs/heads/guarded/${'x'.repeat(100)}/${index}`);
    here.github.addRuleset(here.repository, { include: ['refs/heads/guarded/**'], rules: [{ type: 'creation' }] });
    await assert.rejects(here.git(['push', '--quiet', 'origin', ...refs, 'HEAD:free'], checkout), /GH013/);
    assert.deepEqual([...here.github.refs(here.repository).keys()].toSorted(), ['refs/heads/free', 'refs/heads/main']);
  });

  it('says that an archived repository is read-only', async () => {
    const checkout = await here.clone('ada');
    here.github.archive(here.repository);
    await assert.rejects(here.git(['push', '--quiet', 'origin', 'HEAD:late'], checkout), /archived so it is read-only/);
  });
});
