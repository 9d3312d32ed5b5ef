// Reviews of stacks on GitHub: nothing lands without a review that the target branch asks for.
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { lines } from '../contract/forge-bench.ts';
import type { PullRequest } from '../fake/github/model.ts';
import { GithubWorld, REVIEWER, WRITER } from './github-world.ts';
import { until } from './harness.ts';

const PATIENCE_MS = 30_000;

interface Rules {
  readonly dismissesStale?: boolean;
  readonly mergeMethod?: string;
  readonly mergeability?: 'lazy' | 'at_once';
}

/** Its branch wants one review, and Sluice may push in spite of that. */
async function aWorld(t: TestContext, rules: Rules = {}): Promise<GithubWorld> {
  const { dismissesStale = false, mergeMethod = 'SQUASH', mergeability = 'lazy' } = rules;
  const world = await GithubWorld.of(t, { github: { mergeability }, settings: { mergeMethod, landingMode: 'PUSH' } });
  const { github, repository } = world;
  const reviews = { count: 1, dismissesStale, needsCodeOwners: false };
  github.protect(repository, 'main', { reviews, bypassers: [github.app.slug] });
  return world;
}

/** Based on the target branch, it is read anew by a submission, until GitHub has computed whether it conflicts. */
async function assertUnreviewed(world: GithubWorld, pr: PullRequest): Promise<void> {
  const ref = { ...world.ref, pr: { number: pr.number } };
  const entry = await until(`#${pr.number} is judged`, PATIENCE_MS, async () => {
    const read = await world.api.ok<EntryView>('submitPullRequest', ref);
    return read.readiness?.gitHubMergeability === 'IN_PROGRESS' ? undefined : read;
  });
  assert.deepEqual([entry.prBaseBranch, entry.state], ['main', 'NOT_READY']);
  assert.equal(pr.merge.kind, 'conflict');
  const { explanation } = await world.get(pr.number, { includeExplanation: true });
  assert.match(explanation?.summary ?? '', /a required review is missing/);
}

describe('a review that the target branch asks for', { concurrency: 4 }, () => {
  test('is missing also where the one below landed squashed and GitHub finds a conflict [O40]', async (t) => {
    const world = await aWorld(t);
    const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
    world.github.review(lower, REVIEWER);
    world.say(upper, '/sluice merge --stack');
    const { sha } = await world.untilTestBranch(lower);
    world.report(sha, 'success');
    await world.untilState(lower, 'MERGED');
    assert.equal(upper.baseRef, 'main');
    await assertUnreviewed(world, upper);
    world.runCi(t, () => 'success');
    world.github.review(upper, REVIEWER);
    await world.untilState(upper, 'MERGED');
  });

  test('is missing also where a text names one that has landed, and GitHub finds a conflict [O40]', async (t) => {
    const world = await aWorld(t);
    const lower = await world.open({ files: { 'a.txt': lines({ 5: 'one' }) } });
    const body = `Depends-On: #${lower.number}`;
    const branch = 'upper';
    await world.github.commit(world.repository, {
      ...{ branch, parent: lower.headSha, author: WRITER, message: 'Two' },
      files: { 'a.txt': lines({ 5: 'two' }) },
    });
    const upper = await world.open({ branch, body });
    world.github.review(lower, REVIEWER);
    world.say(lower, '/sluice merge');
    const { sha } = await world.untilTestBranch(lower);
    world.report(sha, 'success');
    await world.untilState(lower, 'MERGED');
    await assertUnreviewed(world, upper);
    world.runCi(t, () => 'success');
    world.github.review(upper, REVIEWER);
    await world.untilState(upper, 'MERGED');
  });

  for (const mergeability of ['lazy', 'at_once'] as const) {
    test(`is waited for when it is lost with its base, and GitHub computes mergeability ${mergeability} [L60] [L61]`, async (t) => {
      const world = await aWorld(t, { mergeability, dismissesStale: true, mergeMethod: 'MERGE_COMMIT' });
      const [lower, upper] = (await world.openStack(2)) as [PullRequest, PullRequest];
      for (const pr of [lower, upper]) world.github.review(pr, REVIEWER);
      world.say(upper, '/sluice merge --stack');
      const { sha } = await world.untilTestBranch(lower);
      world.report(sha, 'success');
      const { explanation } = await world.untilState(upper, 'NOT_READY');
      assert.match(explanation?.summary ?? '', /a required review is missing/);
      assert.equal(lower.merged, undefined);
    });
  }
});
