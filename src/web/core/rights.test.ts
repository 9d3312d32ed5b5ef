import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isAllowed, roleIn } from './rights.ts';

const app = { host: 'github.com', owner: 'acme', name: 'app' };
const lib = { ...app, name: 'lib' };
const ada = {
  scopes: [],
  logins: { 'github.com': 'Ada' },
  repositories: [
    { repo: app, role: 'author', scopes: ['read', 'submit'] },
    { repo: lib, role: 'admin', scopes: ['admin'] },
  ],
};

it('a person has the rights of the role in the repository, and an author those on own pull requests [A63]', () => {
  assert.equal(isAllowed(ada, 'admin', {}), false);
  assert.equal(isAllowed(ada, 'maintain', { repo: app }), false);
  assert.equal(isAllowed(ada, 'maintain', { repo: lib }), true);
  assert.equal(isAllowed(ada, 'instance', { repo: lib }), false);
  assert.deepEqual(
    ['ada', 'bob', undefined].map((author) => isAllowed(ada, 'submit', { repo: app, ...(author && { author }) })),
    [true, false, true],
  );
  assert.equal(isAllowed({ ...ada, logins: {} }, 'submit', { repo: app, author: 'ada' }), false);
  assert.equal(isAllowed(ada, 'read', { repo: { ...app, name: 'other' } }), false);
  assert.deepEqual([roleIn(ada, app), roleIn(ada, undefined)], ['author', undefined]);
  assert.equal(isAllowed({ scopes: ['submit'] }, 'submit', { repo: app, author: 'bob' }), true, 'a token has no role');
});
