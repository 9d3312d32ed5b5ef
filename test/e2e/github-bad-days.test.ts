// One server and one GitHub, with many mishaps at once. Each test has an owner of its own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { QUEUE_PERMISSIONS } from '../fake/github/apps.ts';
import type { FakeGithub } from '../fake/github/fake-github.ts';
import type { PullRequest } from '../fake/github/model.ts';
import { type GithubWorld, shareGithub } from './github-world.ts';
import { until } from './harness.ts';

const PATIENCE_MS = 60_000;
/** More at once are no faster. */
const TOGETHER = { concurrency: 6 };

let github: FakeGithub;
const join = shareGithub();

async function aWorld(settings: object = {}): Promise<GithubWorld> {
  const world = await join(settings);
  github = world.github;
  return world;
}

/** A pull request under test, and the commit for CI. */
async function underTest(world: GithubWorld): Promise<{ readonly pr: PullRequest; readonly sha: string }> {
  const pr = await world.open();
  world.say(pr, '/sluice merge');
  const { sha } = await world.untilTestBranch(pr);
  return { pr, sha };
}

/** A test branch that is not among the known ones. */
function untilOtherBranch(world: GithubWorld, known: readonly string[]): Promise<string> {
  return until('there is another test branch', PATIENCE_MS, async () =>
    world.testBranches().find(({ sha }) => !known.includes(sha)),
  ).then(({ sha }) => sha);
}

async function passAndLand(world: GithubWorld, pr: PullRequest, sha: string): Promise<EntryView> {
  world.report(sha, 'success');
  return world.untilState(pr, 'MERGED');
}

function untilExplained(world: GithubWorld, pr: PullRequest, words: RegExp): Promise<true> {
  return until(`#${pr.number} says ${words}`, PATIENCE_MS, async () =>
    words.test(JSON.stringify(await world.get(pr.number, { includeExplanation: true }))) ? true : undefined,
  );
}

function untilSaid(world: GithubWorld, pr: PullRequest, words: RegExp): Promise<string> {
  return until(`the comment on #${pr.number} says ${words}`, PATIENCE_MS, async () => {
    const text = world.sticky(pr);
    return text !== undefined && words.test(text) ? text : undefined;
  });
}

function untilTidy(world: GithubWorld): Promise<true> {
  return until('refs of candidates are gone', PATIENCE_MS, async () =>
    [...github.refs(world.repository).keys()].some((ref) => ref.includes('/sluice/')) ? undefined : true,
  );
}

/** The latest reason. */
async function reasonOf(world: GithubWorld, pr: PullRequest): Promise<string | undefined> {
  const { timeline } = await world.get(pr.number, { includeTimeline: true });
  return timeline?.[0]?.reason;
}

describe('events about an app, between pass and merge too', TOGETHER, () => {
  test('without permission to merge, the pull request fails in words of GitHub [G150]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    const permissions = { ...QUEUE_PERMISSIONS, contents: 'read' } as const;
    github.grant(world.installation, permissions);
    world.report(sha, 'success');
    await world.untilState(pr, 'FAILED');
    assert.equal(await reasonOf(world, pr), 'GITHUB_API_MERGE_PR_FAILED');
    await untilSaid(world, pr, /Resource not accessible by integration/);
    assert.equal(pr.state, 'open');
    github.grant(world.installation, QUEUE_PERMISSIONS);
    world.say(pr, '/sluice merge');
    const { landed } = await world.untilState(pr, 'MERGED');
    assert.equal(landed?.testedSha, sha, 'what passed is not tested again');
  });

  test('protection that was added fails it in words of GitHub, and it lands once that is met [G150] [G14]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    github.protect(world.repository, 'main', {
      reviews: { count: 1, dismissesStale: false, needsCodeOwners: false },
    });
    world.report(sha, 'success');
    await world.untilState(pr, 'FAILED');
    assert.equal(await reasonOf(world, pr), 'GITHUB_API_BRANCH_PROTECTION_UNMET');
    await untilSaid(world, pr, /approving review/);
    world.say(pr, '/sluice merge');
    await world.untilState(pr, 'NOT_READY');
    await untilExplained(world, pr, /review/i);
    github.setPermission(world.repository, 'root', 'admin');
    github.review(pr, 'root');
    await world.untilState(pr, 'MERGED');
  });
});

describe('events about a pull request in the queue', TOGETHER, () => {
  test('another title is no other change', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    github.edit(pr, { title: 'Call it otherwise' });
    await until('the title is known', PATIENCE_MS, async () =>
      (await world.get(pr.number)).prTitle === 'Call it otherwise' ? true : undefined,
    );
    const { landed, prTitle } = await passAndLand(world, pr, sha);
    assert.deepEqual([landed?.testedSha, prTitle], [sha, 'Call it otherwise']);
  });
});

describe('results of CI', TOGETHER, () => {
  test('a report of an abandoned run changes nothing [C11] [G35]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    await github.push(pr, { more: 'more\n' });
    await world.untilState(pr, 'CANCELLED');
    world.report(sha, 'success');
    await untilTidy(world);
    world.say(pr, '/sluice merge');
    const again = await untilOtherBranch(world, [sha]);
    github.reportCheck(world.repository, {
      sha,
      name: 'build',
      attempt: 2,
      status: 'completed',
      conclusion: 'failure',
    });
    const { landed, prSha } = await passAndLand(world, pr, again);
    assert.deepEqual([landed?.testedSha, prSha], [again, pr.headSha]);
  });
});
