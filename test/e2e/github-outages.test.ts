// Failures of GitHub, its rate limits and our own server at the worst moments. Each test has a GitHub and a server of
// its own.
import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { describe, type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { PullRequest } from '../fake/github/model.ts';
import { connectionOf, GithubWorld, hookUp } from './github-world.ts';
import { type Environment, makeFolder, type ServerProcess, startHere, startServer, until } from './harness.ts';

const PATIENCE_MS = 90_000;
/** The tests wait more than they compute. */
const TOGETHER = { concurrency: 4 };
const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';

function untilExplained(world: GithubWorld, pr: PullRequest, words: RegExp): Promise<string> {
  let seen = '';
  return until(`#${pr.number} says ${words}`, PATIENCE_MS, async () => {
    const { explanation } = await world.get(pr.number, { includeExplanation: true });
    seen = JSON.stringify(explanation);
    return words.test(seen) ? seen : undefined;
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}; it says ${seen}`);
  });
}

function untilSaid(world: GithubWorld, pr: PullRequest, words: RegExp): Promise<string> {
  return until(`the comment on #${pr.number} says ${words}`, PATIENCE_MS, async () => {
    const text = world.sticky(pr);
    return text !== undefined && words.test(text) ? text : undefined;
  });
}

function untilFired(world: GithubWorld, count = 1): Promise<true> {
  const { faults } = world.github;
  return until(`${count} went wrong`, PATIENCE_MS, async () => (faults.fired.length >= count ? true : undefined));
}

describe('while GitHub has a bad day', TOGETHER, () => {
  test('with git refused and the API not, commands wait, and what waits says so [E15] [G3] [G131]', async (t) => {
    const world = await GithubWorld.of(t);
    const end = world.github.faults.always('git-*', { kind: 'error', status: 503, when: 'before' });
    const [pr, other] = [await world.open(), await world.open()];
    world.say(pr, '/sluice merge');
    await untilFired(world);
    end();
    // The command was not lost.
    const { sha } = await world.untilTestBranch(pr);
    const endAgain = world.github.faults.always('git-*', { kind: 'error', status: 503, when: 'before' });
    world.say(other, '/sluice merge');
    await world.untilState(other, 'TESTING');
    await untilExplained(world, other, /TRYING_AGAIN/);
    endAgain();
    const { sha: second } = await world.untilTestBranch(other);
    world.report(sha, 'success');
    world.report(second, 'success');
    for (const each of [pr, other]) await world.untilState(each, 'MERGED');
  });
});

describe('a server that is killed', TOGETHER, () => {
  interface Lives {
    readonly world: GithubWorld;
    /**
     * The last request never gets an answer here; the next server continues from there. One that `ends` the test is not
     * killed, and so needs no process of its own.
     */
    killAndStart(next?: 'ends'): Promise<GithubWorld>;
  }

  async function aLife(t: TestContext, settings: object = {}): Promise<Lives> {
    const folder = await makeFolder();
    const environment: Environment = { SLUICE_DATA: folder };
    let server: ServerProcess | undefined;
    const start = async (variables: Environment) => {
      server = await startServer(variables);
      return server;
    };
    let world = await GithubWorld.create({ environment, settings, start });
    t.after(async () => {
      await world.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    });
    return {
      world,
      killAndStart: async (which) => {
        server?.child.kill('SIGKILL');
        await server?.exited;
        const { github } = world;
        const next = await (which === 'ends' ? startHere : start)({ ...connectionOf(github, true), ...environment });
        hookUp(github, next);
        world = world.through(next);
        return world;
      },
    };
  }

  test('again and again, lands everything once and tells it once [G22] [G33] [G49]', async (t) => {
    const { world, killAndStart } = await aLife(t, { concurrency: 3 });
    const { github } = world;
    const prs = [await world.open(), await world.open(), await world.open()];
    world.runCi(t, () => 'success');
    for (const pr of prs) world.say(pr, '/sluice merge');
    let next = world;
    const lives = [4, 9, 5, 12, 7];
    for (const [life, calls] of lives.entries()) {
      const asked = github.world.requests.length;
      await until('it asked for more', PATIENCE_MS, async () => {
        const isOver = prs.every(({ merged }) => merged !== undefined);
        return isOver || github.world.requests.length >= asked + calls ? true : undefined;
      });
      next = await killAndStart(life + 1 === lives.length ? 'ends' : undefined);
    }
    for (const pr of prs) await next.untilState(pr, 'MERGED');
    for (const pr of prs) await untilSaid(next, pr, /Landed/);
    for (const pr of prs) assert.deepEqual(next.replies(pr), []);
    const line = github.world.requests.filter(({ route, status }) => route === MERGE && status === 200);
    assert.ok(line.length <= prs.length, 'each was merged once');
  });

  test('after the push of a stack, before its answer came, takes it for landed [L60] [L29]', async (t) => {
    const { world, killAndStart } = await aLife(t, { mergeMethod: 'MERGE_COMMIT', landingMode: 'PUSH' });
    const { faults } = world.github;
    const prs = await world.openStack(3);
    const [lowest, , tip] = prs as [PullRequest, PullRequest, PullRequest];
    world.say(tip, '/sluice merge --stack');
    const { sha } = await world.untilTestBranch(lowest);
    const endFault = faults.always('POST *git-receive-pack', { kind: 'silence', when: 'after' });
    world.report(sha, 'success');
    await until('all are merged', PATIENCE_MS, async () =>
      prs.every(({ merged }) => merged !== undefined) ? true : undefined,
    );
    const startNext = killAndStart('ends');
    endFault();
    const next = await startNext;
    for (const pr of prs) assert.equal((await next.untilState(pr, 'MERGED')).landed?.testedSha, sha);
  });

  for (const isMoved of [false, true]) {
    const then = isMoved
      ? 'gives a stack its bases back when the branch has moved'
      : 'lands a stack whose bases it had changed';
    test(`before its push, ${then} [L60] [E10]`, async (t) => {
      const { world, killAndStart } = await aLife(t, { mergeMethod: 'SQUASH', landingMode: 'PUSH', concurrency: 2 });
      const { github } = world;
      const prs = await world.openStack(6);
      const [lowest, fifth, above] = [prs[0], prs[4], prs[5]] as [PullRequest, PullRequest, PullRequest];
      const bases = prs.map(({ baseRef }) => baseRef);
      world.say(fifth, '/sluice merge --stack');
      const { sha } = await world.untilTestBranch(lowest);
      world.say(above, '/sluice merge');
      await world.untilTestBranch(above);
      const endFault = github.faults.always('git-receive-pack', { kind: 'silence', when: 'before' });
      world.report(sha, 'success');
      await untilFired(world);
      // The one above is read anew in between.
      await until('the change of the base was seen', PATIENCE_MS, async () =>
        (await world.get(above.number)).prBaseBranch === 'main' ? true : undefined,
      );
      assert.ok(prs.every(({ baseRef }) => baseRef === 'main'));
      const startNext = killAndStart('ends');
      endFault();
      if (isMoved) {
        const files = { 'other.txt': 'other' };
        await github.commit(world.repository, { branch: 'main', files, message: 'Push', author: 'grace' });
      }
      const next = await startNext;
      if (isMoved) {
        await until('the bases are as before', PATIENCE_MS, async () =>
          isDeepStrictEqual(
            prs.map(({ baseRef }) => baseRef),
            bases,
          )
            ? true
            : undefined,
        );
        for (const pr of prs) await next.untilState(pr, 'TESTING');
      }
      next.runCi(t, () => 'success');
      for (const pr of prs) await next.untilState(pr, 'MERGED');
      const { timeline } = await next.get(above.number, { includeTimeline: true });
      assert.ok(timeline?.every(({ state }) => state !== 'CANCELLED'));
    });
  }
});
