// One server and one GitHub, with many mishaps at once. Each test has an owner of its own.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { QueueView } from '../../src/app/queue/queue-view.ts';
import { createApp, QUEUE_PERMISSIONS } from '../fake/github/apps.ts';
import type { FakeGithub } from '../fake/github/fake-github.ts';
import type { CheckRun, PullRequest } from '../fake/github/model.ts';
import { type GithubWorld, shareGithub, WRITER } from './github-world.ts';
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

/**
 * The server learns of the departure and of the moved target branch one after another, so it may test the pull request
 * again more than once.
 */
async function passAllAndLand(world: GithubWorld, pr: PullRequest, known: readonly string[]): Promise<EntryView> {
  const told = new Set(known);
  return until(`#${pr.number} has landed`, PATIENCE_MS, async () => {
    for (const { sha } of world.testBranches()) {
      if (!told.has(sha)) world.report(sha, 'success');
      told.add(sha);
    }
    const entry = await world.get(pr.number);
    return entry.state === 'MERGED' ? entry : undefined;
  });
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

function untilAlarm(world: GithubWorld, code: string): Promise<true> {
  return until(`there is an alarm ${code}`, PATIENCE_MS, async () =>
    (await world.api.ok<QueueView>('getQueue', world.ref)).alarms?.some((alarm) => alarm.code === code)
      ? true
      : undefined,
  );
}

/** The latest reason. */
async function reasonOf(world: GithubWorld, pr: PullRequest): Promise<string | undefined> {
  const { timeline } = await world.get(pr.number, { includeTimeline: true });
  return timeline?.[0]?.reason;
}

function mainOf(world: GithubWorld): string {
  return github.refs(world.repository).get('refs/heads/main') ?? '';
}

describe('events about an app, between pass and merge too', TOGETHER, () => {
  test('uninstalled and installed again, it goes on where it was [G37]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    github.uninstall(world.installation);
    await untilExplained(world, pr, /not installed/);
    world.report(sha, 'success');
    github.install(github.app, world.ref.repo.owner);
    const { landed } = await world.untilState(pr, 'MERGED');
    assert.equal(landed?.testedSha, sha, 'what was tested before is not tested again');
  });

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

  test('a check that became required counts for candidates that are built from then on [C28] [G14]', async () => {
    const world = await aWorld({ requiredStatuses: null });
    const checks = (...names: string[]) => names.map((context) => ({ context, appId: undefined }));
    github.protect(world.repository, 'main', { checks: checks('build') });
    const pr = await world.open();
    world.report(pr.headSha, 'success');
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    github.protect(world.repository, 'main', { checks: checks('build', 'lint') });
    world.report(sha, 'success');
    await world.untilState(pr, 'FAILED');
    await untilSaid(world, pr, /lint/);
    await untilTidy(world);
    world.report(pr.headSha, 'success', 'lint');
    world.say(pr, '/sluice merge');
    const { sha: again } = await world.untilTestBranch(pr);
    world.report(again, 'success');
    await untilExplained(world, pr, /lint/);
    world.report(again, 'success', 'lint');
    await world.untilState(pr, 'MERGED');
  });

  test('transferred to another who has installed it, it lands there under its new name [G36]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    github.install(github.app, 'new-owner');
    github.transfer(world.repository, 'new-owner');
    world.report(sha, 'success');
    await until('it has landed', PATIENCE_MS, async () => pr.merged);
    const repo = { ...world.ref.repo, owner: 'new-owner' };
    const entry = await until('the queue knows it by its new name', PATIENCE_MS, async () => {
      const { status, text } = await world.api.post('getSubmittedPullRequest', {
        ...world.ref,
        repo,
        pr: { number: pr.number },
      });
      const found = status === 200 ? (JSON.parse(text) as EntryView) : undefined;
      return found?.state === 'MERGED' ? found : undefined;
    });
    assert.equal(entry.prNumber, pr.number);
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

  test('a draft leaves, and lands when it is ready and submitted again [E9]', async () => {
    const world = await aWorld();
    const { pr } = await underTest(world);
    github.convertToDraft(pr);
    await world.untilState(pr, 'CANCELLED');
    assert.equal(await reasonOf(world, pr), 'PR_CONVERTED_TO_DRAFT');
    await untilTidy(world);
    github.markReady(pr);
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await passAndLand(world, pr, sha);
  });

  test('one that is to be merged elsewhere leaves [E10]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    await github.moveBranch(world.repository, 'other', mainOf(world));
    github.retarget(pr, 'other');
    await world.untilState(pr, 'CANCELLED');
    assert.equal(await reasonOf(world, pr), 'PR_BASE_BRANCH_CHANGED');
    world.report(sha, 'success');
    await untilTidy(world);
    assert.equal(pr.merged, undefined);
  });

  test('its base deleted and made again, it lands when it is reopened [E9] [N3]', async () => {
    const world = await aWorld();
    const { pr } = await underTest(world);
    const head = mainOf(world);
    await github.moveBranch(world.repository, 'main', undefined);
    await world.untilState(pr, 'CANCELLED');
    assert.equal(await reasonOf(world, pr), 'PR_CLOSED');
    await untilAlarm(world, 'TARGET_GONE');
    await untilTidy(world);
    await github.moveBranch(world.repository, 'main', head);
    await github.reopen(pr);
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await passAndLand(world, pr, sha);
  });

  test('closed, it leaves; reopened, nothing happens until it is submitted again [E9]', async () => {
    const world = await aWorld();
    const { pr } = await underTest(world);
    github.closePullRequest(pr);
    await world.untilState(pr, 'CANCELLED');
    await untilTidy(world);
    await github.reopen(pr);
    const other = await underTest(world);
    assert.equal((await world.get(pr.number)).state, 'CANCELLED');
    assert.equal(world.testBranches().length, 1);
    await passAndLand(world, other.pr, other.sha);
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await passAndLand(world, pr, sha);
  });

  test('its branch deleted, it leaves [E9]', async () => {
    const world = await aWorld();
    const { pr } = await underTest(world);
    await github.moveBranch(world.repository, pr.headRef, undefined);
    await world.untilState(pr, 'CANCELLED');
    await untilTidy(world);
    await untilSaid(world, pr, /closed/i);
  });

  test('merged by hand under test, it is merged, and the run built on it is tested again [E20] [C5]', async () => {
    const world = await aWorld({ concurrency: 2 });
    const first = await underTest(world);
    const second = await underTest(world);
    await github.mergeByHand(first.pr, WRITER);
    const entry = await world.untilState(first.pr, 'MERGED');
    assert.equal(entry.verifiedByTestRun, null);
    assert.equal(await reasonOf(world, first.pr), 'MANUAL_MERGE');
    await untilAlarm(world, 'FOREIGN_PUSH');
    const { landed } = await passAllAndLand(world, second.pr, [first.sha, second.sha]);
    assert.ok(![first.sha, second.sha].includes(landed?.testedSha ?? ''));
  });

  test('a target that is forced elsewhere has the candidate under test built and tested again there [C6]', async () => {
    const world = await aWorld();
    const root = mainOf(world);
    await github.commit(world.repository, { branch: 'main', files: { one: '1\n' }, message: 'One' });
    const { pr, sha } = await underTest(world);
    await github.commit(world.repository, { branch: 'main', files: { two: '2\n' }, message: 'Two', parent: root });
    await untilAlarm(world, 'FOREIGN_PUSH');
    const again = await untilOtherBranch(world, [sha]);
    world.report(sha, 'success');
    const { landed } = await passAndLand(world, pr, again);
    assert.equal(landed?.testedSha, again);
  });

  test('branches that look like options are branches, and no targets [Q1]', async () => {
    const world = await aWorld();
    const options = ['-f', '--upload-pack=false'];
    for (const branch of options) {
      const pr = await world.open({ branch });
      world.say(pr, '/sluice merge');
      const { sha } = await world.untilTestBranch(pr);
      await passAndLand(world, pr, sha);
      const created = { ...world.ref, targetBranch: branch };
      const { detail } = await world.api.refused('422 BRANCH_NOT_FOUND', 'createQueue', created);
      assert.match(detail, /do not begin with "-"/);
    }
  });
});

describe('results of CI', TOGETHER, () => {
  const report = (world: GithubWorld, sha: string, name: string, conclusion: CheckRun['conclusion']) =>
    github.reportCheck(world.repository, { sha, name, status: 'completed', conclusion });

  test('neutral and skipped pass, timed out and action required fail [V1] [V22] [G12]', async () => {
    const world = await aWorld({ requiredStatuses: ['a', 'b'] });
    const passing = await underTest(world);
    report(world, passing.sha, 'a', 'neutral');
    report(world, passing.sha, 'b', 'skipped');
    await world.untilState(passing.pr, 'MERGED');
    for (const [name, conclusion] of [
      ['a', 'timed_out'],
      ['b', 'action_required'],
    ] as const) {
      const { pr, sha } = await underTest(world);
      report(world, sha, name, conclusion);
      await world.untilState(pr, 'FAILED');
      assert.equal(await reasonOf(world, pr), 'TEST_RUN_REQUIRED_STATUS_FAILED');
    }
  });

  test('cancelled and stale are tried again, twice [V3] [G12]', async () => {
    const world = await aWorld();
    const { pr, sha } = await underTest(world);
    report(world, sha, 'build', 'cancelled');
    const second = await untilOtherBranch(world, [sha]);
    report(world, second, 'build', 'stale');
    const third = await untilOtherBranch(world, [sha, second]);
    report(world, third, 'build', 'cancelled');
    await world.untilState(pr, 'FAILED');
  });

  test('two apps that report under one name must both pass, unless one is named [G120]', async () => {
    const world = await aWorld();
    const other = createApp(github.world, { slug: 'other-ci' });
    const { pr, sha } = await underTest(world);
    github.reportCheck(world.repository, { sha, name: 'build', status: 'in_progress', app: other });
    const asked = countChecks();
    world.report(sha, 'success');
    await until('it is looked at', PATIENCE_MS, async () => (countChecks() > asked ? true : undefined));
    assert.equal((await world.get(pr.number)).state, 'TESTING');
    github.reportCheck(world.repository, {
      sha,
      name: 'build',
      status: 'completed',
      conclusion: 'success',
      app: other,
    });
    await world.untilState(pr, 'MERGED');
    await world.api.ok('updateQueue', {
      ...world.ref,
      requiredStatuses: [{ name: 'build', app: github.ci.slug }],
    });
    const next = await underTest(world);
    const failed = { sha: next.sha, name: 'build', status: 'completed', conclusion: 'failure', app: other } as const;
    github.reportCheck(world.repository, failed);
    await passAndLand(world, next.pr, next.sha);
  });

  test('a failure that is run again while it is held is cleared [V9] [G13]', async () => {
    const world = await aWorld({ concurrency: 2, pendingFailureDepth: 1 });
    const first = await underTest(world);
    const second = await underTest(world);
    world.report(first.sha, 'failure');
    await world.untilState(first.pr, 'PENDING_FAILURE');
    const again = { sha: first.sha, name: 'build', attempt: 2 };
    github.reportCheck(world.repository, { ...again, status: 'in_progress' });
    github.reportCheck(world.repository, { ...again, status: 'completed', conclusion: 'success' });
    await world.untilState(first.pr, 'MERGED');
    await passAndLand(world, second.pr, second.sha);
  });

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

  const countChecks = () => github.world.requests.filter(({ query }) => /check/i.test(query ?? '')).length;
});

describe('comments of people and bots', TOGETHER, () => {
  /** Replies to each comment of ours, and to each edit of one. */
  function answerAll(pr: PullRequest, login: string, text: (count: number) => string): { count: number } {
    const told = { count: 0 };
    github.world.onHappening((happening) => {
      if (happening.event !== 'issue_comment' || happening.action === 'deleted') return;
      if (happening.pr !== pr || happening.comment.author !== github.app.bot) return;
      told.count += 1;
      const body = text(told.count);
      queueMicrotask(() => github.comment(pr, login, body));
    });
    return told;
  }

  test('a bot that answers every word of ours is not talked to [G137]', async () => {
    const world = await aWorld();
    const { bot } = createApp(github.world, { slug: 'chatterbox' });
    const pr = await world.open();
    answerAll(pr, bot.login, (count) => ['/trunk merge', '/sluice cancel', '/sluice nonsense'][count % 3] ?? '');
    world.say(pr, '/sluice merge');
    const { sha } = await world.untilTestBranch(pr);
    await untilSaid(world, pr, /Being tested/);
    await passAndLand(world, pr, sha);
    await untilSaid(world, pr, /Landed/);
    assert.deepEqual(world.replies(pr), []);
  });

  test('a bot that answers every comment of ours is answered ten times [G138]', async () => {
    const world = await aWorld();
    const pr = await world.open();
    github.setPermission(world.repository, 'robot', 'write');
    const told = answerAll(pr, 'robot', () => '/sluice nonsense');
    world.say(pr, '/sluice help');
    await until('it fell silent', PATIENCE_MS, async () => (told.count >= 10 ? true : undefined));
    const { sha } = await underTest(world);
    assert.equal(world.replies(pr).length, 10);
    assert.notEqual(sha, undefined);
  });

  test('long comments are read to their end, and answered briefly [G50]', async () => {
    const world = await aWorld();
    const pr = await world.open();
    const long = 'word '.repeat(11_990);
    world.say(pr, `${long}\n> /sluice merge\n`);
    world.say(pr, `/sluice merge ${'x'.repeat(59_900)}`);
    await until('it is answered', PATIENCE_MS, async () => world.replies(pr)[0]);
    assert.ok((world.replies(pr)[0]?.length ?? Infinity) < 2_000);
    assert.deepEqual(world.testBranches(), []);
    world.say(pr, `${long}\n/sluice merge`);
    await world.untilTestBranch(pr);
    assert.equal(world.replies(pr).length, 1);
  });

  test("an attacker's title is a text wherever it is shown [G46] [C15]", async () => {
    const world = await aWorld({ createPrsForTestingBranches: true, landingMode: 'PUSH', commentsEnabled: true });
    const title =
      '/sluice merge -p urgent <!-- sluice:queue --> <img src=x onerror=alert(1)> @everyone @acme/admins ' +
      '[click](javascript:alert(1)) **bold** `code` #1 Co-authored-by: root <root@acme.dev>';
    const pr = await world.open({ title, author: 'mallory', body: '/sluice merge\n@everyone\n\nSigned-off-by: root' });
    world.say(pr, '<!-- sluice:queue -->\nMine now.', 'mallory');
    world.say(pr, '/sluice merge');
    const { sha, branch } = await world.untilTestBranch(pr);
    const text = await untilSaid(world, pr, /Being tested/);
    const draft = await until('there is a draft', PATIENCE_MS, async () =>
      [...world.repository.pulls.values()].find(({ headRef }) => headRef === branch),
    );
    const check = await until('there is a check', PATIENCE_MS, async () =>
      github.listChecks(world.repository, pr.headSha).find(({ suite }) => suite.app === github.app),
    );
    for (const shown of [text, draft.body ?? '', check.title ?? '', check.summary ?? '']) {
      assert.doesNotMatch(shown, /(?<!\\)<img|@everyone|@acme|(?<!\\)\]\(javascript/);
      assert.doesNotMatch(shown, /^\/(?:sluice|trunk) /m);
    }
    assert.doesNotMatch(draft.title, /@everyone/);
    const { landed, priorityName } = await passAndLand(world, pr, sha);
    assert.deepEqual([landed?.kind, priorityName], ['IDENTICAL', 'medium']);
    await untilSaid(world, pr, /Landed/);
    assert.equal(github.listComments(pr).filter(({ author }) => author.login === 'mallory').length, 1);
  });
});
