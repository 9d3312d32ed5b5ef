// A plain git repository whose own hooks start CI, mirror and guard the target branch.
import assert from 'node:assert/strict';
import { chmod, stat } from 'node:fs/promises';
import { describe, it } from 'node:test';
import type { RegisteredView } from '../../src/app/repositories/register-repository.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

describe('hooks of a plain git repository', () => {
  const fixture = useServer();

  it('are turned on and off by registering, which says why they are off [L17]', async () => {
    const queue = await fixture.aQueue();
    const { api, repo, git } = queue;
    const register = (body: object) => api.ok<RegisteredView>('registerRepository', { repo, ...body });
    const listed = async () => {
      const { repositories } = await api.ok<{ repositories: RegisteredView[] }>('listRepositories', {});
      return repositories.find((each) => each.repo.name === repo.name)?.runHooks;
    };
    assert.equal(await listed(), true);
    assert.equal((await register({ runHooks: false })).runHooks, false);
    assert.equal((await register({ junit: [] })).runHooks, false);
    const { mode } = await stat(git.path);
    await chmod(git.path, mode | 0o020);
    const problem = await api.refused('400 VALIDATION_FAILED', 'registerRepository', { repo, runHooks: true });
    assert.match(problem.detail, /can be written by other users \(chmod go-w /);
    const other = { ...repo, name: `${repo.name}-other` };
    const shared = await api.ok<RegisteredView>('registerRepository', { repo: other, git: `file://${git.path}` });
    assert.deepEqual([shared.runHooks, shared.notes.length], [false, 1]);
    assert.match(shared.notes[0] ?? '', /^Hooks of the repository do not run: .* can be written by other users/);
    await chmod(git.path, mode);
    const env = { SLUICE_URL: fixture.server.url, SLUICE_TOKEN: fixture.server.token };
    const name = `${repo.host}/${repo.owner}/${repo.name}`;
    const { code, out } = await sluice(['repo', 'add', name, '--run-hooks'], { env });
    assert.deepEqual([code, await listed()], [0, true]);
    assert.match(out, /hooks +run when the queue changes a branch/);
    const limited = await api.refused('400 VALIDATION_FAILED', 'registerRepository', {
      repo: { ...repo, host: 'local', name: 'by-url' },
      git: 'ssh://git@localhost:1/app.git',
      runHooks: true,
    });
    assert.match(limited.detail, /reach the remote|run at the remote/);
  });
});
