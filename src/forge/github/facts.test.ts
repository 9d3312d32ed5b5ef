import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createFakeGithub, type FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { PullRequest, Repository } from '../../../test/fake/github/model.ts';
import { connectHosting } from '../../../test/helpers/github-hosting.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { GithubClient } from './api/client.ts';
import { readChecks } from './checks.ts';
import { type FactsTools, findPullRequest } from './facts.ts';

const APP: ForgeRepository = { id: 'r1', host: 'github.com', owner: 'acme', name: 'app', git: undefined, checks: [] };

let github: FakeGithub;
let repository: Repository;
let pr: PullRequest;
let tools: FactsTools;

beforeEach(async () => {
  github = await createFakeGithub();
  repository = await github.createRepository('acme/app');
  github.install(github.app, 'acme');
  tools = connectHosting(github);
  pr = await github.openPullRequest(repository);
});

afterEach(async () => {
  tools.client.close();
  await github.close();
});

type Conclusion = 'success' | 'failure';

function report(name: string, conclusion: Conclusion, more: { readonly isOtherSuite?: boolean } = {}): void {
  github.reportCheck(repository, { sha: pr.headSha, name, status: 'completed', conclusion, ...more });
}

function reportMany(): void {
  for (let index = 0; index < 150; index += 1) report(`job ${index}`, 'success');
}

/** GitHub answers null for the commit when a further page is requested. */
function losePages(asked: 'for more' | 'after the first' = 'for more'): void {
  const { client } = tools;
  const ask = client.graphql.bind(client);
  let questions = 0;
  const graphql: GithubClient['graphql'] = (question) => {
    if (question.query.startsWith('query ReadChecks')) questions += 1;
    if (questions > (asked === 'for more' ? 0 : 1)) repository.checks.splice(0);
    return ask(question);
  };
  client.graphql = graphql;
}

async function read() {
  const facts = await findPullRequest(tools, { repository: APP, number: pr.number as PrNumber });
  assert.ok(facts !== undefined);
  return facts;
}

describe('a head with more checks than one answer holds', () => {
  for (const [conclusion, reasons] of [
    ['success', []],
    ['failure', ['failingCheck']],
  ] as const) {
    it(`a head is judged by the required check on its last page: ${conclusion} [G119]`, async () => {
      const bypass = [{ actorId: github.app.id, type: 'Integration', mode: 'always' }] as const;
      github.addRuleset(repository, {
        rules: [
          { type: 'update' },
          { type: 'required_status_checks', checks: [{ context: 'late', appId: undefined }], isStrict: false },
        ],
        bypass,
      });
      reportMany();
      report('late', conclusion);
      assert.deepEqual((await read()).blockReasons, reasons);
    });
  }

  it('a head passed only the checks that passed on every page', async () => {
    report('twice', 'success');
    reportMany();
    report('twice', 'failure', { isOtherSuite: true });
    report('late', 'success');
    const passed = (await read()).upToDate?.passedChecks ?? [];
    const names = passed.map((check) => (typeof check === 'string' ? check : check.name));
    assert.equal(names.length, 151);
    assert.deepEqual([names.includes('late'), names.includes('twice')], [true, false]);
  });

  it('a head of which a page is missing is not ready, and passed nothing [G119]', async () => {
    github.addRuleset(repository, {
      rules: [{ type: 'update' }],
      bypass: [{ actorId: github.app.id, type: 'Integration', mode: 'always' }],
    });
    reportMany();
    assert.deepEqual((await read()).blockReasons, []);
    losePages();
    const { blockReasons, upToDate } = await read();
    assert.deepEqual([blockReasons, upToDate?.passedChecks], [['awaitingCheck'], []]);
  });

  it('a head is under test until all pages are read, and fails by a failure on one of them [G12]', async () => {
    report('bad', 'failure');
    reportMany();
    const sha = pr.headSha as Sha;
    assert.equal((await readChecks(tools.client, APP, [sha])).get(sha)?.length, 151);
    losePages('after the first');
    const read = (await readChecks(tools.client, APP, [sha])).get(sha) ?? [];
    assert.deepEqual(pluck(read, 'name', 'conclusion'), [['bad', 'FAILURE']]);
  });

  it('a head with many checks costs no further question where they are not needed', async () => {
    reportMany();
    await github.commit(repository, { branch: 'main', files: { 'other.txt': 'x\n' }, message: 'Move' });
    await read();
    const count = () => [...github.countRequests().values()].reduce((sum, each) => sum + each, 0);
    const before = count();
    await read();
    assert.equal(count() - before, 1);
  });
});
