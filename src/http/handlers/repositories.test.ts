import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createPlainWorld } from '../../../test/contract/plain-repository.ts';
import { useServer } from '../../../test/e2e/test-queue.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';

describe('repositories over /v1', () => {
  const world = useServer();
  const git = madeOnce(() => createPlainWorld());
  before(async () => {
    await git.commit('main', { files: { 'a.txt': 'a\n' } });
  });

  const repo = { host: 'local', owner: 'acme', name: 'app' };

  test('registerRepository answers the repository, and a second time changes only the given fields', async () => {
    const checks = [{ name: 'test', command: 'npm test' }];
    const { createdAt, updatedAt, notes, ...rest } = await world.server.api.ok('registerRepository', {
      repo,
      git: git.path,
      checks,
    });
    const flags = { timeoutMinutes: null, network: false, userNamespaces: false };
    const check = { ...checks[0], ...flags, prepare: null, tools: [], cache: null, selects: null };
    const settings = { fileChecks: null, trustChecks: false, checksBlocked: null, runHooks: true };
    assert.deepEqual([rest, notes], [{ repo, git: git.path, checks: [check], junit: [], ...settings }, []]);
    const { notes: none, ...again } = await world.server.api.ok('registerRepository', { repo, junit: ['out/*.xml'] });
    assert.deepEqual(none, []);
    assert.deepEqual(again, { ...rest, junit: ['out/*.xml'], createdAt, updatedAt: again['updatedAt'] });
    assert.ok(String(again['updatedAt']) >= String(updatedAt));
    assert.deepEqual(await world.server.api.ok('listRepositories', {}), { repositories: [again] });
  });

  for (const [what, location] of [
    ['a folder that is not there', '/nowhere/app.git'],
    ['an option', '--upload-pack=touch x'],
    ['a transport that runs commands', 'ext::sh -c true'],
    ['a file URL of another machine', 'file://example.test/srv/git/app.git'],
    ['a URL with a password', 'https://user:secret@example.test/app.git'],
    ['plain http', 'http://example.test/app.git'],
  ] as const) {
    test(`${what} is refused as a repository, and nothing is registered`, async () => {
      const body = { repo: { ...repo, name: 'other' }, git: location };
      const problem = await world.server.api.refused('400 VALIDATION_FAILED', 'registerRepository', body);
      assert.deepEqual(pluck(problem.errors, 'path'), ['/git']);
      assert.ok(!JSON.stringify(problem).includes('secret'));
      await world.server.api.refused('404 REPOSITORY_NOT_FOUND', 'removeRepository', { repo: body.repo });
    });
  }

  for (const glob of [`${'+(a|aa)'.repeat(30)}b`, '*a'.repeat(50), '/etc/*.xml', 'a/../../*', '{a', 'x'.repeat(300)]) {
    test(`the glob ${glob.slice(0, 20)} is refused with a sentence [R47]`, async () => {
      const body = { repo: { ...repo, name: 'other' }, git: git.path, junit: ['reports/*.xml', glob] };
      const { errors } = await world.server.api.refused('400 VALIDATION_FAILED', 'registerRepository', body);
      assert.deepEqual(pluck(errors, 'path'), ['/junit/1']);
    });
  }

  test('a check that selects tests has a place for the arguments, or is refused [R104]', async () => {
    const register = (command: string, selects: string) => ({
      ...{ repo: { ...repo, name: 'selecting' }, git: git.path },
      checks: [{ name: 'unit', command, selects }],
    });
    const closed = await world.server.api.refused(
      '400 VALIDATION_FAILED',
      'registerRepository',
      register('jest', 'jest'),
    );
    assert.deepEqual(pluck(closed.errors, 'path'), ['/checks/0/selects']);
    await world.server.api.refused('400 VALIDATION_FAILED', 'registerRepository', register('x "$@"', 'mocha'));
    const { checks } = await world.server.api.ok<{ checks: { selects: string }[] }>(
      'registerRepository',
      register('jest "$@"', 'jest'),
    );
    assert.deepEqual(pluck(checks, 'selects'), ['jest']);
    await world.server.api.ok('removeRepository', { repo: { ...repo, name: 'selecting' } });
  });

  test('two checks of one name are refused: each result would be taken for the other [R1]', async () => {
    const checks = ['false', 'true'].map((command) => ({ name: 'test', command }));
    const body = { repo: { ...repo, name: 'other' }, git: git.path, checks };
    const { errors } = await world.server.api.refused('400 VALIDATION_FAILED', 'registerRepository', body);
    assert.deepEqual(pluck(errors, 'path'), ['/checks/1/name']);
  });

  test('a forge that is not connected is said so', async () => {
    const body = { repo: { ...repo, host: 'github.example' } };
    const { errors } = await world.server.api.refused('400 VALIDATION_FAILED', 'registerRepository', body);
    assert.deepEqual(pluck(errors, 'path'), ['/repo/host']);
  });

  test('removeRepository waits until its queues are deleted', async () => {
    const name = 'to-remove';
    const ref = { repo: { ...repo, name }, targetBranch: 'main' };
    await world.server.api.ok('registerRepository', { repo: ref.repo, git: git.path });
    await world.server.api.ok('createQueue', ref);
    await world.server.api.refused('409 REPOSITORY_HAS_QUEUES', 'removeRepository', { repo: ref.repo });
    await world.server.api.ok('deleteQueue', ref);
    assert.deepEqual(await world.server.api.ok('removeRepository', { repo: ref.repo }), {});
    await world.server.api.refused('404 REPOSITORY_NOT_FOUND', 'getQueue', ref);
    await world.server.api.refused('404 REPOSITORY_NOT_FOUND', 'removeRepository', { repo: ref.repo });
  });
});
