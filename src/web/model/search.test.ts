import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findPullRequests, fits, numberOf } from './search.ts';

const entry = (prNumber: number, prTitle: string, prAuthor = 'ada') => ({ prNumber, prTitle, prAuthor });

describe('search', () => {
  it('knows numbers of pull requests', () => {
    assert.deepEqual(['#12', ' 7 ', '0', '12a', '#'].map(numberOf), [12, 7, undefined, undefined, undefined]);
  });

  it('wants every word, in any case and order', () => {
    assert.equal(fits('cart GREET', 'Greet twice', 'cart'), true);
    assert.equal(fits('cart tax', 'Greet twice', 'cart'), false);
    assert.equal(fits('', 'anything'), true);
  });

  it('has the pull request of the number first', () => {
    const entries = [entry(112, 'Use HTTP 12'), entry(120, 'Later'), entry(12, 'First'), entry(5, 'None', 'bob')];
    const numbers = (text: string, most = 9) => findPullRequests(entries, text, most).map(({ prNumber }) => prNumber);
    assert.deepEqual(numbers('12'), [12, 120, 112]);
    assert.deepEqual(numbers('#12', 1), [12]);
    assert.deepEqual(numbers('bob'), [5]);
    assert.deepEqual(numbers('first ada'), [12]);
  });
});
