import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { App, Octokit } from 'octokit';
import { acceptManifest } from '../apps.ts';
import { createFakeGithub, type FakeGithub } from '../fake-github.ts';
import type { PullRequest, Repository } from '../model.ts';

/** Every answer is validated against GitHub's description. `close` fails on a violation. */
let github: FakeGithub;
let repository: Repository;
let pr: PullRequest;
let bot: Octokit;
let ada: Octokit;
let app: App;
const ref = { owner: 'acme', repo: 'app' };

before(async () => {
  github = await createFakeGithub();
  repository = await github.createRepository('acme/app', { roles: { ada: 'admin', bob: 'triage' } });
  const installation = github.install(github.app, 'acme');
  pr = await github.openPullRequest(repository, { author: 'bob', branch: 'feature/one', body: 'Why' });
  const Quick = Octokit.defaults({
    baseUrl: github.url,
    retry: { enabled: false },
    throttle: { enabled: false },
  });
  app = new App({ appId: github.app.id, privateKey: github.privateKey, Octokit: Quick });
  bot = await app.getInstallationOctokit(installation.id);
  ada = new Quick({ auth: github.createToken('ada') });
});

after(() => github.close());

describe('apps and people', () => {
  it('tells who the app is and where it is', async () => {
    assert.equal((await app.octokit.rest.apps.getAuthenticated()).data?.slug, 'sluice');
    const installations = await app.octokit.rest.apps.listInstallations();
    assert.deepEqual(
      installations.data.map(({ account }) => account && 'login' in account && account.login),
      ['acme'],
    );
    const [first] = installations.data;
    await app.octokit.rest.apps.getInstallation({ installation_id: first?.id ?? 0 });
    await app.octokit.rest.apps.getOrgInstallation({ org: 'acme' });
    await app.octokit.rest.apps.getWebhookConfigForApp();
    await ada.rest.apps.getBySlug({ app_slug: 'sluice' });
    const repositories = await bot.rest.apps.listReposAccessibleToInstallation();
    assert.deepEqual(
      repositories.data.repositories.map(({ full_name }) => full_name),
      ['acme/app'],
    );
  });

  it('narrows tokens, and refuses to widen them', async () => {
    const [installation] = github.world.installations.values();
    const common = { installation_id: installation?.id ?? 0, repositories: ['app'] };
    const narrow = { ...common, permissions: { checks: 'read' as const } };
    const { data } = await app.octokit.rest.apps.createInstallationAccessToken(narrow);
    assert.deepEqual(data.permissions, { checks: 'read', metadata: 'read' });
    assert.equal(data.repositories?.length, 1);
    const wide = { ...common, permissions: { secrets: 'write' as const } };
    await assert.rejects(app.octokit.rest.apps.createInstallationAccessToken(wide), { status: 422 });
  });

  it('exchanges the code of a manifest once', async () => {
    const { code } = acceptManifest(github.world, { slug: 'made', hook: { url: 'https://sluice.test/webhooks' } });
    const { data } = await new Octokit({ baseUrl: github.url }).rest.apps.createFromManifest({ code });
    assert.match(data.pem, /BEGIN RSA PRIVATE KEY/);
    assert.ok(data.webhook_secret);
    const again = new Octokit({ baseUrl: github.url, retry: { enabled: false } });
    await assert.rejects(again.rest.apps.createFromManifest({ code }), { status: 404 });
  });

  it('tells what people may do', async () => {
    const role = async (username: string) =>
      (await bot.rest.repos.getCollaboratorPermissionLevel({ ...ref, username })).data;
    assert.deepEqual([(await role('ada')).permission, (await role('ada')).role_name], ['admin', 'admin']);
    assert.deepEqual([(await role('bob')).permission, (await role('bob')).role_name], ['read', 'triage']);
    assert.equal((await ada.rest.users.getAuthenticated()).data.login, 'ada');
    assert.equal((await ada.rest.users.getByUsername({ username: 'bob' })).data.login, 'bob');
    assert.equal((await ada.rest.rateLimit.get()).data.rate.limit, 5_000);
  });
});

describe('repositories', () => {
  it('follows renames', async () => {
    const other = await github.createRepository('acme/old');
    github.rename(other, 'new');
    const { data } = await ada.rest.repos.get({ owner: 'acme', repo: 'old' });
    assert.equal(data.full_name, 'acme/new');
    const byId = await ada.request('GET /repositories/{id}', { id: other.id });
    assert.equal(byId.data.full_name, 'acme/new');
    const answer = await fetch(`${github.url}/repos/acme/old/pulls?state=all`, { redirect: 'manual' });
    assert.equal(answer.status, 301);
    assert.equal(answer.headers.get('location'), `${github.url}/repositories/${other.id}/pulls?state=all`);
  });

  it('lists branches and shows one', async () => {
    const { data } = await bot.rest.repos.listBranches({ ...ref, per_page: 1, page: 2 });
    assert.deepEqual(
      data.map(({ name }) => name),
      ['main'],
    );
    const main = await bot.rest.repos.getBranch({ ...ref, branch: 'main' });
    assert.equal(main.data.commit.sha, github.refs(repository).get('refs/heads/main'));
    await bot.rest.repos.getCommit({ ...ref, ref: 'feature/one' });
    await assert.rejects(bot.rest.repos.getBranch({ ...ref, branch: 'nowhere' }), { status: 404 });
  });

  it('makes, moves and removes refs', async () => {
    const sha = github.refs(repository).get('refs/heads/main') ?? '';
    await bot.rest.git.createRef({ ...ref, ref: 'refs/heads/made', sha });
    await assert.rejects(bot.rest.git.createRef({ ...ref, ref: 'refs/heads/made', sha }), { status: 422 });
    await bot.rest.git.updateRef({ ...ref, ref: 'heads/made', sha: pr.headSha });
    await assert.rejects(bot.rest.git.updateRef({ ...ref, ref: 'heads/made', sha }), { status: 422 });
    assert.equal((await bot.rest.git.getRef({ ...ref, ref: 'heads/made' })).data.object.sha, pr.headSha);
    assert.equal((await bot.rest.git.listMatchingRefs({ ...ref, ref: 'heads/ma' })).data.length, 2);
    await bot.rest.git.deleteRef({ ...ref, ref: 'heads/made' });
    await assert.rejects(bot.rest.git.getRef({ ...ref, ref: 'heads/made' }), { status: 404 });
  });

  it('shows protection and rules', async () => {
    await github.commit(repository, { branch: 'release', files: { 'r.txt': 'r\n' } });
    const branch = { ...ref, branch: 'release' };
    await assert.rejects(ada.rest.repos.getBranchProtection(branch), { status: 404 });
    github.protect(repository, 'rel*', {
      checks: [{ context: 'ci', appId: 7 }],
      reviews: { count: 2, dismissesStale: true, needsCodeOwners: false },
      pushers: ['ada'],
    });
    const { data } = await bot.rest.repos.getBranchProtection(branch);
    assert.deepEqual(data.required_status_checks?.checks, [{ context: 'ci', app_id: 7 }]);
    const ruleset = github.addRuleset(repository, {
      include: ['refs/heads/rel**'],
      bypass: [{ actorId: github.app.id, type: 'Integration', mode: 'always' }],
      rules: [
        { type: 'required_status_checks', checks: [{ context: 'lint', appId: 9 }], isStrict: false },
        { type: 'pull_request', approvals: 1 },
        { type: 'update' },
        { type: 'deletion' },
        { type: 'non_fast_forward' },
      ],
    });
    const rules = await bot.rest.repos.getBranchRules(branch);
    assert.deepEqual(
      rules.data.map(({ type }) => type),
      ['required_status_checks', 'pull_request', 'update', 'deletion', 'non_fast_forward'],
    );
    await bot.rest.repos.getRepoRuleset({ ...ref, ruleset_id: ruleset.id });
    assert.equal((await bot.rest.repos.getRepoRulesets(ref)).data.length, 1);
    const shown = await bot.rest.repos.getBranch(branch);
    assert.equal(shown.data.protected, true);
  });
});

describe('pull requests', () => {
  it('opens drafts, edits and closes them', async () => {
    await github.commit(repository, { branch: 'second', files: { 's.txt': 's\n' } });
    const draft = { ...ref, title: 'Second', head: 'second', base: 'main', draft: true };
    const { data } = await bot.rest.pulls.create(draft);
    assert.deepEqual([data.draft, data.user.login, data.mergeable_state], [true, 'sluice[bot]', 'draft']);
    await assert.rejects(bot.rest.pulls.create(draft), { status: 422 });
    const pull_number = data.number;
    const edited = await bot.rest.pulls.update({ ...ref, pull_number, title: 'New', state: 'closed' });
    assert.deepEqual([edited.data.title, edited.data.state], ['New', 'closed']);
    const again = await bot.rest.pulls.update({ ...ref, pull_number, state: 'open' });
    assert.equal(again.data.state, 'open');
    await bot.rest.git.deleteRef({ ...ref, ref: 'heads/second' });
    assert.equal((await bot.rest.pulls.get({ ...ref, pull_number })).data.state, 'closed');
  });

  it('lists them by state, head and base', async () => {
    const list = async (more = {}) => (await bot.rest.pulls.list({ ...ref, ...more })).data.map(({ number }) => number);
    assert.deepEqual(await list({ head: 'acme:feature/one' }), [pr.number]);
    assert.deepEqual(await list({ base: 'release' }), []);
    assert.ok((await list({ state: 'all' })).includes(pr.number));
    const commits = await bot.rest.pulls.listCommits({ ...ref, pull_number: pr.number });
    assert.deepEqual(
      commits.data.map(({ sha }) => sha),
      [pr.headSha],
    );
    const ofCommit = await bot.rest.repos.listPullRequestsAssociatedWithCommit({ ...ref, commit_sha: pr.headSha });
    assert.equal(ofCommit.data[0]?.number, pr.number);
    await assert.rejects(bot.rest.pulls.checkIfMerged({ ...ref, pull_number: pr.number }), { status: 404 });
  });

  it('takes reviews', async () => {
    const pull_number = pr.number;
    await ada.rest.pulls.createReview({ ...ref, pull_number, event: 'APPROVE' });
    const { data } = await bot.rest.pulls.listReviews({ ...ref, pull_number });
    assert.deepEqual(
      data.map(({ state, user }) => [state, user?.login]),
      [['APPROVED', 'ada']],
    );
  });

  it('keeps comments, reactions and labels', async () => {
    const issue = { ...ref, issue_number: pr.number };
    const { data } = await bot.rest.issues.createComment({ ...issue, body: 'One' });
    const comment = { ...ref, comment_id: data.id };
    await bot.rest.issues.updateComment({ ...comment, body: 'Two' });
    assert.equal((await bot.rest.issues.getComment(comment)).data.body, 'Two');
    assert.equal((await bot.rest.issues.listCommentsForRepo(ref)).data.length, 1);
    const since = new Date(Date.now() + 60_000).toISOString();
    assert.equal((await bot.rest.issues.listComments({ ...issue, since })).data.length, 0);
    assert.equal((await bot.rest.reactions.createForIssueComment({ ...comment, content: 'eyes' })).status, 201);
    assert.equal((await bot.rest.reactions.createForIssueComment({ ...comment, content: 'eyes' })).status, 200);
    assert.equal((await bot.rest.reactions.listForIssueComment(comment)).data.length, 1);
    await bot.rest.issues.deleteComment(comment);
    await assert.rejects(bot.rest.issues.getComment(comment), { status: 404 });
    await bot.rest.issues.addLabels({ ...issue, labels: ['queue me', 'urgent'] });
    await bot.rest.issues.removeLabel({ ...issue, name: 'queue me' });
    await assert.rejects(bot.rest.issues.removeLabel({ ...issue, name: 'queue me' }), { status: 404 });
    const labels = await bot.rest.issues.listLabelsOnIssue(issue);
    assert.deepEqual(
      labels.data.map(({ name }) => name),
      ['urgent'],
    );
    assert.equal((await bot.rest.issues.listLabelsForRepo(ref)).data.length, 2);
    await bot.rest.issues.createLabel({ ...ref, name: 'third' });
    assert.deepEqual(
      pr.timeline.map(({ kind, actor }) => [kind, actor.login]),
      [
        ['labeled', 'sluice[bot]'],
        ['labeled', 'sluice[bot]'],
        ['unlabeled', 'sluice[bot]'],
      ],
    );
  });
});

describe('checks', () => {
  it('makes and ends check runs, of which the newest counts', async () => {
    const draft = { ...ref, name: 'Sluice (main)', head_sha: pr.headSha, external_id: 'e1' };
    const { data } = await bot.rest.checks.create({ ...draft, status: 'in_progress' });
    assert.ok(data.id > 2 ** 32);
    const check_run_id = data.id;
    const output = { title: 'Done', summary: 'All good' };
    const ended = await bot.rest.checks.update({ ...ref, check_run_id, conclusion: 'success', output });
    assert.deepEqual([ended.data.status, ended.data.conclusion], ['completed', 'success']);
    await bot.rest.checks.get({ ...ref, check_run_id });
    await bot.rest.checks.rerequestRun({ ...ref, check_run_id });
    github.reportCheck(repository, { sha: pr.headSha, name: 'ci', conclusion: 'failure' });
    github.reportCheck(repository, { sha: pr.headSha, name: 'ci', attempt: 2, status: 'in_progress' });
    const list = async (more = {}) =>
      (await bot.rest.checks.listForRef({ ...ref, ref: pr.headSha, ...more })).data.check_runs;
    assert.deepEqual((await list()).map(({ name, status }) => `${name} ${status}`).toSorted(), [
      'Sluice (main) completed',
      'ci in_progress',
    ]);
    assert.equal((await list({ filter: 'all' })).length, 3);
    const suites = await bot.rest.checks.listSuitesForRef({ ...ref, ref: 'feature/one' });
    assert.equal(suites.data.total_count, 2);
    const check_suite_id = suites.data.check_suites[0]?.id ?? 0;
    await bot.rest.checks.getSuite({ ...ref, check_suite_id });
    await bot.rest.checks.listForSuite({ ...ref, check_suite_id });
    await bot.rest.checks.rerequestSuite({ ...ref, check_suite_id });
    await assert.rejects(ada.rest.checks.create(draft), { status: 403 });
  });

  it('keeps statuses, and combines the newest of each context', async () => {
    const status = { ...ref, sha: pr.headSha, context: 'lint' };
    await ada.rest.repos.createCommitStatus({ ...status, state: 'pending' });
    await bot.rest.repos.createCommitStatus({ ...status, state: 'success', description: 'Fine' });
    const combined = await bot.rest.repos.getCombinedStatusForRef({ ...ref, ref: pr.headSha });
    assert.deepEqual([combined.data.state, combined.data.total_count], ['success', 1]);
    assert.equal((await bot.rest.repos.listCommitStatusesForRef({ ...ref, ref: pr.headSha })).data.length, 2);
  });

  it('shows runs of workflows, and cancels them', async () => {
    const run = github.startRun(repository, { sha: pr.headSha, branch: pr.headRef, event: 'pull_request' });
    const found = await bot.rest.actions.getWorkflowRun({ ...ref, run_id: run.id });
    assert.deepEqual([found.data.event, found.data.pull_requests?.[0]?.number], ['pull_request', pr.number]);
    await ada.rest.actions.cancelWorkflowRun({ ...ref, run_id: run.id });
    const runs = await bot.rest.actions.listWorkflowRunsForRepo({ ...ref, head_sha: pr.headSha });
    assert.deepEqual(
      runs.data.workflow_runs.map(({ conclusion }) => conclusion),
      ['cancelled'],
    );
  });
});
