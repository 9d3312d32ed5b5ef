import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Octokit } from 'octokit';
import { asInstallation, asPerson } from './a-client.ts';
import { createFakeGithub, type FakeGithub } from './fake-github.ts';
import type { Installation, PullRequest, Repository } from './model.ts';

let github: FakeGithub;
let repository: Repository;
let installation: Installation;
let client: Octokit;
let pr: PullRequest;

beforeEach(async () => {
  github = await createFakeGithub();
  repository = await github.createRepository('acme/app', { roles: { ada: 'write', eve: 'read' }, isPrivate: true });
  installation = github.install(github.app, 'acme');
  client = await asInstallation(github, installation);
  pr = await github.openPullRequest(repository, { author: 'ada' });
});

afterEach(() => github.close());

const BOTH = `mutation Both($comment: AddCommentInput!, $check: CreateCheckRunInput!) {
  comment: addComment(input: $comment) { commentEdge { node { id body } } }
  check: createCheckRun(input: $check) { checkRun { id databaseId url status } } }`;
const CHANGE = `mutation Change($comment: UpdateIssueCommentInput!, $check: UpdateCheckRunInput!) {
  comment: updateIssueComment(input: $comment) { issueComment { id body } }
  check: updateCheckRun(input: $check) { checkRun { status conclusion } } }`;

function drafts(comment: object = {}, check: object = {}) {
  return {
    comment: { subjectId: pr.nodeId, body: 'hello', ...comment },
    check: { repositoryId: repository.nodeId, headSha: pr.headSha, name: 'ci', status: 'IN_PROGRESS', ...check },
  };
}

/** The data of a mutation, and its errors. */
async function act(query: string, variables: object, using = client) {
  const { data } = await using.request('POST /graphql', { query, variables });
  const errors: readonly { readonly type?: string; readonly path?: readonly string[] }[] = data.errors ?? [];
  return { data: data.data, complaints: errors.map(({ type, path }) => [type, path?.[0]]) };
}

describe('acts by GraphQL', () => {
  it('do what REST does, and are heard of in the same way', async () => {
    const heard: string[] = [];
    github.world.onHappening((happening) => {
      heard.push(`${happening.event} ${'action' in happening ? happening.action : ''}`);
    });
    const { data } = await act(BOTH, drafts());
    const [comment, check] = [github.listComments(pr)[0], github.listChecks(repository, pr.headSha)[0]];
    assert.deepEqual(data, {
      comment: { commentEdge: { node: { id: comment?.nodeId, body: 'hello' } } },
      check: {
        checkRun: {
          id: check?.nodeId,
          databaseId: null,
          url: `${github.url}/acme/app/runs/${check?.id}`,
          status: 'IN_PROGRESS',
        },
      },
    });
    const changed = await act(CHANGE, {
      comment: { id: comment?.nodeId, body: 'bye' },
      check: { repositoryId: repository.nodeId, checkRunId: check?.nodeId, status: 'COMPLETED', conclusion: 'SUCCESS' },
    });
    assert.deepEqual(changed, {
      data: {
        comment: { issueComment: { id: comment?.nodeId, body: 'bye' } },
        check: { checkRun: { status: 'COMPLETED', conclusion: 'SUCCESS' } },
      },
      complaints: [],
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

  it('are refused one by one', async () => {
    const gone = await act(BOTH, drafts({ subjectId: 'PR_none' }));
    assert.deepEqual([gone.data.comment, gone.complaints], [null, [['NOT_FOUND', 'comment']]]);
    const empty = await act(BOTH, drafts({ body: ' ' }, { headSha: 'f'.repeat(40) }));
    assert.deepEqual(empty.complaints, [
      ['UNPROCESSABLE', 'comment'],
      ['UNPROCESSABLE', 'check'],
    ]);
    const { checks: _, ...others } = installation.permissions;
    github.grant(installation, others);
    const forbidden = await act(BOTH, drafts());
    assert.deepEqual([forbidden.data.check, forbidden.complaints], [null, [['FORBIDDEN', 'check']]]);
    assert.deepEqual([github.listComments(pr).length, github.listChecks(repository, pr.headSha).length], [1, 1]);
  });

  it('are for apps and people as far as REST lets them', async () => {
    const person = await asPerson(github, 'eve');
    const told = await act(BOTH, drafts(), person);
    assert.deepEqual(told.complaints, [['FORBIDDEN', 'check']]);
    const [own] = github.listComments(pr);
    const stolen = await act(
      CHANGE,
      {
        comment: { id: own?.nodeId, body: 'mine' },
        check: { repositoryId: repository.nodeId, checkRunId: 'CR_none' },
      },
      client,
    );
    assert.deepEqual(stolen.complaints, [
      ['FORBIDDEN', 'comment'],
      ['NOT_FOUND', 'check'],
    ]);
  });

  it('are counted as writing, and go wrong by name', async () => {
    github.limits.configure({ writesPerMinute: 1 });
    await act(BOTH, drafts());
    await assert.rejects(act(BOTH, drafts()), /secondary rate limit/);
    github.limits.configure({ writesPerMinute: 100 });
    github.faults.once('POST /graphql Both', { kind: 'error', status: 502, when: 'after' });
    await assert.rejects(act(BOTH, drafts()), /Server Error/);
    assert.equal(github.listComments(pr).length, 2);
    assert.equal(github.world.requests.at(-1)?.query, 'Both');
  });
});
