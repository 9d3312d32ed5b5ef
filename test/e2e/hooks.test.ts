// A plain git repository whose own hooks start CI, mirror and guard the target branch.
import assert from 'node:assert/strict';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RegisteredView } from '../../src/app/repositories/register-repository.ts';
import { runGit, writeHook } from '../contract/plain-repository.ts';
import { onBadDays, PATIENCE_MS } from './bad-days.ts';
import { assertLanded } from './ci.ts';
import { until } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

/** Reports a check for the given commits, as the script of a CI would. */
function ciScript({ url, token }: { url: string; token: string }, repo: object): string {
  return `
const report = (sha) => fetch(${JSON.stringify(`${url}/v1/reportCheck`)}, {
  method: 'POST',
  headers: { 'x-api-token': ${JSON.stringify(token)}, 'content-type': 'application/json' },
  body: JSON.stringify({ repo: ${JSON.stringify(repo)}, sha, name: 'test', status: 'COMPLETED', conclusion: 'SUCCESS' }),
});
for (const sha of process.argv.slice(2)) console.log((await report(sha)).status);`;
}

describe('hooks of a plain git repository', () => {
  const fixture = useServer();

  it('start CI for test branches, and tell a mirror of what landed [L10]', async () => {
    const queue = onBadDays(await fixture.aQueue());
    const { folder, path } = queue.git;
    const { token } = await queue.api.ok<{ token: string }>('createApiToken', { name: 'ci', scopes: ['report'] });
    await writeFile(join(folder, 'ci.mjs'), ciScript({ url: fixture.server.url, token }, queue.repo));
    const mirror = join(folder, 'mirror.git');
    await runGit(folder, ['init', '--quiet', '--bare', mirror]);
    await writeHook(
      queue.git,
      'post-receive',
      `while read old new ref; do case $ref:$new in
         *:0000*) ;;
         refs/heads/sluice/*) '${process.execPath}' ${folder}/ci.mjs $new >> ${folder}/ci.log 2>&1 & ;;
         refs/heads/main:*) git push --quiet ${mirror} main ;;
       esac; done`,
    );
    const number = await queue.submitOne();
    const entry = await until('it has landed', PATIENCE_MS, async () => {
      const seen = await queue.get(number);
      return seen.state === 'MERGED' ? seen : undefined;
    });
    await assertLanded(queue, entry);
    assert.equal(await readFile(join(folder, 'ci.log'), 'utf8'), '200\n');
    const head = await queue.git.git(['rev-parse', 'main']);
    const mirrored = () => runGit(mirror, ['for-each-ref', '--format=%(objectname)', 'refs/heads/main']);
    await until('it is mirrored', PATIENCE_MS, async () => (await mirrored()) === head || undefined);
    const branches = () => runGit(path, ['for-each-ref', 'refs/heads/sluice/']);
    await until('the test branch is gone', PATIENCE_MS, async () => (await branches()) === '' || undefined);
  });

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
