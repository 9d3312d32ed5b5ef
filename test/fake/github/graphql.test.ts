import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Octokit } from 'octokit';
import { asInstallation, asPerson } from './a-client.ts';
import { QUEUE_PERMISSIONS } from './apps.ts';
import { createFakeGithub, type FakeGithub } from './fake-github.ts';
import type { Installation, PullRequest, Repository } from './model.ts';

let github: FakeGithub;
let repository: Repository;
let installation: Installation;
let client: Octokit;
let pr: PullRequest;

beforeEach(async () => {
  github = await createFakeGithub({ mergeability: 'lazy' });
  repository = await github.createRepository('acme/app', { roles: { ada: 'write', eve: 'read' }, isPrivate: true });
  installation = github.install(github.app, 'acme');
  client = await asInstallation(github, installation);
  pr = await github.openPullRequest(repository, { author: 'ada', title: 'Add x', body: 'Why.' });
});

afterEach(() => github.close());

/** The data of a query, and its errors as their type and the place they are about. */
async function send(query: string, variables: object = {}, using = client) {
  const { data } = await using.request('POST /graphql', { query, variables });
  const errors: readonly { type?: string; path?: readonly string[]; message: string }[] = data.errors ?? [];
  return { data: data.data, errors, complaints: errors.map(({ type, path }) => `${type} ${path?.join('.')}`) };
}

/** Fields of the repository. */
const ask = (fields: string, using = client) =>
  send(`{ repository(owner: "acme", name: "app") { ${fields} } }`, {}, using);

async function get(fields: string) {
  const { data, errors } = await ask(fields);
  assert.deepEqual(errors, []);
  return data.repository;
}

function without(permission: string): Promise<Octokit> {
  const kept = Object.entries(QUEUE_PERMISSIONS).filter(([name]) => name !== permission);
  github.grant(installation, Object.fromEntries(kept));
  return asInstallation(github, installation);
}

describe('pull requests', () => {
  it('are told with what a queue wants to know', async () => {
    const { pullRequest } = await get(`
      pullRequest(number: 1) { number title body url state isDraft isCrossRepository headRefOid headRefName baseRefName
      headRepository { id } author { __typename login } baseRef { target { oid } } reviewThreads(first: 1) { totalCount }
      commits(last: 1) { nodes { commit { oid parents(first: 1) { nodes { oid } } } } } }`);
    const main = repository.refs.get('refs/heads/main');
    assert.deepEqual(pullRequest, {
      number: 1,
      title: 'Add x',
      body: 'Why.',
      url: `${github.url}/acme/app/pull/1`,
      state: 'OPEN',
      isDraft: false,
      isCrossRepository: false,
      headRefOid: pr.headSha,
      headRefName: pr.headRef,
      baseRefName: 'main',
      headRepository: { id: repository.nodeId },
      author: { __typename: 'User', login: 'ada' },
      baseRef: { target: { oid: main } },
      reviewThreads: { totalCount: 0 },
      commits: { nodes: [{ commit: { oid: pr.headSha, parents: { nodes: [{ oid: main }] } } }] },
    });
  });

  it('can be merged or not, and the first who asks does not learn it', async () => {
    const look = async () => {
      const { pullRequest } = await get('pullRequest(number: 1) { mergeable mergeStateStatus }');
      return `${pullRequest.mergeable} ${pullRequest.mergeStateStatus}`;
    };
    assert.equal(await look(), 'UNKNOWN UNKNOWN');
    await github.settle();
    assert.equal(await look(), 'MERGEABLE CLEAN');
    github.protect(repository, 'main', { reviews: { count: 1, dismissesStale: false, needsCodeOwners: false } });
    assert.equal(await look(), 'MERGEABLE BLOCKED');
    await github.commit(repository, { branch: 'main', files: { [`${pr.headRef}.txt`]: 'other\n' } });
    await look();
    await github.settle();
    assert.equal(await look(), 'CONFLICTING DIRTY');
  });

  it('are reviewed by those who may write', async () => {
    const look = async () => (await get('pullRequest(number: 1) { reviewDecision }')).pullRequest.reviewDecision;
    assert.equal(await look(), null);
    github.protect(repository, 'main', { reviews: { count: 1, dismissesStale: false, needsCodeOwners: false } });
    assert.equal(await look(), 'REVIEW_REQUIRED');
    github.review(pr, 'eve');
    assert.equal(await look(), 'REVIEW_REQUIRED');
    github.review(pr, 'ada', 'CHANGES_REQUESTED');
    assert.equal(await look(), 'CHANGES_REQUESTED');
    github.review(pr, 'ada');
    assert.equal(await look(), 'APPROVED');
  });

  it('are listed page by page, with their labels and who gave them', async () => {
    for (let index = 0; index < 4; index += 1) await github.openPullRequest(repository);
    github.closePullRequest(repository.pulls.get(3) as PullRequest);
    const numbers: number[] = [];
    for (let after: string | null = null, hasMore = true; hasMore; ) {
      const { pullRequests } = await get(`pullRequests(states: OPEN, first: 3, after: ${JSON.stringify(after)}) {
        pageInfo { hasNextPage endCursor } nodes { number } }`);
      numbers.push(...pullRequests.nodes.map(({ number }: PullRequest) => number));
      after = pullRequests.pageInfo.endCursor;
      hasMore = pullRequests.pageInfo.hasNextPage;
    }
    assert.deepEqual(numbers, [1, 2, 4, 5]);
    github.label(pr, 'ada', 'ready');
    const { pullRequest } = await get(`pullRequest(number: 1) { labels(first: 9) { nodes { name } }
      timelineItems(last: 9, itemTypes: [LABELED_EVENT]) { nodes {
        ... on LabeledEvent { label { name } actor { login } } } } }`);
    const label = { name: 'ready' };
    const timelineItems = { nodes: [{ label, actor: { login: 'ada' } }] };
    assert.deepEqual(pullRequest, { labels: { nodes: [label] }, timelineItems });
  });

  it('have comments, which are found by their names', async () => {
    const comment = github.comment(pr, 'ada', '/sluice merge');
    const fields = 'body fullDatabaseId includesCreatedEdit lastEditedAt author { login } pullRequest { id }';
    const query = `query($id: ID!) { node(id: $id) { ... on IssueComment { ${fields} } } }`;
    const { data } = await send(query, { id: comment.nodeId });
    assert.deepEqual(data.node, {
      body: '/sluice merge',
      fullDatabaseId: String(comment.id),
      includesCreatedEdit: false,
      lastEditedAt: null,
      author: { login: 'ada' },
      pullRequest: { id: pr.nodeId },
    });
  });
});

describe('checks', () => {
  it('are those of a commit, whoever reported them, attempts that were superseded included', async () => {
    const contexts = `contexts(first: 9) { nodes { __typename
      ... on CheckRun { name status conclusion isRequired(pullRequestNumber: 1) checkSuite { app { slug databaseId } } }
      ... on StatusContext { context state isRequired(pullRequestNumber: 1) creator { login } } } }`;
    const look = async () =>
      (await get(`object(oid: "${pr.headSha}") { ... on Commit { statusCheckRollup { ${contexts} } } }`)).object;
    assert.deepEqual(await look(), { statusCheckRollup: null });
    github.protect(repository, 'main', { checks: [{ context: 'build', appId: github.ci.id }] });
    github.reportCheck(repository, { sha: pr.headSha, name: 'build', conclusion: 'failure' });
    github.reportCheck(repository, { sha: pr.headSha, name: 'build', attempt: 2, status: 'queued' });
    github.setStatus(repository, { sha: pr.headSha, context: 'build', state: 'success', by: 'eve' });
    const app = { slug: 'github-actions', databaseId: github.ci.id };
    const run = { __typename: 'CheckRun', name: 'build', isRequired: true, checkSuite: { app } };
    assert.deepEqual((await look()).statusCheckRollup.contexts.nodes, [
      { ...run, status: 'COMPLETED', conclusion: 'FAILURE' },
      { ...run, status: 'QUEUED', conclusion: null },
      { __typename: 'StatusContext', context: 'build', state: 'SUCCESS', isRequired: false, creator: { login: 'eve' } },
    ]);
    assert.deepEqual(await get(`object(oid: "${'a'.repeat(40)}") { oid }`), { object: null });
  });
});

describe('rules', () => {
  it('of both kinds are told, those of protection only to whoever may administrate', async () => {
    github.protect(repository, 'main', { isStrict: true, checks: [{ context: 'build', appId: github.ci.id }] });
    const checks = [{ context: 'test', appId: 7 }];
    github.addRuleset(repository, { rules: [{ type: 'required_status_checks', checks, isStrict: false }] });
    github.addRuleset(repository, { enforcement: 'disabled', rules: [{ type: 'deletion' }] });
    const fields = `ref(qualifiedName: "refs/heads/main") { refUpdateRule { requiredStatusCheckContexts }
      rules(first: 9) { nodes { type parameters { ... on RequiredStatusChecksParameters {
        strictRequiredStatusChecksPolicy requiredStatusChecks { context integrationId } } } } }
      branchProtectionRule { requiresStrictStatusChecks requiredStatusChecks { context app { slug } } } }`;
    const parameters = {
      strictRequiredStatusChecksPolicy: false,
      requiredStatusChecks: [{ context: 'test', integrationId: 7 }],
    };
    const forAll = {
      refUpdateRule: { requiredStatusCheckContexts: ['build'] },
      rules: { nodes: [{ type: 'REQUIRED_STATUS_CHECKS', parameters }] },
    };
    const requiredStatusChecks = [{ context: 'build', app: { slug: 'github-actions' } }];
    const branchProtectionRule = { requiresStrictStatusChecks: true, requiredStatusChecks };
    assert.deepEqual((await get(fields)).ref, { ...forAll, branchProtectionRule });
    const { data, complaints } = await ask(fields, await without('administration'));
    assert.deepEqual(data.repository.ref, { ...forAll, branchProtectionRule: null });
    assert.deepEqual(complaints, ['FORBIDDEN repository.ref.branchProtectionRule']);
  });

  it('say what a person may do', async () => {
    const may = async (login: string) =>
      (await get(`collaborators(first: 1, login: "${login}") { edges { permission node { login } } }`)).collaborators;
    assert.deepEqual(await may('ADA'), { edges: [{ permission: 'WRITE', node: { login: 'ada' } }] });
    assert.deepEqual(await may('nobody'), { edges: [] });
  });
});

describe('questions', () => {
  it('about what is not there, or hidden, are answered with null and a complaint', async () => {
    const complaints = async (...asked: Parameters<typeof ask>) => (await ask(...asked)).complaints;
    assert.deepEqual(await complaints('pullRequest(number: 9) { id }'), ['NOT_FOUND repository.pullRequest']);
    assert.deepEqual(await complaints('id', asPerson(github, 'mallory')), ['NOT_FOUND repository']);
    const [unbounded] = await complaints('pullRequests { totalCount }');
    assert.match(unbounded ?? '', /^MISSING_PAGINATION_BOUNDARIES/);
    const [excessive] = await complaints('pullRequests(first: 101) { totalCount }');
    assert.match(excessive ?? '', /^EXCESSIVE_PAGINATION/);
    const checks = `object(oid: "${pr.headSha}") { ... on Commit { statusCheckRollup { state } } }`;
    const weaker = await without('checks');
    assert.deepEqual(await complaints(checks, weaker), ['FORBIDDEN repository.object.statusCheckRollup']);
  });

  it('that the official schema or the fake does not know are refused', async () => {
    assert.match((await ask('mergeQueueLength')).errors[0]?.message ?? '', /Cannot query field/);
    assert.match((await ask('diskUsage')).errors[0]?.message ?? '', /does not have Repository.diskUsage/);
  });

  it('by an old name or at the address of an Enterprise host are answered, and nobody asks without a name', async () => {
    github.rename(repository, 'renamed');
    assert.deepEqual(await get('name'), { name: 'renamed' });
    const body = JSON.stringify({ query: '{ repository(owner: "acme", name: "renamed") { name } }' });
    const headers = { authorization: `token ${github.createToken('ada')}` };
    const told = await fetch(`${github.url}/api/graphql`, { method: 'POST', body, headers });
    assert.deepEqual(await told.json(), { data: { repository: { name: 'renamed' } } });
    assert.equal((await fetch(`${github.url}/graphql`, { method: 'POST', body })).status, 401);
  });

  it('that could list too much are refused, and others cost what they could list', async () => {
    const used = async (first: number) => {
      const query = `query($first: Int!) { repository(owner: "acme", name: "app") {
          pullRequests(first: $first) { nodes { ...P } } } }
        fragment P on PullRequest { commits(first: 100) { nodes { commit { parents(first: 100) { nodes { oid } } } } } }`;
      const { data, headers } = await client.request('POST /graphql', { query, variables: { first } });
      assert.equal(data.errors?.[0].type, first > 50 ? 'MAX_NODE_LIMIT_EXCEEDED' : undefined);
      return Number(headers['x-ratelimit-used']);
    };
    await used(100);
    const before = await used(2);
    assert.equal(await used(2), before + 2);
  });
});

describe('acts', () => {
  const BOTH = `mutation Both($comment: AddCommentInput!, $check: CreateCheckRunInput!) {
    comment: addComment(input: $comment) { commentEdge { node { id body } } }
    check: createCheckRun(input: $check) { checkRun { id databaseId url status } } }`;
  const CHANGE = `mutation Change($comment: UpdateIssueCommentInput!, $check: UpdateCheckRunInput!) {
    comment: updateIssueComment(input: $comment) { issueComment { id body } }
    check: updateCheckRun(input: $check) { checkRun { status conclusion } } }`;
  const drafts = (comment: object = {}, check: object = {}) => ({
    comment: { subjectId: pr.nodeId, body: 'hello', ...comment },
    check: { repositoryId: repository.nodeId, headSha: pr.headSha, name: 'ci', status: 'IN_PROGRESS', ...check },
  });

  it('do what REST does, and are heard of in the same way', async () => {
    const heard: string[] = [];
    github.world.onHappening((happening) => {
      heard.push(`${happening.event} ${'action' in happening ? happening.action : ''}`);
    });
    const { data } = await send(BOTH, drafts());
    const [comment, check] = [github.listComments(pr)[0], github.listChecks(repository, pr.headSha)[0]];
    const url = `${github.url}/acme/app/runs/${check?.id}`;
    assert.deepEqual(data, {
      comment: { commentEdge: { node: { id: comment?.nodeId, body: 'hello' } } },
      check: { checkRun: { id: check?.nodeId, databaseId: null, url, status: 'IN_PROGRESS' } },
    });
    const changed = await send(CHANGE, {
      comment: { id: comment?.nodeId, body: 'bye' },
      check: { repositoryId: repository.nodeId, checkRunId: check?.nodeId, status: 'COMPLETED', conclusion: 'SUCCESS' },
    });
    assert.deepEqual(changed.data, {
      comment: { issueComment: { id: comment?.nodeId, body: 'bye' } },
      check: { checkRun: { status: 'COMPLETED', conclusion: 'SUCCESS' } },
    });
    assert.deepEqual([comment?.body, comment?.isEdited, check?.conclusion], ['bye', true, 'success']);
    assert.deepEqual(heard, [
      'issue_comment created',
      'check_run created',
      'issue_comment edited',
      'check_run completed',
      'check_suite completed',
    ]);
  });

  it('are refused one by one, as far as REST refuses them', async () => {
    const gone = await send(BOTH, drafts({ subjectId: 'PR_none' }));
    assert.deepEqual([gone.data.comment, gone.complaints], [null, ['NOT_FOUND comment']]);
    const empty = await send(BOTH, drafts({ body: ' ' }, { headSha: 'f'.repeat(40) }));
    assert.deepEqual(empty.complaints, ['UNPROCESSABLE comment', 'UNPROCESSABLE check']);
    const person = await send(BOTH, drafts(), asPerson(github, 'eve'));
    assert.deepEqual(person.complaints, ['FORBIDDEN check']);
    const comment = { id: github.listComments(pr)[0]?.nodeId, body: 'mine' };
    const stolen = await send(CHANGE, { comment, check: { repositoryId: repository.nodeId, checkRunId: 'CR_none' } });
    assert.deepEqual(stolen.complaints, ['FORBIDDEN comment', 'NOT_FOUND check']);
    const forbidden = await send(BOTH, drafts(), await without('checks'));
    assert.deepEqual([forbidden.data.check, forbidden.complaints], [null, ['FORBIDDEN check']]);
  });

  it('are counted as writing, and go wrong by name', async () => {
    github.limits.configure({ writesPerMinute: 1 });
    await send(BOTH, drafts());
    await assert.rejects(send(BOTH, drafts()), /secondary rate limit/);
    github.limits.configure({ writesPerMinute: 100 });
    github.faults.once('POST /graphql Both', { kind: 'error', status: 502, when: 'after' });
    await assert.rejects(send(BOTH, drafts()), /Server Error/);
    assert.equal(github.listComments(pr).length, 2);
    assert.equal(github.world.requests.at(-1)?.query, 'Both');
  });
});
