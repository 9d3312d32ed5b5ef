import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isNarrowed, isToReview, listBodyOf, parseListQuery, rangeOf } from './test-list.ts';

const bodyOf = (search: string) => listBodyOf(parseListQuery(new URLSearchParams(search)));

describe('the address of a list of tests', () => {
  it('says what the server is asked for', () => {
    assert.deepEqual(bodyOf('?status=flaky&quarantined=no&owner=%40acme%2Fnet&text=%20a%20&sort=rate&page=abc'), {
      sort: 'FAILURE_RATE',
      status: 'FLAKY',
      quarantined: false,
      owner: '@acme/net',
      text: 'a',
      page_query: { page_size: 50, page_token: 'abc' },
    });
  });

  it('may have anything in it', () => {
    const expected = { sort: 'PULL_REQUESTS', page_query: { page_size: 50, page_token: '' } };
    assert.deepEqual(bodyOf(''), expected);
    assert.deepEqual(bodyOf('?status=x&quarantined=maybe&sort=toString&owner=%20&text='), expected);
    assert.equal(isNarrowed(parseListQuery(new URLSearchParams('?sort=rate'))), false);
    assert.equal(isNarrowed(parseListQuery(new URLSearchParams('?quarantined=yes'))), true);
  });

  it('says which tests of how many are shown', () => {
    assert.equal(rangeOf({ total_rows: 64, page_index: 1 }, 14), '51–64 of 64');
    assert.equal(rangeOf({ total_rows: 0, page_index: 0 }, 0), '0 of 0');
  });
});

describe('a quarantine', () => {
  it('is to be reviewed before it ends, and when it seems to have outlived its reason', () => {
    const now = Date.parse('2026-09-17T10:00:00Z');
    assert.equal(isToReview({}, now), false);
    assert.equal(isToReview({ review: 'NEVER_RUNS' }, now), true);
    assert.equal(isToReview({ expires_at: '2026-09-20T00:00:00Z' }, now), true);
    assert.equal(isToReview({ expires_at: '2026-10-20T00:00:00Z' }, now), false);
  });
});
