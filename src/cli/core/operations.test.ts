import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { listPullRequests } from '../../contract/pull-requests.ts';
import { routeOf } from './operations.ts';

const GENERATOR = new URL('../../../scripts/lib/cli-contract.mjs', import.meta.url).href;

describe('the table of operations [W20]', () => {
  it('is what the contract says; write it again with: npm run docs', async () => {
    const { renderCliContract } = await import(GENERATOR);
    const table = readFileSync(new URL('./contract.json', import.meta.url), 'utf8');
    assert.ok(table === (await renderCliContract()), 'src/cli/core/contract.json is outdated');
  });

  it('knows the path of an operation, and which ones only read', () => {
    assert.deepEqual(routeOf('listPullRequests'), {
      method: listPullRequests.method,
      path: `/v1${listPullRequests.path}`,
      isRead: true,
    });
    assert.deepEqual(routeOf('submitPullRequest'), { method: 'POST', path: '/v1/submitPullRequest', isRead: false });
    assert.equal(routeOf('searchTests').path, '/v1/flaky-tests/search-tests');
  });
});
