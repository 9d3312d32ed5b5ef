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

async function ask<Data = unknown>(fields: string, using = client): Promise<Data> {
  const query = `{ repository(owner: "acme", name: "app") { ${fields} } }`;
  return (await using.graphql<{ readonly repository: Data }>(query)).repository;
}

type Node = Readonly<Record<string, unknown>>;

interface CommitFacts {
  readonly oid: string;
  readonly parents: { readonly nodes: unknown };
}

interface Page {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string };
  readonly nodes: readonly { readonly number: number }[];
}

async function complaintsOf(asked: Promise<unknown>): Promise<readonly (readonly unknown[])[]> {
  const error = await asked.then(
    () => assert.fail('It was answered.'),
    (problem: unknown) => problem,
  );
  assert.ok(error instanceof Error && 'errors' in error, String(error));
  const { errors } = error as unknown as { errors: readonly { type?: string; path?: unknown; message: string }[] };
  return errors.map(({ type, path, message }) => [type, path, message]);
}

describe('pull requests', () => {
  it('are told with everything a queue wants to know', async () => {
    const { pullRequest } = await ask<{ pullRequest: { commits: { nodes: readonly { commit: CommitFacts }[] } } }>(`
      pullRequest(number: 1) { number title body url state isDraft merged
      isCrossRepository headRefOid headRefName baseRefName headRepository { id } author { __typename login }
      baseRef { target { oid } } commits(last: 1) { nodes { commit { oid tree { oid } parents(first: 1) { nodes { oid } } } } }
      reviewThreads(first: 1) { nodes { isResolved } } }`);
    const main = repository.refs.get('refs/heads/main');
    const { commits, ...facts } = pullRequest;
    assert.deepEqual(facts, {
      number: 1,
      title: 'Add x',
      body: 'Why.',
      url: `${github.url}/acme/app/pull/1`,
      state: 'OPEN',
      isDraft: false,
      merged: false,
      isCrossRepository: false,
      headRefOid: pr.headSha,
      headRefName: pr.headRef,
      baseRefName: 'main',
      headRepository: { id: repository.nodeId },
      author: { __typename: 'User', login: 'ada' },
      baseRef: { target: { oid: main } },
      reviewThreads: { nodes: [] },
    });
    const [last] = commits.nodes;
    assert.deepEqual([last?.commit.oid, last?.commit.parents.nodes], [pr.headSha, [{ oid: main }]]);
  });

  it('can be merged or not, and the first who asks does not learn it', async () => {
    const look = async () =>
      (await ask<{ pullRequest: unknown }>('pullRequest(number: 1) { mergeable mergeStateStatus }')).pullRequest;
    assert.deepEqual(await look(), { mergeable: 'UNKNOWN', mergeStateStatus: 'UNKNOWN' });
    await github.settle();
    assert.deepEqual(await look(), { mergeable: 'MERGEABLE', mergeStateStatus: 'CLEAN' });
    const reviews = { count: 1, dismissesStale: false, needsCodeOwners: false };
    github.protect(repository, 'main', { reviews });
    assert.deepEqual(await look(), { mergeable: 'MERGEABLE', mergeStateStatus: 'BLOCKED' });
    await github.commit(repository, { branch: 'main', files: { [`${pr.headRef}.txt`]: 'other\n' } });
    await look();
    await github.settle();
    assert.deepEqual(await look(), { mergeable: 'CONFLICTING', mergeStateStatus: 'DIRTY' });
  });

  it('are reviewed by those who may write', async () => {
    const look = async () =>
      (await ask<{ pullRequest: { reviewDecision: string | null } }>('pullRequest(number: 1) { reviewDecision }'))
        .pullRequest.reviewDecision;
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

  it('are listed page by page, by what changed last', async () => {
    for (let index = 0; index < 4; index += 1) await github.openPullRequest(repository);
    github.closePullRequest(repository.pulls.get(3) as PullRequest);
    const numbers: number[] = [];
    let after = 'null';
    for (let page = 0; page < 3; page += 1) {
      const { pullRequests } = await ask<{
        pullRequests: Page;
      }>(`pullRequests(states: OPEN, first: 2, after: ${after}) {
        pageInfo { hasNextPage endCursor } nodes { number } totalCount }`);
      numbers.push(...pullRequests.nodes.map(({ number }) => number));
      after = JSON.stringify(pullRequests.pageInfo.endCursor);
      if (!pullRequests.pageInfo.hasNextPage) break;
    }
    assert.deepEqual(numbers, [1, 2, 4, 5]);
    github.label(pr, 'ada', 'ready');
    const labelled = await ask(`pullRequests(first: 1, labels: ["ready"]) { nodes {
      labels(first: 9) { nodes { name } }
      timelineItems(last: 9, itemTypes: [LABELED_EVENT]) { nodes {
        ... on LabeledEvent { label { name } actor { login } } } } } }`);
    const label = { name: 'ready' };
    const timelineItems = { nodes: [{ label, actor: { login: 'ada' } }] };
    assert.deepEqual(labelled, { pullRequests: { nodes: [{ labels: { nodes: [label] }, timelineItems }] } });
  });

  it('have comments, which are found by their names and not by numbers that are too large', async () => {
    const comment = github.comment(pr, 'ada', '/sluice merge');
    const { node } = await client.graphql<{ node: unknown }>(
      `query($id: ID!) { node(id: $id) { ... on IssueComment { body databaseId fullDatabaseId includesCreatedEdit
        lastEditedAt author { login } pullRequest { number } } } }`,
      { id: comment.nodeId },
    );
    assert.deepEqual(node, {
      body: '/sluice merge',
      databaseId: null,
      fullDatabaseId: String(comment.id),
      includesCreatedEdit: false,
      lastEditedAt: null,
      author: { login: 'ada' },
      pullRequest: { number: 1 },
    });
  });
});

describe('checks', () => {
  const CONTEXTS = `contexts(first: 9) { nodes { __typename
    ... on CheckRun { name status conclusion isRequired(pullRequestNumber: 1) checkSuite { app { slug databaseId } } }
    ... on StatusContext { context state isRequired(pullRequestNumber: 1) creator { login } } } }`;
  const look = async () =>
    (
      await ask<{ object: { statusCheckRollup: { contexts: { nodes: unknown } } | null } }>(
        `object(oid: "${pr.headSha}") { ... on Commit { statusCheckRollup { ${CONTEXTS} } } }`,
      )
    ).object;

  it('are those of a commit, whoever reported them, attempts that were superseded included', async () => {
    assert.deepEqual(await look(), { statusCheckRollup: null });
    github.protect(repository, 'main', { checks: [{ context: 'build', appId: github.ci.id }] });
    github.reportCheck(repository, { sha: pr.headSha, name: 'build', conclusion: 'failure' });
    github.reportCheck(repository, { sha: pr.headSha, name: 'build', attempt: 2, status: 'queued' });
    github.setStatus(repository, { sha: pr.headSha, context: 'build', state: 'success', by: 'eve' });
    const { statusCheckRollup } = await look();
    const app = { slug: 'github-actions', databaseId: github.ci.id };
    const run = { __typename: 'CheckRun', name: 'build', isRequired: true, checkSuite: { app } };
    assert.deepEqual(statusCheckRollup?.contexts.nodes, [
      { ...run, status: 'COMPLETED', conclusion: 'FAILURE' },
      { ...run, status: 'QUEUED', conclusion: null },
      { __typename: 'StatusContext', context: 'build', state: 'SUCCESS', isRequired: false, creator: { login: 'eve' } },
    ]);
  });

  it('of a commit that is not there are none', async () => {
    assert.deepEqual(await ask(`object(oid: "${'a'.repeat(40)}") { oid }`), { object: null });
  });
});

describe('rules', () => {
  const RULES = `ref(qualifiedName: "refs/heads/main") {
    refUpdateRule { requiredStatusCheckContexts }
    rules(first: 9) { nodes { type parameters { ... on RequiredStatusChecksParameters {
      strictRequiredStatusChecksPolicy requiredStatusChecks { context integrationId } } } } }`;
  const CLASSIC = 'branchProtectionRule { requiresStrictStatusChecks requiredStatusChecks { context app { slug } } }';

  beforeEach(() => {
    github.protect(repository, 'main', { isStrict: true, checks: [{ context: 'build', appId: github.ci.id }] });
    const checks = [{ context: 'test', appId: 7 }];
    github.addRuleset(repository, { rules: [{ type: 'required_status_checks', checks, isStrict: false }] });
    github.addRuleset(repository, { enforcement: 'disabled', rules: [{ type: 'deletion' }] });
  });

  it('of both kinds are told to whoever may administrate', async () => {
    const { ref } = await ask<{ ref: unknown }>(`${RULES} ${CLASSIC} }`);
    assert.deepEqual(ref, {
      refUpdateRule: { requiredStatusCheckContexts: ['build'] },
      rules: {
        nodes: [
          {
            type: 'REQUIRED_STATUS_CHECKS',
            parameters: {
              strictRequiredStatusChecksPolicy: false,
              requiredStatusChecks: [{ context: 'test', integrationId: 7 }],
            },
          },
        ],
      },
      branchProtectionRule: {
        requiresStrictStatusChecks: true,
        requiredStatusChecks: [{ context: 'build', app: { slug: 'github-actions' } }],
      },
    });
  });

  it('of protection are refused to others, and the rest is answered', async () => {
    const { administration: _, ...less } = QUEUE_PERMISSIONS;
    github.grant(installation, less);
    const weaker = await asInstallation(github, installation);
    const asked = ask(`${RULES} ${CLASSIC} }`, weaker);
    assert.deepEqual(await complaintsOf(asked), [
      ['FORBIDDEN', ['repository', 'ref', 'branchProtectionRule'], 'Resource not accessible by integration'],
    ]);
    const { data } = (await asked.catch((problem: unknown) => problem)) as { data: { repository: { ref: Node } } };
    assert.deepEqual(data.repository.ref['refUpdateRule'], { requiredStatusCheckContexts: ['build'] });
    assert.equal(data.repository.ref['branchProtectionRule'], null);
  });

  it('say what a person may do', async () => {
    const may = (login: string) =>
      ask(`collaborators(first: 1, login: "${login}") { edges { permission node { login } } }`);
    const ada = { permission: 'WRITE', node: { login: 'ada' } };
    assert.deepEqual(await may('ADA'), { collaborators: { edges: [ada] } });
    assert.deepEqual(await may('nobody'), { collaborators: { edges: [] } });
  });
});

describe('questions', () => {
  it('about what is not there, or hidden, are answered with null and a complaint', async () => {
    const missing = `Could not resolve to a PullRequest with the number of 9.`;
    assert.deepEqual(await complaintsOf(ask('pullRequest(number: 9) { id }')), [
      ['NOT_FOUND', ['repository', 'pullRequest'], missing],
    ]);
    const stranger = asPerson(github, 'mallory');
    const [complaint] = await complaintsOf(ask('id', stranger));
    assert.deepEqual(complaint?.slice(0, 2), ['NOT_FOUND', ['repository']]);
  });

  it('that the official schema does not know are refused', async () => {
    assert.match(String((await complaintsOf(ask('mergeQueueLength')))[0]?.[2]), /Cannot query field/);
    const [unbounded] = await complaintsOf(ask('pullRequests { totalCount }'));
    assert.equal(unbounded?.[0], 'MISSING_PAGINATION_BOUNDARIES');
    const [excessive] = await complaintsOf(ask('pullRequests(first: 101) { totalCount }'));
    assert.equal(excessive?.[0], 'EXCESSIVE_PAGINATION');
  });

  it('about what an app may not read are answered with null where that is', async () => {
    const { checks: _, ...less } = QUEUE_PERMISSIONS;
    github.grant(installation, less);
    const weaker = await asInstallation(github, installation);
    const fields = `pullRequest(number: 1) { number statusCheckRollup { state } }`;
    const [complaint] = await complaintsOf(ask(fields, weaker));
    assert.deepEqual(complaint?.slice(0, 2), ['FORBIDDEN', ['repository', 'pullRequest', 'statusCheckRollup']]);
  });

  it('by an old name are answered with the new one', async () => {
    github.rename(repository, 'renamed');
    assert.deepEqual(await ask('nameWithOwner'), { nameWithOwner: 'acme/renamed' });
  });

  it('at the address of an Enterprise host are the same, and nobody may ask without a name', async () => {
    const body = JSON.stringify({ query: '{ viewer { login } }' });
    const authorization = `token ${github.createToken('ada')}`;
    const told = await fetch(`${github.url}/api/graphql`, { method: 'POST', body, headers: { authorization } });
    assert.deepEqual(await told.json(), { data: { viewer: { login: 'ada' } } });
    assert.equal((await fetch(`${github.url}/graphql`, { method: 'POST', body })).status, 401);
    const { viewer } = await client.graphql<{ viewer: unknown }>('{ viewer { login } rateLimit { remaining } }');
    assert.deepEqual(viewer, { login: 'sluice[bot]' });
  });
});
