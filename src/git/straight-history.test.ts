import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { PlainWorld } from '../../test/contract/plain-repository.ts';
import { createPlainWorld } from '../../test/contract/plain-repository.ts';
import { pluck } from '../../test/helpers/pluck.ts';
import { Prng } from '../lib/prng.ts';
import type { Sha } from '../lib/sha.ts';
import { catFileBatch } from './cat-file-batch.ts';
import { ProcessPool } from './process-pool.ts';
import { StraightHistory } from './straight-history.ts';

/** Draws a history with forks, merges and dead ends. The first parent is always an earlier commit. */
function drawParents(random: Prng, count: number): readonly (readonly number[])[] {
  return Array.from({ length: count }, (_, index) => {
    if (index === 0 || random.chance(0.03)) return [];
    const near = () => Math.max(0, index - 1 - random.integer(random.chance(0.7) ? 1 : 12));
    const first = near();
    const second = near();
    return random.chance(0.2) && second !== first ? [first, second] : [first];
  });
}

describe('history seen from a few first parents', () => {
  let world: PlainWorld;
  const pool = new ProcessPool();
  before(async () => {
    world = await createPlainWorld();
  });
  after(async () => {
    await pool.close();
    await world.close();
  });

  async function create(parents: readonly (readonly number[])[], name: string): Promise<readonly Sha[]> {
    const commits = parents.map((each, index) => {
      const [first, ...others] = each.map((parent) => `:${parent + 1}`);
      const lines = [
        `commit refs/heads/${name}-${index}`,
        `mark :${index + 1}`,
        'committer A <a@x> 1 +0000',
        'data 1',
        'x',
      ];
      if (first !== undefined) lines.push(`from ${first}`);
      return [
        ...lines,
        ...others.map((other) => `merge ${other}`),
        `M 100644 inline f`,
        `data <<E`,
        `${index}`,
        'E',
        '',
      ].join('\n');
    });
    await world.git(['fast-import', '--quiet', '--force'], commits.join('\n'));
    const refs = await world.git([
      'for-each-ref',
      '--format=%(refname:lstrip=2) %(objectname)',
      `refs/heads/${name}-*`,
    ]);
    const shas = new Map(refs.split('\n').map((line) => line.split(' ') as [string, Sha]));
    return parents.map((_, index) => shas.get(`${name}-${index}`) as Sha);
  }

  const linesOf = (text: string) => text.split('\n').filter((line) => line !== '');

  test('its answers are those of git', async () => {
    let answered = 0;
    for (const seed of ['one', 'two', 'three']) {
      const random = new Prng(seed);
      const shas = await create(drawParents(random, 60), seed);
      const pick = () => shas[random.integer(shas.length)] as Sha;
      const history = new StraightHistory(pool.add(catFileBatch(world.path)));
      for (let round = 0; round < 40; round += 1) {
        const [tip, other, third] = [pick(), pick(), pick()];
        const range = { tip, without: round % 3 === 0 ? [other, third] : [other] };
        const not = range.without.map((sha) => `^${sha}`);
        const line = await history.findOwnLine(range);
        if (line !== undefined) {
          const expected = await world.git(['rev-list', '--first-parent', tip, ...not]);
          assert.deepEqual(pluck(line, 'sha'), linesOf(expected));
        }
        const commits = await history.findOwnCommits(range);
        if (commits !== undefined) {
          assert.deepEqual(pluck(commits, 'sha'), linesOf(await world.git(['rev-list', tip, ...not])));
        }
        const base = await history.findMergeBase({ target: other, head: tip });
        if (base !== undefined) assert.equal(await world.git(['merge-base', '--all', tip, other]), base);
        const isAncestor = await history.isSurelyAncestor({ ancestor: other, descendant: tip });
        if (isAncestor) await world.git(['merge-base', '--is-ancestor', other, tip]);
        answered += [line, commits, base, isAncestor || undefined].filter((each) => each !== undefined).length;
      }
    }
    assert.ok(answered > 100, `only ${answered} answers`);
  });

  test('distant and missing commits are left to git', async () => {
    const long = await create(
      Array.from({ length: 1_100 }, (_, index) => (index === 0 ? [] : [index - 1])),
      'long',
    );
    const [root, tip] = [long[0] as Sha, long.at(-1) as Sha];
    const history = new StraightHistory(pool.add(catFileBatch(world.path)));
    assert.equal(await history.findOwnLine({ tip, without: [root] }), undefined);
    assert.equal(await history.isSurelyAncestor({ ancestor: root, descendant: tip }), false);
    assert.equal((await history.findOwnLine({ tip, without: [long[1_050] as Sha] }))?.length, 49);
    assert.equal(await history.findOwnLine({ tip, without: [] }), undefined);
    const gone = 'e'.repeat(40) as Sha;
    assert.equal(await history.findOwnLine({ tip: gone, without: [root] }), undefined);
    assert.equal(await history.findMergeBase({ target: gone, head: tip }), undefined);
  });

  test('a known stretch is extended, up to a thousand commits', async () => {
    const long = await create(
      Array.from({ length: 900 }, (_, index) => (index === 0 ? [] : [index - 1])),
      'longer',
    );
    const [root, tip] = [long[0] as Sha, long.at(-1) as Sha];
    const history = new StraightHistory(pool.add(catFileBatch(world.path)));
    const line = async () => (await history.findOwnLine({ tip, without: [root] }))?.length;
    assert.equal(await line(), undefined);
    let looks = 1;
    while (looks < 20 && (await line()) === undefined) looks += 1;
    assert.equal(await line(), 899);
    assert.ok(looks > 3, `${looks} looks`);
    assert.equal(await history.findMergeBase({ target: tip, head: root }), root);
    assert.equal(await history.isSurelyAncestor({ ancestor: root, descendant: tip }), true);
  });
});
