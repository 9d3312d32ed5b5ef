import assert from 'node:assert/strict';
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { isUnavailable } from '../../../test/contract/forge.ts';
import { CandidateBench, lines } from '../../../test/contract/forge-bench.ts';
import { createPlainWorld, createRemoteWorld } from '../../../test/contract/plain-repository.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { BuildAnswer, BuildRequest, LandRequest } from '../forge.ts';

function landRequest(built: BuildRequest & Extract<BuildAnswer, { kind: 'built' }>): LandRequest {
  const how = { composedWith: [], isCalledOff: false, landingMode: 'PUSH' } as const;
  return { ...built, ...how, expectedHead: built.base, entries: built.members };
}

describe('candidates in a repository on this machine', () => {
  let bench: CandidateBench;
  beforeEach(async () => {
    bench = await CandidateBench.create(createPlainWorld);
  });
  afterEach(() => bench.world.close());

  test('written files stay writable for all who share the repository', async () => {
    await bench.git('config', 'core.sharedRepository', 'group');
    const entry = await bench.open('x', { files: { 'a.txt': lines({ 2: 'x' }), 'deep/er/y': 'y\n' } });
    const other = await bench.open('z', { files: { 'deep/er/z': 'z\n' } });
    const objects = join(bench.world.path, 'objects');
    const before = new Set(await readdir(objects));
    await bench.build([entry, other]);
    const added = (await readdir(objects)).filter((name) => !before.has(name));
    assert.ok(added.length > 0);
    for (const name of added) assert.equal((await stat(join(objects, name))).mode & 0o070, 0o070);
  });

  test('a pull request that is a tag lands too', async () => {
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    const tag = `object ${entry.headSha}\ntype commit\ntag t\ntagger A <a@b> 1 +0000\n\nt\n`;
    const sha = await bench.world.git(['mktag'], tag);
    await bench.git('update-ref', `refs/pull/${entry.prNumber}/head`, sha);
    const built = await bench.build([entry]);
    assert.equal((await bench.world.forge.landCandidate(landRequest(built))).kind, 'landed');
  });

  test('a commit whose tree is lost is not taken for an empty one [C19]', async () => {
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    await lose(`${entry.headSha}^{tree}`);
    for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
      await assert.rejects(bench.world.forge.buildCandidate(bench.request([entry], { mergeMethod })), isUnavailable);
    }
  });

  test('a common commit whose tree is lost is not taken for an empty one [C19]', async () => {
    const doomed = await bench.world.commit('main', { files: { 'doomed.txt': 'x\n', 'other.txt': 'y\n' } });
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    bench.base = await bench.world.commit('main', { files: { z: 'z\n' } });
    const before = await bench.build([entry]);
    const restore = await lose(`${doomed}^{tree}`);
    for (const mergeMethod of ['MERGE_COMMIT', 'SQUASH', 'REBASE'] as const) {
      await assert.rejects(bench.world.forge.buildCandidate(bench.request([entry], { mergeMethod })), isUnavailable);
    }
    await restore();
    assert.equal((await bench.build([entry])).tree, before.tree);
  });

  test('one of several common commits whose tree is lost is not taken for an empty one [C19]', async () => {
    const a = await bench.world.commitTo('refs/heads/a', bench.base, { files: { a: 'a\n' } });
    const b = await bench.world.commitTo('refs/heads/b', bench.base, { files: { b: 'b\n' } });
    const tree = await bench.git('merge-tree', '--write-tree', a, b);
    const merge = (first: string, second: string) =>
      bench.git('commit-tree', tree, '-p', first, '-p', second, '-m', 'x');
    bench.base = (await merge(a, b)) as Sha;
    await bench.git('update-ref', 'refs/heads/main', bench.base);
    const headSha = await bench.world.commitTo('refs/pull/7/head', await merge(b, a), { files: { c: 'c\n' } });
    const entry = { prNumber: 7 as PrNumber, headSha, title: 'x', author: 'Ada' };
    await bench.build([entry]);
    for (const lost of [a, b, await bench.git('rev-parse', `${a}^`)]) {
      const restore = await lose(`${lost}^{tree}`);
      await assert.rejects(bench.world.forge.buildCandidate(bench.request([entry])), isUnavailable);
      await restore();
    }
    await bench.build([entry]);
  });

  test('a folder or file that is lost or damaged ends in no wrong tree, and never lands [C19]', async () => {
    const entry = await bench.open('x', { files: { 'a.txt': lines({ 2: 'x' }), 'deep/er/x': 'x\n' } });
    bench.base = await bench.world.commit('main', { files: { 'a.txt': lines({ 30: 'y' }), 'other/y': 'y\n' } });
    for (const part of ['a.txt', 'deep', 'deep/er', 'deep/er/x']) {
      const whole = await bench.build([entry]);
      for (const content of [undefined, Buffer.alloc(0), Buffer.from('garbage')]) {
        const restore = await lose(`${entry.headSha}:${part}`, content);
        const forge = bench.world.createForge({ directory: join(bench.world.folder, 'other') });
        const request = bench.request([entry]);
        const built = await forge.buildCandidate(request).catch(isUnavailable);
        if (typeof built === 'object' && built.kind === 'built') {
          assert.equal(built.tree, whole.tree);
          await assert.rejects(forge.landCandidate(landRequest({ ...request, ...built })), isUnavailable, part);
        } else assert.equal(built, true, part);
        await restore();
        await forge.close();
      }
    }
    const built = await bench.build([entry]);
    assert.equal((await bench.world.forge.landCandidate(landRequest(built))).kind, 'landed');
    await bench.git('fsck', '--strict');
  });

  test('attributes of the base that are lost are not taken for none [C15] [C46]', async () => {
    bench.base = await bench.world.commit('main', { files: { '.gitattributes': '*.md merge=union\n' } });
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    const restore = await lose(`${bench.base}:.gitattributes`);
    await assert.rejects(bench.world.forge.buildCandidate(bench.request([entry])), isUnavailable);
    await restore();
    await bench.build([entry]);
  });

  test('a commit of which a part is missing does not land [C19]', async () => {
    const entry = await bench.open('x', { files: { 'deep/x': 'x\n' } });
    const other = await bench.open('y', { files: { 'deep/y': 'y\n' } });
    const built = await bench.build([entry, other], { mergeMethod: 'REBASE' });
    await lose(`${built.sha}:deep`);
    await assert.rejects(bench.world.forge.landCandidate(landRequest(built)), isUnavailable);
    assert.equal(await bench.git('rev-parse', 'main'), bench.base);
  });

  /** Removes or replaces an object until it is restored. The object is a loose file because the test never packs. */
  async function lose(object: string, content?: Buffer): Promise<() => Promise<void>> {
    const sha = await bench.git('rev-parse', object);
    const file = join(bench.world.path, 'objects', sha.slice(0, 2), sha.slice(2));
    const bytes = await readFile(file);
    await rm(file);
    if (content !== undefined) await writeFile(file, content);
    return async () => {
      await rm(file, { force: true });
      await writeFile(file, bytes);
    };
  }
});

describe('candidates at a remote', () => {
  let bench: CandidateBench;
  beforeEach(async () => {
    bench = await CandidateBench.create(createRemoteWorld);
  });
  afterEach(() => bench.world.close());

  const install = (hook: string, script: string) =>
    writeFile(join(bench.world.path, 'hooks', hook), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  test('another server goes on with what one has built', async () => {
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    const next = await bench.open('y', { files: { y: 'y\n' } });
    const other = bench.world.createForge({ directory: join(bench.world.folder, 'other') });
    await other.findBranchHead(bench.world.repository, 'main');
    const built = await bench.build([entry]);
    const child = bench.request([next], { parent: built.sha, beneath: [entry] });
    assert.equal((await other.buildCandidate(child)).kind, 'built');
    const published = await other.publishCandidate({ ...built, prNumber: entry.prNumber, isBisection: false });
    assert.equal(published.kind, 'published');
    const landed = await other.landCandidate(landRequest(built));
    assert.equal(landed.kind === 'landed' && landed.how, 'IDENTICAL');
    await other.close();
  });

  test('a push that the remote does not allow is a refusal in its words', async () => {
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    const built = await bench.build([entry]);
    await install('update', 'case "$1" in refs/heads/*) exit 1;; esac');
    const published = await bench.world.forge.publishCandidate({ ...built, prNumber: undefined, isBisection: false });
    assert.equal(published.kind === 'refused' && published.reason, 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH');
    const landed = await bench.world.forge.landCandidate(landRequest(built));
    assert.equal(landed.kind, 'refused');
    assert.match(landed.kind === 'refused' ? landed.detail : '', /hook declined/);
    await install('update', 'exit 1');
    const answer = await bench.world.forge.buildCandidate(bench.request([entry]));
    assert.equal(answer.kind === 'unbuildable' && answer.reason, 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH');
  });

  test('a push whose answer is lost is found by asking again', async () => {
    const entry = await bench.open('x', { files: { x: 'x\n' } });
    const built = await bench.build([entry]);
    // The hook kills the remote's process after the refs changed and before the answer.
    await install('post-receive', 'kill -9 $PPID');
    const lost = await bench.world.forge.landCandidate(landRequest(built)).catch(isUnavailable);
    await rm(join(bench.world.path, 'hooks', 'post-receive'));
    const again = await bench.world.forge.landCandidate(landRequest(built));
    assert.equal(again.kind === 'landed' && again.pushedSha, built.sha);
    assert.ok(lost);
  });
});
