import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isOpen } from './open-pages.ts';
import { parseRoute } from './route.ts';

const PUBLIC = [{ organization: 'acme', repo: { host: 'github.com', owner: 'acme', name: 'app' } }];
const isOpenAt = (path: string, isPast = false) => {
  const { pathname, search } = new URL(path, 'https://sluice.test');
  return isOpen(parseRoute(pathname, search), PUBLIC, isPast);
};

it('a stranger opens the pages of public repositories that need no session, and no other [A46]', () => {
  const queue = '/acme/github.com/acme/app/main';
  for (const path of [
    '/acme',
    queue,
    `${queue}/health`,
    `${queue}/landings`,
    `${queue}/pr/7`,
    '/acme/pull-requests/7?repo=acme/app',
  ]) {
    assert.equal(isOpenAt(path), true, path);
    assert.equal(isOpenAt(path, true), false, 'the past');
  }
  const closed = [
    ...['/', '/login', '/other', '/acme/-/audit', '/acme/-/setup', `${queue}/settings`, `${queue}/simulator`],
    ...['/acme/github.com/acme/app/-/tests', '/acme/github.com/acme/app/-/uploads', '/acme/github.com/acme/app'],
    ...['/acme/github.com/acme/other/main', '/other/github.com/acme/app/main', '/acme/local/acme/app/main'],
    ...['/acme/flaky-tests/test/1?repo=acme/app', '/acme/pull-requests/7?repo=acme/other'],
  ];
  for (const path of closed) assert.equal(isOpenAt(path), false, path);
});
