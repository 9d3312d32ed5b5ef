import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { StatusData } from './api/data.ts';
import { reportsOf } from './statuses.ts';

const CI = { id: 7, login: 'ci' };

function status(id: number, given: Partial<StatusData> = {}): StatusData {
  return {
    ...{ id, status: 'success', context: 'test', description: null, target_url: null, creator: CI },
    created_at: '2026-01-02T03:04:05Z',
    ...given,
  };
}

describe('statuses of a commit', () => {
  it('statuses are read as the newest of each context and account, so that a stranger hides nothing [G161]', () => {
    const read = reportsOf([
      status(9, { creator: { id: 8, login: 'stranger' } }),
      status(4, { status: 'failure' }),
      status(3, { status: 'pending' }),
      status(5, { context: 'lint', status: 'pending' }),
    ]);
    assert.deepEqual(pluck(read, 'name', 'reporter', 'reporterId', 'conclusion'), [
      ['test', 'stranger', '8', 'SUCCESS'],
      ['test', 'ci', '7', 'FAILURE'],
      ['lint', 'ci', '7', undefined],
    ]);
  });

  it('statuses keep their order within one second, which is all that Gitea tells [G161]', () => {
    const startOf = (...ids: readonly number[]) => reportsOf(ids.map((id) => status(id)))[0]?.startedAt ?? 0;
    assert.ok(startOf(1) < startOf(1, 2));
    assert.ok(startOf(1, 2) < startOf(3, 2, 1));
    assert.equal(startOf(1, 2) - startOf(1), 1);
  });

  it('statuses pass when Gitea lets them pass, and a pending one never looks like a run [G161]', () => {
    const conclusionOf = (word: string) => reportsOf([status(1, { status: word })])[0]?.conclusion;
    assert.deepEqual(['success', 'skipped', 'failure', 'error', 'warning', 'cancelled', 'odd'].map(conclusionOf), [
      'SUCCESS',
      'SKIPPED',
      'FAILURE',
      'ERROR',
      'FAILURE',
      'CANCELLED',
      'ERROR',
    ]);
    assert.equal(reportsOf([status(1, { status: 'pending' })])[0]?.status, 'QUEUED');
  });
});
