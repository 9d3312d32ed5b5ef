import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { parseLocation } from './plain-forge.ts';

test('paths become absolute', () => {
  assert.deepEqual(parseLocation('/srv/git/app.git'), { kind: 'path', path: '/srv/git/app.git' });
  assert.deepEqual(parseLocation('app.git'), { kind: 'path', path: resolve('app.git') });
  assert.deepEqual(parseLocation('./a:b'), { kind: 'path', path: resolve('a:b') });
  assert.deepEqual(parseLocation('/srv/with space/::x'), { kind: 'path', path: '/srv/with space/::x' });
});

test('a file URL is the path in it', () => {
  for (const [url, path] of [
    ['file:///srv/git/app.git', '/srv/git/app.git'],
    ['file://localhost/srv/app', '/srv/app'],
    ['FILE:///srv/with%20space', '/srv/with space'],
  ] as const) {
    assert.deepEqual(parseLocation(url), { kind: 'path', path });
  }
});

test('ssh and https are accepted', () => {
  const urls = [
    'https://example.test/acme/app.git',
    'https://user@example.test:8443/app',
    'ssh://git@example.test:2222/acme/app.git',
    'ssh://example.test/~/app',
    'ssh://[::1]/app',
    'git@example.test:acme/app.git',
    'deploy-bot@10.0.0.1:/srv/app.git',
  ];
  for (const url of urls) assert.deepEqual(parseLocation(url), { kind: 'url', url });
});

test('everything else is refused', () => {
  const values = [
    ...[
      '',
      '-o',
      '--upload-pack=touch x',
      'ext::sh -c id',
      'file://host/srv/app',
      'file:app.git',
      'file://',
      'file:///srv/%00',
      'file:///srv/%zz',
      'http://example.test/app',
      'git://example.test/app',
    ],
    ...[
      'ssh://-oProxyCommand=id/x',
      'ssh://git@-oProxyCommand=id/x',
      'git@-oProxyCommand=id:x',
      '-oProxyCommand@host:x',
    ],
    ...[
      'git@host::x',
      'git@host:-x',
      'host:app.git',
      'ftp://example.test/x',
      'fd::7',
      'https::https://example.test/x',
      'transport::x',
    ],
    ...[
      'https://',
      'https:///x',
      'ssh://',
      'https://example.test',
      'https://a b/c',
      'https://example.test/a b',
      '/srv/a\nb',
      '/srv/a\0b',
    ],
    ...['https://example.test\\@evil/x', `/${'x'.repeat(3000)}`, '/\ud800'],
  ];
  for (const value of values) assert.equal(parseLocation(value).kind, 'refused', value);
  assert.equal(parseLocation(undefined).kind, 'refused');
});

test('a password in a URL is refused without being repeated', () => {
  for (const value of [
    'https://user:hunter2@example.test/app',
    'ssh://git:hunter2@example.test/app',
    'https://:hunter2@h/a',
  ]) {
    const parsed = parseLocation(value);
    assert.ok(parsed.kind === 'refused' && !parsed.sentence.includes('hunter2'), value);
    assert.match(parsed.sentence, /password/);
  }
});
