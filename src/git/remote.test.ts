import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { beforeEach, describe, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { FakeSsh } from '../../test/contract/plain-repository.ts';
import { createPlainWorld, hasEnded, useFakeSsh } from '../../test/contract/plain-repository.ts';
import { madeForEach } from '../../test/helpers/made.ts';
import { Fault } from '../lib/fault.ts';
import { createGit } from './create-git.ts';
import { runGit } from './exec.ts';

const LIMIT = { timeout: 20_000 };

describe('a remote that falls silent', () => {
  const world = madeForEach(() => createPlainWorld());

  beforeEach(async () => {
    await world.commit('main', { files: { a: 'a\n' } });
  });

  const silent = { id: 'silent', location: { kind: 'url', url: 'git@example.test:/silent.git' } } as const;

  function open(context: TestContext, remoteWaitMs?: number) {
    const directory = join(world.folder, 'kept');
    const git = createGit({ directory, ...(remoteWaitMs === undefined ? {} : { remoteWaitMs }) });
    context.after(() => git.close());
    return git;
  }

  async function untilHanging(ssh: FakeSsh): Promise<readonly number[]> {
    for (;;) {
      const pids = await ssh.listHanging();
      if (pids.length === 2) return pids;
      await pause(10);
    }
  }

  async function untilEnded(pids: readonly number[]): Promise<void> {
    while (!pids.every(hasEnded)) await pause(10);
  }

  test('closing ends git and everything it started', LIMIT, async (context) => {
    const ssh = await useFakeSsh(context, world.folder);
    const git = open(context);
    const refreshed = (await git.open(silent)).refresh();
    const problem = assert.rejects(refreshed, (error) => error instanceof Fault && error.code === 'SHUTTING_DOWN');
    const pids = await untilHanging(ssh);
    const startedAt = Date.now();
    await git.close();
    await problem;
    assert.ok(Date.now() - startedAt < 3_000);
    await untilEnded(pids);
    await assert.rejects((await git.open(silent)).refresh(), /SHUTTING_DOWN/);
    assert.equal((await ssh.listHanging()).length, 2);
  });

  for (const way of ['stops', 'is killed']) {
    test(`nothing is left, and nothing waits, when the server ${way}`, LIMIT, async (context) => {
      const ssh = await useFakeSsh(context, world.folder);
      const script = `
        import { createGit } from ${JSON.stringify(new URL('./create-git.ts', import.meta.url).href)};
        const git = createGit({ directory: ${JSON.stringify(join(world.folder, 'other'))} });
        process.once('SIGTERM', () => git.close());
        const repository = await git.open(${JSON.stringify(silent)});
        await repository.refresh().catch(() => undefined);
      `;
      const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'inherit' });
      const exited = once(child, 'exit');
      const pids = await untilHanging(ssh);
      const startedAt = Date.now();
      child.kill(way === 'stops' ? 'SIGTERM' : 'SIGKILL');
      await exited;
      await untilEnded(pids);
      assert.ok(Date.now() - startedAt < 3_000);
    });
  }

  test('git that takes too long ends with everything it started', LIMIT, async (context) => {
    const ssh = await useFakeSsh(context, world.folder);
    const listed = runGit(['ls-remote', '--end-of-options', silent.location.url], {
      purpose: 'reach the remote',
      remote: true,
      timeoutMs: 1_000,
      signal: new AbortController().signal,
    });
    const problem = assert.rejects(listed, /it took too long/);
    const pids = await untilHanging(ssh);
    await problem;
    await untilEnded(pids);
  });

  test('a caller does not wait for it forever, and the copying goes on', LIMIT, async (context) => {
    const ssh = await useFakeSsh(context, world.folder);
    const git = open(context, 300);
    for (let round = 0; round < 2; round += 1) {
      await assert.rejects((await git.open(silent)).refresh(), /FORGE_UNAVAILABLE: .* still being copied/);
    }
    const pids = await ssh.listHanging();
    assert.equal(pids.length, 2);
    assert.ok(!pids.some(hasEnded));
  });

  test('a copied remote that falls silent is a fault that says so', LIMIT, async (context) => {
    await useFakeSsh(context, world.folder);
    const first = open(context);
    const location = { kind: 'url', url: `git@example.test:${world.path}` } as const;
    await (await first.open({ id: 'silent', location })).refresh();
    await first.close();
    const git = open(context, 300);
    await assert.rejects((await git.open(silent)).refresh(), /FORGE_UNAVAILABLE: .* did not answer within 1 second/);
  });
});
