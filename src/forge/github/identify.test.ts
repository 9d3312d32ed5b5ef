import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createFakeGithub } from '../../../test/fake/github/fake-github.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import { githubConnection } from './api/connection.ts';
import { createGithubForge } from './create-github-forge.ts';

async function createWorld(t: TestContext, kind: 'app' | 'token' = 'app') {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-identify-'));
  const github = await createFakeGithub();
  const app = await github.createRepository('acme/App', { roles: { ada: 'admin' } });
  const installation = github.install(github.app, 'acme');
  const auth =
    kind === 'app'
      ? ({ kind, appId: String(github.app.id), privateKey: github.privateKey } as const)
      : ({ kind, token: github.createToken('ada') } as const);
  const ignore = () => undefined;
  const forge = createGithubForge({
    connection: githubConnection({ host: 'github.test', auth, apiUrl: github.url, webUrl: github.url }),
    directory: join(folder, 'git'),
    clock: systemClock,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
    paceMs: 0,
  });
  t.after(async () => {
    await forge.close();
    await github.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const repository: ForgeRepository = {
    ...{ id: 'r1', host: 'github.test', owner: 'acme', name: 'app', git: undefined, checks: [] },
    forgeId: String(app.id),
  };
  const look = () => forge.hosting.poll({ repository, branches: ['main'], entries: [], commits: [], since: 0 });
  const count = () => [...github.countRequests().values()].reduce((sum, each) => sum + each, 0);
  return { github, app, installation, forge, hosting: forge.hosting, repository, look, count };
}

describe('the identity of a repository on GitHub', () => {
  test('the identity is told by the question that every poll asks, and at registration without a further one [G76]', async (t) => {
    const { app, forge, hosting, repository, look, count } = await createWorld(t);
    const identity = { owner: 'acme', name: 'App', forgeId: String(app.id) };
    await look();
    let before = count();
    assert.deepEqual((await look()).identity, identity);
    assert.equal(count() - before, 1);
    assert.equal(await forge.checkAccess(repository), undefined);
    before = count();
    assert.deepEqual(await hosting.identify(repository), identity);
    assert.equal(count(), before);
  });

  for (const kind of ['app', 'token'] as const) {
    test(`the identity stays where the repository is renamed and another one gets its name, for ${kind} [G77]`, async (t) => {
      const { github, app, hosting, repository, look } = await createWorld(t, kind);
      await github.openPullRequest(app);
      assert.equal((await look()).heads.size, 1);
      github.rename(app, 'moved');
      const moved = { owner: 'acme', name: 'moved', forgeId: String(app.id) };
      assert.deepEqual((await look()).identity, moved);
      const other = await github.createRepository('acme/app', { roles: { ada: 'admin' } });
      const found = await look();
      assert.deepEqual(found.identity, { owner: 'acme', name: 'app', forgeId: String(other.id) });
      // The repository under the old name is another one, so its data is left out.
      assert.deepEqual([found.heads.size, found.changed.length], [0, 0]);
      assert.deepEqual(await hosting.findById(repository), moved);
      github.deleteRepository(app);
      assert.equal(await hosting.findById(repository), undefined);
    });
  }

  test('the identity is told by the next poll also where its number is too large for GraphQL [G114]', async (t) => {
    const { github, app, look } = await createWorld(t);
    Object.assign(app, { id: 2 ** 31 });
    assert.equal((await look()).identity?.forgeId, String(app.id));
    github.rename(app, 'moved');
    const other = await github.createRepository('acme/app', { roles: { ada: 'admin' } });
    Object.assign(other, { id: 2 ** 31 + 1 });
    assert.equal((await look()).identity?.forgeId, String(other.id));
  });

  test('the identity is asked before git reads or writes anything [G115]', async (t) => {
    const { github, app, forge, repository } = await createWorld(t);
    const sha = (await forge.findBranchHead(repository, 'main')) as Sha;
    const parts = { candidateId: randomUUID(), prNumber: undefined, isBisection: false };
    github.deleteRepository(app);
    const other = await github.createRepository('acme/app');
    forge.hosting.forget('acme', 'app');
    const refused = /acme\/app is another repository now \(number \d+ at GitHub\)/;
    await assert.rejects(forge.findBranchHead(repository, 'main'), refused);
    await assert.rejects(forge.publishCandidate({ repository, targetBranch: 'main', sha, ...parts }), refused);
    assert.deepEqual([...github.refs(other).keys()], ['refs/heads/main']);
    // A registration without `forgeId` means the repository that has the name now.
    const { forgeId: _, ...asked } = repository;
    assert.equal(await forge.checkAccess(asked), undefined);
  });
});
