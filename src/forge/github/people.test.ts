import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isAccount } from './people.ts';

describe('people on GitHub', () => {
  it('an imported or deleted account has no permission of whoever has its name now [G19]', () => {
    const isOne = ['User', 'Bot', 'Mannequin', 'Organization'].map((__typename) =>
      isAccount({ __typename, login: 'ada' }),
    );
    assert.deepEqual(isOne, [true, true, false, false]);
    assert.equal(isAccount(null), false);
  });
});
