import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fault } from '../lib/fault.ts';
import { getGitVersion, isAtLeast, parseGitVersion } from './create-git.ts';

test('the version of this git is read', async () => {
  assert.ok(isAtLeast(await getGitVersion(), { major: 2, minor: 38 }));
});

test('versions of all vendors are read', () => {
  assert.deepEqual(parseGitVersion('git version 2.39.5 (Apple Git-154)\n'), { major: 2, minor: 39 });
  assert.deepEqual(parseGitVersion('git version 2.51.0.windows.1\n'), { major: 2, minor: 51 });
  assert.deepEqual(parseGitVersion('git version 3.0.0-rc1\n'), { major: 3, minor: 0 });
});

test('an old or unreadable version is a fault that says so', () => {
  for (const text of ['git version 2.37.9\n', 'git version 1.99.0\n', 'hello']) {
    assert.throws(
      () => parseGitVersion(text),
      (error) => error instanceof Fault && error.code === 'GIT_UNSUPPORTED',
    );
  }
  assert.throws(() => parseGitVersion('git version 2.17.1'), /needs git 2\.38 or newer; this is 2\.17/);
});
