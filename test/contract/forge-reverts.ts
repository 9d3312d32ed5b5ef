import assert from 'node:assert/strict';
import { after, beforeEach, describe, test } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { RevertAnswer } from '../../src/forge/forge.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { until } from '../e2e/harness.ts';
import { madeOnce } from '../helpers/made.ts';
import type { GitWorld } from './forge.ts';
import { CandidateBench, lines, METHODS, type Methods } from './forge-bench.ts';

/** The promises about pull requests that take back what landed. */
export function revertContract(name: string, createWorld: () => Promise<GitWorld>, methods: Methods = METHODS): void {
  describe(`forge contract, reverts: ${name}`, () => {
    const bench = madeOnce(() => CandidateBench.create(createWorld));
    after(() => bench.world.close());
    beforeEach(() => bench.reset());

    const revert = (commit: Sha, more: { head: Sha; before?: Sha; prNumber?: PrNumber; subject?: string }) => {
      const { before, subject, prNumber } = more;
      const { forge, repository } = bench.world;
      const place = { repository, targetBranch: 'main', head: more.head, commit, actor: 'ada', above: 40 };
      return forge.proposeRevert?.({ ...place, before, subject, prNumber }) as Promise<RevertAnswer>;
    };

    for (const mergeMethod of methods)
      test(`a landing by ${mergeMethod} is taken back whole, and what landed later stays [L62] [L65]`, async () => {
        const both = { files: { 'a.txt': lines({ 2: 'a' }) } };
        const first = await bench.open('A "quoted"\u0007title', both, { files: { 'b.txt': lines({ 5: 'b' }) } });
        const landed = await bench.build([first], { mergeMethod });
        await bench.world.createBranch('main', landed.sha);
        const head = await bench.world.commit('main', { files: { 'a.txt': lines({ 2: 'a', 30: 'later' }) } });
        const more = { head, before: bench.base, prNumber: first.prNumber, subject: first.title };
        const answer = await revert(landed.sha, more);
        assert.equal(answer.kind, 'proposed', JSON.stringify(answer));
        const { number } = answer as Extract<RevertAnswer, { kind: 'proposed' }>;
        const pr = await until('the forge shows it', 10_000, () =>
          bench.world.forge.findPullRequest({ repository: bench.world.repository, number, targetBranch: 'main' }),
        );
        assert.deepEqual(
          [pr.title, pr.baseBranch, pr.status],
          [`Revert "A "quoted" title" (#${first.prNumber})`, 'main', 'open'],
        );
        assert.equal(await bench.git('show', `${pr.headSha}:a.txt`), lines({ 30: 'later' }).trim());
        assert.equal(await bench.git('show', `${pr.headSha}:b.txt`), lines().trim());
        assert.match(await bench.show(pr.headSha, '%B'), new RegExp(`This reverts commit ${landed.sha}, as which #`));
        assert.deepEqual(await revert(landed.sha, more), answer);
      });

    test('a revert that conflicts names the files and makes nothing [L64]', async () => {
      const first = await bench.world.commit('main', { files: { 'a.txt': lines({ 2: 'one' }) } });
      const head = await bench.world.commit('main', { files: { 'a.txt': lines({ 2: 'two' }) } });
      assert.deepEqual(await revert(first, { head }), { kind: 'conflict', files: ['a.txt'] });
    });

    test('a revert of changes that are gone is nothing [L64]', async () => {
      const first = await bench.world.commit('main', { files: { 'a.txt': lines({ 2: 'one' }) } });
      const head = await bench.world.commit('main', { files: { 'a.txt': lines() } });
      assert.deepEqual(await revert(first, { head }), { kind: 'nothing' });
    });
  });
}
