import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isUnavailable } from '../../test/contract/forge.ts';
import type { PlainWorld } from '../../test/contract/plain-repository.ts';
import { createPlainWorld, runGit } from '../../test/contract/plain-repository.ts';
import { pluck } from '../../test/helpers/pluck.ts';
import { AssertionError } from '../lib/assert.ts';
import { Fault } from '../lib/fault.ts';
import type { Sha } from '../lib/sha.ts';
import { ProcessPool } from './process-pool.ts';
import { createRefUpdater, type RefUpdater } from './update-ref.ts';

describe('ref changes by a kept process', () => {
  let world: PlainWorld;
  let pool: ProcessPool;
  let refs: RefUpdater;
  let one: Sha;
  let two: Sha;
  beforeEach(async () => {
    world = await createPlainWorld();
    one = await world.commit('main', { files: { a: 'a\n' } });
    two = await world.commitTo('refs/pull/1/head', one, { files: { b: 'b\n' } });
    pool = new ProcessPool();
    refs = createRefUpdater(world.path, pool);
  });
  afterEach(async () => {
    await pool.close();
    await world.close();
  });

  const set = (ref: string, sha: Sha, expected?: Sha) =>
    refs.change([{ kind: 'set', ref, sha, ...(expected === undefined ? {} : { expected }) }]);
  const at = (ref: string) => world.git(['for-each-ref', '--format=%(objectname)', ref]);

  test('one process carries them all out, many at once', async () => {
    const names = Array.from({ length: 50 }, (_, index) => `refs/sluice/x${index}`);
    const answers = await Promise.all(names.map((name) => set(name, one)));
    assert.ok(answers.every(({ kind }) => kind === 'done'));
    assert.deepEqual(await set('refs/heads/main', two, one), { kind: 'done' });
    assert.equal(pool.pids.length, 1);
    assert.equal((await at('refs/sluice')).split('\n').length, 50);
    const deletions = names.map((ref) => ({ kind: 'delete', ref }) as const);
    assert.deepEqual(await refs.change(deletions), { kind: 'done' });
    assert.deepEqual(await refs.change(deletions), { kind: 'done' });
    assert.equal(await at('refs/sluice'), '');
    assert.equal(await at('refs/heads/main'), two);
    assert.equal(pool.pids.length, 1);
  });

  test('a refused update is told by its reason, and disturbs no other', async () => {
    const answers = await Promise.all([
      set('refs/sluice/a', one),
      set('refs/heads/main', two, two),
      set('refs/sluice/a/b', one),
      set('refs/sluice/c', one),
      refs.change([
        { kind: 'set', ref: 'refs/sluice/d', sha: one },
        { kind: 'verify', ref: 'refs/pull/1/head', sha: one },
      ]),
      set('refs/sluice/e', one),
    ]);
    assert.deepEqual(pluck(answers, 'kind'), ['done', 'stale', 'refused', 'done', 'stale', 'done']);
    const present = await world.git(['for-each-ref', '--format=%(refname)', 'refs/sluice']);
    assert.deepEqual(present.split('\n'), ['refs/sluice/a', 'refs/sluice/c', 'refs/sluice/e']);
    assert.equal(await at('refs/heads/main'), one);
    await assert.rejects(set('refs/sluice/f', 'f'.repeat(40) as Sha), isUnavailable);
    assert.equal(await at('refs/sluice/f'), '');
  });

  test('changes by others are seen meanwhile', async () => {
    assert.deepEqual(await set('refs/heads/main', two, one), { kind: 'done' });
    await world.git(['pack-refs', '--all']);
    assert.deepEqual(await set('refs/heads/main', one, two), { kind: 'done' });
    await world.git(['pack-refs', '--all']);
    await world.git(['update-ref', 'refs/heads/main', two]);
    assert.deepEqual(await set('refs/heads/main', one, one), { kind: 'stale' });
    assert.equal(await at('refs/heads/main'), two);
    await world.git(['gc', '--quiet', '--prune=now']);
    assert.deepEqual(await set('refs/heads/main', one, two), { kind: 'done' });
    await world.git(['update-ref', '-d', 'refs/heads/main']);
    assert.deepEqual(await set('refs/heads/main', two, one), { kind: 'stale' });
    assert.equal(await at('refs/heads/main'), '');
  });

  test('a repository that took the place of another is the one that is changed', async () => {
    await set('refs/sluice/a', one);
    await rename(world.path, `${world.path}.old`);
    await runGit(world.folder, ['clone', '--quiet', '--bare', `${world.path}.old`, world.path]);
    assert.deepEqual(await set('refs/sluice/b', one), { kind: 'done' });
    assert.equal(await at('refs/sluice'), one);
    await rm(world.path, { recursive: true });
    await assert.rejects(set('refs/sluice/c', one), isUnavailable);
  });

  test('no lock is held between changes, and one of somebody else is waited for', async () => {
    await set('refs/heads/main', two, one);
    const lock = join(world.path, 'refs', 'heads', 'main.lock');
    assert.ok(!existsSync(lock) && !existsSync(join(world.path, 'packed-refs.lock')));
    await writeFile(lock, '');
    const waiting = set('refs/heads/main', one, two);
    // The kept process gave up and has a successor. A separate process now waits for the change.
    assert.deepEqual(await set('refs/sluice/a', one), { kind: 'done' });
    await rm(lock);
    assert.deepEqual(await waiting, { kind: 'done' });
  });

  test('a process that is killed shows in no answer', async () => {
    for (let round = 0; round < 20; round += 1) {
      const [sha, expected] = round % 2 === 0 ? [two, one] : [one, two];
      const change = set('refs/heads/main', sha, expected);
      const own = set('refs/sluice/a', sha);
      for (const pid of pool.pids) process.kill(pid, 'SIGTERM');
      const { kind } = await change;
      // If the change was carried out before the process ended, the second try finds the ref moved by the first.
      assert.ok(kind === 'done' || kind === 'stale', kind);
      assert.equal(await at('refs/heads/main'), sha);
      assert.equal((await own).kind, 'done');
    }
  });

  test('after close nothing is changed any more, and no lock is left', async () => {
    const changes = Array.from({ length: 20 }, (_, index) => set(`refs/sluice/x${index}`, one));
    await pool.close();
    for (const change of changes) {
      const answer = await change.catch((error: unknown) => error);
      assert.ok(answer instanceof Fault ? answer.code === 'SHUTTING_DOWN' : true);
    }
    await assert.rejects(set('refs/sluice/late', one), Fault);
    await world.git(['fsck', '--strict']);
    assert.deepEqual(await world.git(['for-each-ref', '--format=%(refname)', 'refs/sluice/late']), '');
  });

  test('a name is never taken for commands', async () => {
    for (const name of ['-d', '\u00a0', '\u3000x', '"', "'", '$(x)', '\u00fc'.repeat(90)]) {
      assert.deepEqual(await set(`refs/heads/${name}`, one), { kind: 'done' }, name);
      assert.equal(await world.git(['rev-parse', `refs/heads/${name}`]), one);
    }
    await assert.rejects(set('refs/heads/a\tdelete refs/heads/main\t\t', one), AssertionError);
  });
});
