import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { Octokit } from 'octokit';
import { madeForEach } from '../../helpers/made.ts';
import { asInstallation, asPerson } from './a-client.ts';
import { QUEUE_PERMISSIONS } from './apps.ts';
import { createFakeGithub } from './fake-github.ts';
import type { Installation, PullRequest, Repository } from './model.ts';

const github = madeForEach(() => createFakeGithub({ mergeability: 'lazy' }));
let repository: Repository;
let installation: Installation;
let client: Octokit;
let pr: PullRequest;

beforeEach(async () => {
  repository = await github.createRepository('acme/app', { roles: { ada: 'write', eve: 'read' }, isPrivate: true });
  installation = github.install(github.app, 'acme');
  client = await asInstallation(github, installation);
  pr = await github.openPullRequest(repository, { author: 'ada', title: 'Add x', body: 'Why.' });
});

/** The data of a query, and its errors as their type and the place they are about. */
async function send(query: string, variables: object = {}, using = client) {
  const { data } = await using.request('POST /graphql', { query, variables });
  const errors: readonly { type?: string; path?: readonly string[]; message: string }[] = data.errors ?? [];
  return { data: data.data, errors, complaints: errors.map(({ type, path }) => `${type} ${path?.join('.')}`) };
}

/** Fields of the repository. */
const ask = (fields: string, using = client) =>
  send(`{ repository(owner: "acme", name: "app") { ${fields} } }`, {}, using);

function without(permission: string): Promise<Octokit> {
  const kept = Object.entries(QUEUE_PERMISSIONS).filter(([name]) => name !== permission);
  github.grant(installation, Object.fromEntries(kept));
  return asInstallation(github, installation);
}

describe('questions to GraphQL', () => {
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

  it('a field that the official schema or the fake does not know is refused', async () => {
    assert.match((await ask('mergeQueueLength')).errors[0]?.message ?? '', /Cannot query field/);
    assert.match((await ask('diskUsage')).errors[0]?.message ?? '', /does not have Repository.diskUsage/);
  });

  it('a question that could list too much is refused, and another costs what it could list', async () => {
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
