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
});

describe('questions', () => {
  it('a question about a missing or hidden object is answered with null and a complaint', async () => {
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

  it('a question by an old name, or at the address of an Enterprise host, is answered, and one without a token is refused', async () => {
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

  it('go wrong by name', async () => {
    github.faults.once('POST /graphql Both', { kind: 'error', status: 502, when: 'after' });
    await assert.rejects(send(BOTH, drafts()), /Server Error/);
    assert.equal(github.listComments(pr).length, 1);
    assert.equal(github.world.requests.at(-1)?.query, 'Both');
  });
});
