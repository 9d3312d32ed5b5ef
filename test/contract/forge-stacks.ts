import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { BlockReason, PrNumber } from '../../src/engine/model/pull-request.ts';
import type { Hosting, TargetJudgement } from '../../src/forge/hosting.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { until } from '../e2e/harness.ts';
import { madeOnce } from '../helpers/made.ts';
import { type ForgeWorld, isUnavailable } from './forge.ts';

/** A world whose pull requests may come from branches of the repository itself. Ada opens them. */
export interface StackWorld extends ForgeWorld {
  openFrom(branch: string, base: string, body?: string): Promise<PrNumber>;
  makeDraft(number: PrNumber): Promise<void>;
  /** Eve may write, and Max may only read. */
  review(number: PrNumber, login: 'eve' | 'max', state: 'APPROVED' | 'REQUEST_CHANGES'): Promise<void>;
  /** From now on, the branch wants so many approvals. */
  protect(branch: string, approvals: number): Promise<void>;
}

/** The promises of `StackForge` that every forge with accounts has to keep. */
export function stackContract(name: string, createWorld: () => Promise<StackWorld>): void {
  describe(`stack contract: ${name}`, () => {
    const world = madeOnce(() => createWorld());
    let hosting: Hosting;
    let base: Sha;
    before(async () => {
      base = await world.commit('main', { files: { 'a.txt': 'a\n' } });
      assert.ok(world.forge.hosting !== undefined);
      hosting = world.forge.hosting;
    });

    const find = (number: PrNumber) =>
      world.forge.findPullRequest({ repository: world.repository, number, targetBranch: 'main' });
    const retarget = (number: PrNumber, branch: string) =>
      hosting.retarget({ repository: world.repository, number, branch });
    const judge = (number: PrNumber, targetBranch = 'main') =>
      hosting.judgeForTarget({ repository: world.repository, number, targetBranch });
    const isJudged = async (number: PrNumber, wanted: TargetJudgement['blockReasons'], targetBranch?: string) => {
      const { mergeability, blockReasons } = await judge(number, targetBranch);
      assert.deepEqual(blockReasons, wanted);
      assert.equal(mergeability, wanted.length === 0 ? 'MERGEABLE' : 'NOT_MERGEABLE');
    };

    /** A pull request onto `target`, and one onto the branch of the first. */
    async function stack(target = 'main'): Promise<{ lower: PrNumber; upper: PrNumber; branches: [string, string] }> {
      const branches: [string, string] = [`lower-${randomUUID()}`, `upper-${randomUUID()}`];
      let from = base;
      for (const branch of branches) {
        await world.createBranch(branch, from);
        from = await world.commit(branch, { files: { [`${branch}.txt`]: 'new\n' } });
      }
      const lower = await world.openFrom(branches[0], target);
      return {
        lower,
        upper: await world.openFrom(branches[1], branches[0], `Why.\n\nDepends-On: #${lower}\n`),
        branches,
      };
    }

    test('a pull request states on what it depends [G174]', async () => {
      const { lower, upper } = await stack();
      assert.deepEqual((await find(upper))?.dependsOn, [{ number: lower }]);
      assert.equal('dependsOn' in ((await find(lower)) ?? {}), false);
    });

    test('above another one, a pull request is judged by the rules of the target and at its present head [G175] [G177]', async () => {
      const target = `release-${randomUUID()}`;
      await world.createBranch(target, base);
      const { upper, branches } = await stack(target);
      await isJudged(upper, [], target);
      await world.protect(target, 1);
      await isJudged(upper, ['reviewRequired'], target);
      assert.equal((await find(upper))?.mergeability, 'MERGEABLE', 'by the rules of its own base');
      await world.review(upper, 'max', 'APPROVED');
      await isJudged(upper, ['reviewRequired'], target);
      await world.review(upper, 'eve', 'APPROVED');
      await isJudged(upper, [], target);
      await world.review(upper, 'eve', 'REQUEST_CHANGES');
      await isJudged(upper, ['changesRequested'], target);
      await world.review(upper, 'eve', 'APPROVED');
      await isJudged(upper, [], target);
      const pushed = await world.commit(branches[1], { files: { 'more.txt': 'more\n' } });
      await until('the push', 30_000, async () => ((await find(upper))?.headSha === pushed ? true : undefined));
      await isJudged(upper, ['reviewRequired'], target);
      await world.makeDraft(upper);
      await isJudged(upper, ['draft'], target);
      await world.closePullRequest(upper);
      await isJudged(upper, ['closed'], target);
      await isJudged(4_000_000_000 as PrNumber, ['closed'], target);
    });

    test('based on the target, a pull request is judged as its facts tell [G175] [G177]', async () => {
      const { lower } = await stack();
      const { mergeability, blockReasons, failingChecks, awaitedChecks } = (await find(lower)) ?? {};
      assert.equal(mergeability, 'MERGEABLE');
      assert.deepEqual(await judge(lower), { mergeability, blockReasons, failingChecks, awaitedChecks });
    });

    test('based on the target, a missing review is named beside a conflict [G179]', async () => {
      const [target, branch] = [`release-${randomUUID()}`, `change-${randomUUID()}`];
      for (const name of [target, branch]) await world.createBranch(name, base);
      await world.commit(branch, { files: { 'a.txt': 'mine\n' } });
      const number = await world.openFrom(branch, target);
      await world.commit(target, { files: { 'a.txt': 'theirs\n' } });
      await world.protect(target, 1);
      const untilJudged = (...wanted: readonly BlockReason[]) =>
        until(`${wanted}`, 30_000, async () => {
          const { blockReasons } = await judge(number, target);
          return isDeepStrictEqual(blockReasons, wanted) ? true : undefined;
        });
      await untilJudged('conflict', 'reviewRequired');
      await world.review(number, 'eve', 'APPROVED');
      await untilJudged('conflict');
    });

    test('the base of an open pull request is changed, and changing it again changes nothing [G176]', async () => {
      const { upper, branches } = await stack();
      for (const branch of ['main', 'main', branches[0], 'main']) {
        assert.equal(await retarget(upper, branch), undefined);
        assert.equal((await find(upper))?.baseBranch, branch);
      }
      await until('mergeability', 30_000, async () =>
        (await judge(upper)).mergeability === 'MERGEABLE' ? true : undefined,
      );
    });

    test('a base that the forge refuses is a sentence, and nothing changes [G176]', async () => {
      const { lower, upper, branches } = await stack();
      const twin = await world.openFrom(branches[1], 'main');
      assert.match((await retarget(upper, 'none')) ?? '', /does not change the base of #\d+ to none: .+\.$/);
      assert.match((await retarget(upper, 'main')) ?? '', /already exists/);
      assert.equal((await find(upper))?.baseBranch, branches[0]);
      await world.closePullRequest(twin);
      await world.closePullRequest(upper);
      for (const branch of ['main', branches[0]]) assert.match((await retarget(upper, branch)) ?? '', /closed/);
      assert.equal(typeof (await retarget(4_000_000 as PrNumber, 'main')), 'string');
      await world.landPullRequest(lower, 'main');
      assert.equal(typeof (await retarget(lower, branches[1])), 'string');
    });

    test('a forge that cannot answer is a fault [G176]', async () => {
      const { upper } = await stack();
      const repair = await world.breakRepository();
      await assert.rejects(retarget(upper, 'main'), isUnavailable);
      await assert.rejects(judge(upper), isUnavailable);
      await repair();
      assert.equal(await retarget(upper, 'main'), undefined);
    });
  });
}
