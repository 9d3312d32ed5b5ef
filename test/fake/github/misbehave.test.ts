import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type Octokit, RequestError } from 'octokit';
import { asInstallation, asPerson } from './a-client.ts';
import { createFakeGithub, type FakeGithub } from './fake-github.ts';
import type { PullRequest, Repository } from './model.ts';

const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
const REPOSITORY = 'GET /repos/{owner}/{repo}';
const QUESTION = '{ repository(owner: "acme", name: "app") { id } }';
const names = { owner: 'acme', repo: 'app' };

let github: FakeGithub;
let repository: Repository;
let client: Octokit;
let pr: PullRequest;

beforeEach(async () => {
  github = await createFakeGithub();
  repository = await github.createRepository('acme/app', { roles: { ada: 'write', eve: 'write' } });
  client = await asInstallation(github, github.install(github.app, 'acme'));
  pr = await github.openPullRequest(repository, { author: 'ada' });
});

afterEach(() => github.close());

const look = (using = client) => using.request(REPOSITORY, names);
const merge = (signal?: AbortSignal) =>
  client.request(MERGE, { ...names, pull_number: pr.number, ...(signal && { request: { signal } }) });
const isMerged = () => pr.merged !== undefined;

/** The status of a refusal, or the connection error. */
async function outcomeOf(asked: Promise<unknown>): Promise<string | number> {
  const error = await asked.then(
    () => undefined,
    (problem: unknown) => problem,
  );
  if (error === undefined) return 'answered';
  if (error instanceof RequestError) return error.response === undefined ? 'no answer' : error.status;
  return error instanceof Error ? error.name : String(error);
}

describe('the budgets of the fake GitHub', () => {
  it('a budget is told with every answer, and belongs to one payer', async () => {
    github.limits.configure({ core: 3 });
    const asUser = asPerson(github, 'ada');
    const { headers } = await look(asUser);
    assert.deepEqual(
      ['limit', 'remaining', 'used', 'resource'].map((name) => headers[`x-ratelimit-${name}`]),
      ['3', '2', '1', 'core'],
    );
    await look(asUser);
    await look(asUser);
    await assert.rejects(look(asUser), (error) => {
      assert.ok(error instanceof RequestError);
      assert.equal(error.status, 403);
      assert.match(error.message, /API rate limit exceeded for user ID/);
      assert.equal(error.response?.headers['x-ratelimit-remaining'], '0');
      return true;
    });
    assert.equal(await outcomeOf(look(asPerson(github, 'eve'))), 'answered');
    github.limits.refill();
    assert.equal(await outcomeOf(look(asUser)), 'answered');
  });

  it('GraphQL has a budget of its own, and a refusal of its own', async () => {
    github.limits.configure({ graphql: 1 });
    await client.graphql(QUESTION);
    const error = await client.graphql(QUESTION).catch((problem: unknown) => problem);
    assert.ok(error instanceof Error && 'errors' in error);
    assert.equal((error.errors as readonly { type: string }[])[0]?.type, 'RATE_LIMITED');
    assert.equal(await outcomeOf(look()), 'answered');
  });
});

describe('faults of the fake GitHub', () => {
  it('a fault before an act leaves it undone, and one after it done', async () => {
    github.faults.once(MERGE, { kind: 'error', status: 502, when: 'before' });
    assert.equal(await outcomeOf(merge()), 502);
    assert.equal(isMerged(), false);
    github.faults.once('PUT *merge', { kind: 'error', status: 500, when: 'after' });
    assert.equal(await outcomeOf(merge()), 500);
    assert.equal(isMerged(), true);
    assert.deepEqual(
      github.faults.fired.map(({ route }) => route),
      [MERGE, MERGE],
    );
  });

  it('a fault cuts the connection, or keeps silent', async () => {
    github.faults.once(MERGE, { kind: 'reset', when: 'before' });
    assert.equal(await outcomeOf(merge()), 'no answer');
    assert.equal(isMerged(), false);
    github.faults.once(`PUT /repos/acme/app/pulls/${pr.number}/merge`, { kind: 'silence', when: 'after' });
    const patience = new AbortController();
    const asked = merge(patience.signal);
    const deadline = Date.now() + 10_000;
    while (!isMerged() && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
    patience.abort();
    assert.equal(await outcomeOf(asked), 'AbortError');
    assert.equal(isMerged(), true);
  });

  it('faults are weather, and the same weather for the same seed', async () => {
    const days: string[] = [];
    for (const seed of [1, 1, 2]) {
      const better = github.faults.weather({
        seed,
        share: 0.4,
        route: REPOSITORY,
        faults: [
          { kind: 'error', status: 503, when: 'before' },
          { kind: 'reset', when: 'after' },
        ],
      });
      const outcomes: (string | number)[] = [];
      for (let round = 0; round < 20; round += 1) outcomes.push(await outcomeOf(look()));
      days.push(outcomes.join());
      better();
    }
    assert.equal(days[0], days[1]);
    assert.notEqual(days[0], days[2]);
    assert.equal(await outcomeOf(look()), 'answered');
  });
});
