import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createPlainWorld, type PlainWorld } from '../../../test/contract/plain-repository.ts';
import type { Sha } from '../../lib/sha.ts';

const LARGE = 'x'.repeat(50_000_000);

describe('files that lanes are computed from', () => {
  let world: PlainWorld;
  before(async () => {
    world = await createPlainWorld();
  });
  after(() => world.close());

  it('[T13] are found by name in any folder, without the text of one of 50 MB', async () => {
    const files = {
      'package.json': '1',
      'a/b/package.json': '2',
      'a/package.json.bak': '3',
      'big/package.json': LARGE,
    };
    const sha = await world.commit('main', { files });
    const { repository } = world;
    const found = await world.forge.readFiles({ repository, sha, names: ['package.json', 'go.mod'] });
    const told = found?.map(({ path, bytes }) => `${path}=${bytes?.toString()}`).sort();
    assert.deepEqual(told, ['a/b/package.json=2', 'big/package.json=undefined', 'package.json=1']);
    assert.deepEqual(await world.forge.readFiles({ repository, sha, names: ['go.mod'] }), []);
    const lost = 'f'.repeat(40) as Sha;
    assert.equal(await world.forge.readFiles({ repository, sha: lost, names: ['go.mod'] }), undefined);
  });

  it('[T14] are those that differ from where the head left the branch', async () => {
    const { repository } = world;
    await world.commit('main', { files: { 'old.txt': 'old\n', 'stays.txt': '1\n' } });
    const { headSha: head } = await world.openPullRequest('main', { files: { 'grün\n.txt': 'x', 'new/b': 'x' } });
    const base = await world.commit('main', { files: { 'stays.txt': '2\n' } });
    assert.deepEqual(await world.forge.listChangedFiles({ repository, base, head }), {
      kind: 'changed',
      paths: ['grün\n.txt', 'new/b'],
    });
    const lost = 'f'.repeat(40) as Sha;
    assert.deepEqual(await world.forge.listChangedFiles({ repository, base, head: lost }), { kind: 'lost' });
    const other = await world.commitTo('refs/heads/other', undefined, { files: { x: 'x' } });
    assert.deepEqual(await world.forge.listChangedFiles({ repository, base, head: other }), { kind: 'unrelated' });
  });
});
