// Stacks on GitHub: the base of each pull request is the branch of the one below it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { lines } from '../contract/forge-bench.ts';
import type { PullRequest } from '../fake/github/model.ts';
import { type GithubWorld, REVIEWER, shareGithub, WRITER } from './github-world.ts';
import { until } from './harness.ts';

const aWorld = shareGithub();
const PATIENCE_MS = 30_000;

/** Sluice may push in spite of the rule. */
function wantReview({ github, repository }: GithubWorld, dismissesStale: boolean): void {
  const reviews = { count: 1, dismissesStale, needsCodeOwners: false };
  github.protect(repository, 'main', { reviews, bypassers: [github.app.slug] });
}

describe('a stack on GitHub', { concurrency: 4 }, () => {
  for (const settings of [
    { mergeMethod: 'SQUASH', landingMode: 'PUSH' },
    { mergeMethod: 'MERGE_COMMIT', landingMode: 'API' },
  ]) {
    const { mergeMethod, landingMode } = settings;
    test(`lands by one run with ${mergeMethod} and ${landingMode}, and shows as merged [O44] [O45] [L60]`, async () => {
      const world = await aWorld(settings);
      const stack = await world.openStack(3);
      const [lower, , tip] = stack as [PullRequest, PullRequest, PullRequest];
      world.say(tip, '/sluice merge --stack');
      const { sha } = await world.untilTestBranch(lower);
      assert.equal(world.testBranches().length, 1);
      world.report(sha, 'success');
      for (const pr of stack) {
        const { landed } = await world.untilState(pr, 'MERGED');
        assert.equal(landed?.testedSha, sha);
      }
      await until('no pull request is open', PATIENCE_MS, async () =>
        stack.every(({ state }) => state !== 'open') ? true : undefined,
      );
      assert.deepEqual(
        stack.map(({ baseRef }) => baseRef),
        ['main', 'main', 'main'],
      );
    });
  }

  test('waits for the pull request below it when it is submitted alone [O30] [O45]', async () => {
    const world = await aWorld();
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.say(upper, '/sluice merge');
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    assert.match(explanation?.summary ?? '', new RegExp(`Its base is the branch of #${lower.number}, which is not in`));
    world.say(lower, '/sluice merge');
    const { sha } = await world.untilTestBranch(lower);
    world.report(sha, 'success');
    await world.untilState(lower, 'MERGED');
  });

  test('names in its comment the one that is built on it, as that comes and goes [O39]', async () => {
    const world = await aWorld();
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.say(lower, '/sluice merge');
    await world.untilTestBranch(lower);
    world.say(upper, '/sluice merge');
    const line = `Built on it: #${upper.number}`;
    const untilNamed = (isNamed: boolean) =>
      until(`its comment ${isNamed ? 'names' : 'does not name'} the other`, PATIENCE_MS, async () =>
        world.sticky(lower)?.includes(line) === isNamed ? true : undefined,
      );
    await untilNamed(true);
    world.say(upper, '/sluice cancel');
    await untilNamed(false);
  });

  test('waits for a rebase when the lower one was rewritten before the upper one was submitted [O43]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    await world.github.push(lower, { 'a.txt': lines({ 5: 'rewritten' }) }, { isForced: true });
    world.say(upper, '/sluice merge --stack');
    await world.untilState(lower, 'TESTING');
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    const words = new RegExp(
      `It cannot be merged: it lacks the present commits of #${lower.number}, on which it is built`,
    );
    assert.match(explanation?.summary ?? '', words);
    await world.github.commit(world.repository, {
      ...{ branch: upper.headRef, parent: lower.headSha, author: WRITER, message: 'Rebase' },
      files: { 'a.txt': lines({ 5: 'rebased' }) },
    });
    await world.untilState(upper, 'TESTING');
  });

  test('is tested though the lower one has newer commits [O43]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    await world.github.push(lower, { 'b.txt': 'more' });
    world.say(upper, '/sluice merge --stack');
    await world.untilState(upper, 'TESTING');
  });

  test('lands one by one where the API of GitHub squashes it [O39]', async () => {
    const world = await aWorld({ mergeMethod: 'SQUASH', landingMode: 'API' });
    const stack = await world.openStack(2);
    const [lower, upper] = stack as [PullRequest, PullRequest];
    world.say(upper, '/sluice merge --stack');
    const { sha } = await world.untilTestBranch(lower);
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    assert.match(
      explanation?.summary ?? '',
      new RegExp(`branch of #${lower.number}, which lands first: with landingMode`),
    );
    world.report(sha, 'success');
    await world.untilState(lower, 'MERGED');
    await world.untilState(upper, 'TESTING');
  });

  test('is ready by the reviews that the target wants, and not by those of its own base [O40]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    wantReview(world, false);
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.github.review(lower, REVIEWER);
    world.say(upper, '/sluice merge --stack');
    await world.untilState(lower, 'TESTING');
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    assert.match(explanation?.summary ?? '', /a required review is missing/);
  });

  test('brings nothing to the target that was merged into another branch [O30] [O40]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const { github, repository } = world;
    await github.commit(repository, { branch: 'next', files: { 'n.txt': 'n' }, message: 'Begin', author: 'grace' });
    const lower = await world.open({ base: 'next' });
    const body = `Depends-On: #${lower.number}`;
    const upper = await world.open({ body });
    await github.mergeByHand(lower, 'hopper');
    world.say(upper, '/sluice merge');
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    assert.match(
      explanation?.summary ?? '',
      new RegExp(`It depends on #${lower.number}, which was merged into next and not into main\\.`),
    );
  });

  test('says that the one below was merged into its own base, and that one below was closed [O39]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const [lower, middle, tip] = (await world.openStack(3)) as [PullRequest, PullRequest, PullRequest];
    world.say(tip, '/sluice merge --stack');
    await world.untilState(tip, 'TESTING');
    await world.github.mergeByHand(middle, 'hopper');
    const says = (words: RegExp) =>
      until(`it says ${words}`, PATIENCE_MS, async () => {
        const { explanation } = await world.get(tip.number, { includeExplanation: true });
        return words.test(explanation?.summary ?? '') ? true : undefined;
      });
    await says(new RegExp(`branch of #${middle.number}, which was merged into ${lower.headRef} and not into main\\.`));
    const refused = { ...world.ref, pr: { number: tip.number }, submitStack: true };
    const { detail } = await world.api.refused('422 PULL_REQUEST_NOT_ENQUEUEABLE', 'submitPullRequest', refused);
    assert.match(String(detail), new RegExp(`#${middle.number} was merged into ${lower.headRef} and not into main`));
    const [below, above] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.say(above, '/sluice merge --stack');
    await world.untilState(above, 'TESTING');
    world.github.closePullRequest(below);
    const { explanation } = await world.untilState(above, 'NOT_READY');
    assert.match(explanation?.summary ?? '', new RegExp(`branch of #${below.number}, which is not in the queue`));
  });

  test('keeps its base where the merge API stops below it [L60]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT', landingMode: 'API' });
    const { faults } = world.github;
    const [lower, middle, tip] = (await world.openStack(3)) as [PullRequest, PullRequest, PullRequest];
    const { owner, name } = world.repository;
    const answer = { status: 405, body: { message: 'At least 1 approving review is required.' } };
    const route = `PUT /repos/${owner.login}/${name}/pulls/${middle.number}/merge`;
    const endFault = faults.always(route, { kind: 'answer', answer, when: 'before' });
    world.say(tip, '/sluice merge --stack');
    const { sha } = await world.untilTestBranch(lower);
    world.report(sha, 'success');
    await world.untilState(lower, 'MERGED');
    await world.untilState(middle, 'FAILED');
    endFault();
    await world.untilState(tip, 'NOT_READY');
    assert.deepEqual([middle.baseRef, tip.baseRef], ['main', middle.headRef]);
  });

  for (const isKnown of [true, false]) {
    const ending = isKnown ? 'until it has landed there, squashed' : 'for good where its submitter may not read that';
    test(`waits for a pull request of another repository, ${ending} [O42]`, async () => {
      const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
      const roles = { [REVIEWER]: 'write' as const, [WRITER]: isKnown ? ('read' as const) : ('none' as const) };
      const lib = await world.beside('lib', roles, { mergeMethod: 'SQUASH', landingMode: 'PUSH' });
      const lower = await lib.open({ author: REVIEWER });
      const { owner } = lib.repository;
      const upper = await world.open({
        body: `Depends-On: https://github.com/${owner.login}/lib/pull/${lower.number}`,
      });
      world.say(upper, '/sluice merge');
      const { explanation } = await world.untilState(upper, 'NOT_READY');
      assert.match(explanation?.summary ?? '', /which has not landed, or cannot be read/);
      lib.say(lower, '/sluice merge', REVIEWER);
      const { sha } = await lib.untilTestBranch(lower);
      lib.report(sha, 'success');
      await lib.untilState(lower, 'MERGED');
      assert.equal(lower.merged, undefined);
      world.github.edit(upper, { title: 'Read again' });
      const { waitsFor } = await until('it was read again', PATIENCE_MS, async () => {
        const entry = await world.get(upper.number);
        return entry.prTitle === 'Read again' ? entry : undefined;
      });
      assert.equal(waitsFor === undefined, isKnown);
    });
  }

  test('is built on the one of two with that branch which is for the target [O30]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const { github, repository } = world;
    await github.commit(repository, { branch: 'next', files: { 'n.txt': 'n' }, message: 'Begin', author: 'grace' });
    const other = await world.open({ base: 'next', branch: 'lower' });
    const lower = await world.open({ branch: 'lower' });
    const upper = await world.open({ base: 'lower' });
    assert.ok(other.number < lower.number);
    const { dependsOn } = await world.api.ok<EntryView>('submitPullRequest', {
      ...world.ref,
      ...{ pr: { number: upper.number }, submitStack: true },
    });
    assert.deepEqual(dependsOn, [{ prNumber: lower.number, by: 'BASE', isMerged: false }]);
    await world.untilState(upper, 'TESTING');
  });

  test('depends on what its text named when it was submitted, though a stranger edits that [O30]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const [other, pr] = [await world.open(), await world.open()];
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    world.github.edit(pr, { body: `Depends-On: #${other.number}` }, 'mallory');
    world.report(sha, 'success');
    const { dependsOn } = await world.untilState(pr, 'MERGED');
    assert.equal(dependsOn, undefined);
  });

  test('is refused where each has the branch of the other as its base [O32]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    const stack = { ...world.ref, pr: { number: upper.number } };
    world.github.retarget(lower, upper.headRef);
    await world.api.ok('submitPullRequest', { ...world.ref, pr: { number: lower.number } });
    const { detail } = await world.api.refused('400 VALIDATION_FAILED', 'submitPullRequest', stack);
    assert.match(String(detail), new RegExp(`#${upper.number} on #${lower.number} on #${upper.number}`));
  });

  test('lands on a lower part that was squashed by hand [O30] [C70]', async () => {
    const world = await aWorld({ mergeMethod: 'SQUASH', landingMode: 'PUSH' });
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.say(upper, '/sluice merge --stack');
    const { sha } = await world.untilTestBranch(lower);
    await world.github.mergeByHand(lower, 'hopper', 'squash');
    const run = await world.untilTestBranch(upper);
    assert.notEqual(run.sha, sha);
    world.report(run.sha, 'success');
    await world.untilState(upper, 'MERGED');
  });

  test('waits for one below it that became a draft, and comes back with it [O35]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.say(upper, '/sluice merge --stack');
    await world.untilState(upper, 'TESTING');
    world.github.convertToDraft(lower);
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    assert.match(explanation?.summary ?? '', new RegExp(`branch of #${lower.number}, which is not in the queue`));
    world.github.markReady(lower);
    world.say(lower, '/sluice merge');
    await world.untilState(upper, 'TESTING');
  });

  test('waits for its review when that is lost with its base, and lands once it is back [L60] [L61]', async () => {
    const world = await aWorld({ mergeMethod: 'MERGE_COMMIT' });
    wantReview(world, true);
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    for (const pr of [lower, upper]) world.github.review(pr, REVIEWER);
    world.say(upper, '/sluice merge --stack');
    const { sha } = await world.untilTestBranch(lower);
    world.report(sha, 'success');
    const { explanation } = await world.untilState(upper, 'NOT_READY');
    assert.match(explanation?.summary ?? '', /a required review is missing/);
    assert.equal(upper.baseRef, lower.headRef);
    const { sha: alone } = await until('it is tested alone', PATIENCE_MS, async () =>
      world.testBranches().find((branch) => branch.sha !== sha),
    );
    world.report(alone, 'success');
    await world.untilState(lower, 'MERGED');
    assert.equal(upper.baseRef, 'main');
    world.github.review(upper, REVIEWER);
    await world.untilState(upper, 'MERGED');
  });
});
