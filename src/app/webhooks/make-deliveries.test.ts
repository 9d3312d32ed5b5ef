import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { OrganizationId } from '../../storage/accounts.ts';
import type { FeedRow } from '../../storage/feed.ts';
import type { RepositoryId } from '../../storage/repositories.ts';
import type { Webhook, WebhookId } from '../../storage/webhooks.ts';
import { deliveriesFor } from './make-deliveries.ts';

const webhook = (values: Partial<Webhook> = {}): Webhook => ({
  ...{
    id: 'w' as WebhookId,
    organizationId: 'o' as OrganizationId,
    name: 'n',
    format: 'SLACK',
    types: ['pull_request.*'],
  },
  ...{
    repositoryIds: null,
    account: null,
    mayReachPrivate: false,
    url: '',
    maskedUrl: '',
    secret: '',
    oldSecret: null,
  },
  ...{ oldSecretUntil: null, cursor: 0, failingSince: null, disabledAt: null, createdBy: '', createdAt: 0 },
  ...values,
});

let seq = 0;
function row(type: string, prNumber: number | null, version: number, data: object = {}): FeedRow {
  seq += 1;
  return {
    ...{ seq, source: 'q', version, ordinal: seq, at: 0, type, organizationId: 'o' as OrganizationId },
    ...{ repositoryId: 'r', queueId: 'q', targetBranch: 'main', prNumber, testId: null, repo: null, digest: null },
    body: JSON.stringify({ data }),
  };
}

const batch = { isBatch: true, testRunId: 'run 1' };
const told = (of: Webhook, rows: readonly FeedRow[]) =>
  deliveriesFor(of, rows).map(({ type, prNumbers }) => [type, prNumbers]);

describe('messages of events', () => {
  test('are one for each event of the types and families that were chosen', () => {
    const rows = [row('queue.held', null, 1), row('queue.paused', null, 2), row('pull_request.merged', 1, 3)];
    const of = webhook({ format: 'STANDARD', types: ['queue.held', 'pull_request.*'] });
    assert.deepEqual(told(of, rows), [
      ['queue.held', null],
      ['pull_request.merged', null],
    ]);
    assert.deepEqual(deliveriesFor(of, rows), deliveriesFor(of, rows));
    const ids = deliveriesFor(of, rows).map(({ id }) => id);
    assert.equal(
      new Set([...ids, ...deliveriesFor({ ...of, id: 'v' as WebhookId }, rows).map(({ id }) => id)]).size,
      4,
    );
    assert.deepEqual(told({ ...of, repositoryIds: ['x' as RepositoryId] }, rows), []);
  });

  test('are two for a change of status, if both forms were chosen', () => {
    const changed = [row('test_case.status_changed', null, 1)];
    const types = ['test_case.*', 'v2.test_case.status_changed'];
    assert.deepEqual(told(webhook({ format: 'STANDARD', types }), changed), [
      ['test_case.status_changed', null],
      ['v2.test_case.status_changed', null],
    ]);
    assert.equal(told(webhook({ format: 'STANDARD', types: types.slice(1) }), changed).length, 1);
  });

  test('are one for all pull requests of a batch where people read them, and one each for the rest [X36]', () => {
    const rows = [
      ...[1, 2, 3].map((prNumber) => row('pull_request.testing', prNumber, 1, batch)),
      row('pull_request_batch.testing', null, 1, batch),
      row('pull_request.testing', 4, 1, { isBatch: false, testRunId: 'run 2' }),
      ...[1, 2].map((prNumber) => row('pull_request.merged', prNumber, 2, batch)),
      row('pull_request.failed', 3, 2, batch),
    ];
    assert.deepEqual(told(webhook(), rows), [
      ['pull_request.testing', [1, 2, 3]],
      ['pull_request.testing', null],
      ['pull_request.merged', [1, 2]],
      ['pull_request.failed', null],
    ]);
    const both = webhook({ types: ['pull_request.*', 'pull_request_batch.*', 'landing.recorded'] });
    const formed = row('pull_request_batch.submitted', null, 1, batch);
    const landed = [1, 2].map((prNumber) => row('landing.recorded', prNumber, 2, { testRunId: 'run 1' }));
    assert.deepEqual(told(both, [formed, ...rows, ...landed]), [
      ['pull_request_batch.testing', null],
      ['pull_request.testing', null],
      ['pull_request.merged', [1, 2]],
      ['pull_request.failed', null],
      ['landing.recorded', [1, 2]],
    ]);
    assert.deepEqual(told(webhook({ types: ['pull_request_batch.submitted'] }), [formed]), [
      ['pull_request_batch.submitted', null],
    ]);
    const lines = new Set(deliveriesFor(both, rows).map(({ line }) => line));
    assert.deepEqual([...lines], ['r q']);
    assert.equal(told({ ...both, format: 'STANDARD' }, rows).length, rows.length);
  });
});
