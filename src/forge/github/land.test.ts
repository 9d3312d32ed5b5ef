import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { CandidateBench, lines, METHODS } from '../../../test/contract/forge-bench.ts';
import { createGithub, createGithubWorld, type GithubWorld } from '../../../test/contract/github-repository.ts';
import type { FakeGithub } from '../../../test/fake/github/fake-github.ts';
import { mergePullRequest } from '../../../test/fake/github/merge.ts';
import type { PullRequest } from '../../../test/fake/github/model.ts';
import { closePullRequest } from '../../../test/fake/github/pull-request-state.ts';
import type { ApiFault } from '../../../test/fake/hosted/faults.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { createGit } from '../../git/create-git.ts';
import type { Git } from '../../git/git.ts';
import { systemClock, type Timing } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import { pullRequestRef } from '../candidate/pull-request-ref.ts';
import type { BuildRequest, CandidateEntry, LandAnswer, LandRequest } from '../forge.ts';
import { focusOnLanding } from '../hosted/candidates.ts';
import { createGitAccess } from '../hosted/git-access.ts';
import { landHosted } from '../hosted/land.ts';
import { GithubClient } from './api/client.ts';
import { remoteOf } from './create-github-forge.ts';
import { createMerging } from './merging.ts';

type Landed = Extract<LandAnswer, { kind: 'landed' }>;
type Tested = BuildRequest & { readonly sha: Sha; readonly tree: Sha };

const MERGE = 'PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge';
/** Long enough for a busy machine. */
const TIMEOUT_MS = 4_000;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

describe('landing on GitHub', () => {
  let fake: FakeGithub;
  let world: GithubWorld;
  let bench: CandidateBench;
  let git: Git;
  let client: GithubClient;
  let entries: readonly CandidateEntry[];
  let beforeMerge: (prNumber: number) => Promise<void> | void;
  /** Called before the states of the pull requests are read. */
  let beforeLook: () => Promise<unknown>;
  /** The clock jumps ahead whenever a timer is set, so no test waits. */
  let skippedMs: number;
  const clock: Timing = {
    now: () => systemClock.now() + skippedMs,
    after: (ms, act) => {
      skippedMs += ms;
      return systemClock.after(0, act);
    },
  };

  /** Merges of earlier tests. */
  let mergesBefore: number;

  before(async () => {
    fake = await createGithub();
    world = await createGithubWorld(fake);
    bench = await CandidateBench.create(async () => world);
    git = createGit({ directory: join(world.folder, 'landing'), clock: systemClock });
  });
  after(async () => {
    await git.close();
    await world.close();
    await fake.close();
  });

  beforeEach(async () => {
    await bench.reset();
    const { connection } = world.forge.client;
    client = new GithubClient({ connection, clock, log: quiet, paceMs: 0, timeoutMs: TIMEOUT_MS });
    entries = [
      await bench.open('A', { files: { 'a.txt': lines({ 2: 'a' }), 'only-a': 'a\n' } }),
      await bench.open('B', { files: { 'a.txt': lines({ 30: 'b' }) } }, { files: { 'only-b': 'b\n' } }),
      await bench.open('C', { files: { 'b.txt': lines({ 2: 'c' }), 'only-c': 'c\n' } }),
    ];
    beforeMerge = ignore;
    beforeLook = async () => undefined;
    skippedMs = 0;
    mergesBefore = countAll();
  });
  afterEach(() => {
    fake.faults.clear();
    fake.unprotect(world.app, 'main');
    client.close();
  });

  function requestOf(tested: Tested, more: Partial<LandRequest> = {}): LandRequest {
    const { repository, targetBranch, candidateId, base, sha, tree, mergeMethod, plannedAt } = tested;
    const where = { repository, targetBranch, candidateId, expectedHead: base, base, sha, tree };
    const how = { isCalledOff: false, composedWith: [], mergeMethod, landingMode: 'API', plannedAt } as const;
    return { ...where, ...how, entries: tested.members, ...more };
  }

  function land(request: LandRequest): Promise<LandAnswer> {
    const meddled: typeof client.request = async (call) => {
      if (call.route === MERGE) await beforeMerge(Number(call.parameters?.pull_number));
      return client.request(call);
    };
    const graphql: typeof client.graphql = async (call) => {
      await beforeLook();
      return client.graphql(call);
    };
    const installation: typeof client.installation = (repository) => client.installation(repository);
    const merging = createMerging({ client: { request: meddled, graphql, installation }, clock });
    return createGitAccess(git, remoteOf(client)).ask(request.repository, async (opened) =>
      landHosted(
        { git: await focusOnLanding(opened, request, pullRequestRef), merging, pullRequestRef, clock },
        request,
      ),
    );
  }

  async function ask(more: Partial<BuildRequest> = {}): Promise<LandRequest> {
    return requestOf(await bench.build(entries, more));
  }

  const head = async () => (await bench.git('rev-parse', 'refs/heads/main')) as Sha;
  const kinds = ({ how, entries: landed }: Landed) => landed.map(({ kind = how }) => kind);
  const merged = () => entries.map(({ prNumber }) => world.app.pulls.get(prNumber)?.merged?.sha);
  const numberOf = (index: number) => entries[index]?.prNumber as PrNumber;
  const mergeFirst = () => {
    const pr = world.app.pulls.get(numberOf(0)) as PullRequest;
    return mergePullRequest(fake.world, pr, { kind: 'user', user: fake.user('ada') }, { method: 'squash' });
  };
  const countAll = () => fake.world.requests.filter(({ route }) => route === MERGE).length;
  const countMerges = () => countAll() - mergesBefore;

  for (const mergeMethod of METHODS) {
    test(`a landing merges each entry with one request, and proves the last from git, by ${mergeMethod} [G147] [G148] [L21]`, async () => {
      const request = await ask({ mergeMethod });
      await client.installation(request.repository);
      const { length } = fake.world.requests;
      const answer = (await land(request)) as Landed;
      assert.deepEqual(kinds(answer), ['PREFIX', 'PREFIX', 'SAME_TREE'], JSON.stringify(answer));
      assert.deepEqual([answer.pushedSha, answer.pushedTree], [await head(), request.tree]);
      assert.deepEqual(pluck(answer.entries, 'sha'), merged());
      assert.equal(countMerges(), 3);
      const others = fake.world.requests.slice(length).filter(({ route, area }) => route !== MERGE && area !== 'git');
      assert.ok(new Set(others.map(({ route, query }) => `${route} ${query}`)).size <= 2, JSON.stringify(others));
      assert.deepEqual(await land(request), answer);
      assert.equal(countMerges(), 3);
    });
  }

  test("a merge takes the author's title, and leaves the rest to GitHub [G147]", async () => {
    const titled = entries.map((entry) => ({ ...entry, mergeTitle: `Better ${entry.title}` }));
    const request = requestOf(await bench.build(titled));
    assert.equal(await bench.show(request.sha, '%s'), 'Better C');
    assert.equal((await land(request)).kind, 'landed');
    assert.equal(await bench.show(await head(), '%s'), 'Better C');
  });

  const lost: readonly (readonly [string, ApiFault])[] = [
    ['an error after it was done', { kind: 'error', status: 502, when: 'after' }],
    ['silence after it was done', { kind: 'silence', when: 'after' }],
    ['a connection that breaks before it was done', { kind: 'reset', when: 'before' }],
  ];
  for (const [name, fault] of lost) {
    test(`a landing merges once and knows it in spite of ${name} [G22]`, async () => {
      const request = await ask();
      beforeMerge = (number) => {
        beforeMerge = ignore;
        assert.equal(number, numberOf(0));
        fake.faults.once(MERGE, fault);
      };
      const answer = (await land(request)) as Landed;
      assert.deepEqual(kinds(answer), ['PREFIX', 'PREFIX', 'SAME_TREE'], JSON.stringify(answer));
      const line = await bench.git('rev-list', '--first-parent', '--count', `${request.expectedHead}..main`);
      assert.equal(line, '3');
    });
  }

  test('a landing by two servers at once lands once, and both hear of it [G22]', async () => {
    const request = await ask();
    const [one, two] = await Promise.all([land(request), land(request)]);
    assert.deepEqual(kinds(one as Landed), ['PREFIX', 'PREFIX', 'SAME_TREE'], JSON.stringify(one));
    assert.deepEqual(two, one);
    assert.equal((one as Landed).pushedSha, await head());
  });

  for (const landingMode of ['API', 'PUSH'] as const) {
    test(`an entry that was merged by hand into the known target is refused, by ${landingMode} [G21] [G22]`, async () => {
      await mergeFirst();
      bench.base = await head();
      const request = { ...(await ask()), landingMode };
      const refused = (await land(request)) as Extract<LandAnswer, { kind: 'refused' }>;
      assert.deepEqual([refused.kind, refused.prNumber, refused.reason], ['refused', numberOf(0), 'MANUAL_MERGE']);
      assert.equal(await head(), request.expectedHead);
    });
  }

  test('a merge is tried again where GitHub says that one is in progress [G23]', async () => {
    const message = 'Merge already in progress';
    const request = await ask();
    const answer = { status: 405, body: { message, documentation_url: 'https://docs.github.com', status: '405' } };
    fake.faults.times(3, MERGE, { kind: 'answer', answer, when: 'before' });
    assert.deepEqual(kinds((await land(request)) as Landed), ['PREFIX', 'PREFIX', 'SAME_TREE']);
    fake.faults.always(MERGE, { kind: 'answer', answer, when: 'before' });
    const entry = await bench.open('D', { files: { d: 'd\n' } });
    bench.base = await head();
    const refused = await land(requestOf(await bench.build([entry])));
    const reason = 'GITHUB_API_MERGE_ALREADY_IN_PROGRESS';
    assert.deepEqual(refused, { kind: 'refused', prNumber: entry.prNumber, reason, detail: message });
    assert.equal(countMerges(), 6 + 10);
  });

  test("a refusal has GitHub's own words where protection was changed meanwhile [L6] [G150]", async () => {
    const request = await ask();
    fake.protect(world.app, 'main', {
      reviews: { count: 1, dismissesStale: false, needsCodeOwners: false },
    });
    const refused = (await land(request)) as Extract<LandAnswer, { kind: 'refused' }>;
    assert.deepEqual([refused.kind, refused.reason], ['refused', 'GITHUB_API_BRANCH_PROTECTION_UNMET']);
    assert.match(refused.detail, /review/i);
    assert.deepEqual([countMerges(), await head()], [1, request.expectedHead]);
  });

  test('a refusal says that the method is not allowed any more, or that the pull request is closed [G150]', async () => {
    const request = await ask();
    world.app.settings.allowSquash = false;
    const refused = (await land(request)) as Extract<LandAnswer, { kind: 'refused' }>;
    assert.deepEqual([refused.kind, refused.reason], ['refused', 'GITHUB_API_MERGE_PR_FAILED']);
    assert.match(refused.detail, /not allowed/);
    world.app.settings.allowSquash = true;
    beforeMerge = (number) => {
      const pr = world.app.pulls.get(number);
      if (pr !== undefined && number === numberOf(1)) closePullRequest(fake.world, pr, fake.user('ada'));
    };
    const answer = (await land(request)) as Landed;
    assert.deepEqual([kinds(answer), answer.stopped?.kind], [['PREFIX'], 'refused']);
  });

  test('an entry that GitHub forbids after it had passed fails [G150]', async () => {
    const request = await ask();
    beforeMerge = (number) => {
      if (number === numberOf(1)) fake.faults.once(MERGE, { kind: 'forbidden' });
    };
    const answer = (await land(request)) as Landed;
    assert.deepEqual(kinds(answer), ['PREFIX']);
    const { stopped } = answer;
    assert.ok(stopped?.kind === 'refused', JSON.stringify(answer));
    assert.deepEqual([stopped.prNumber, stopped.reason], [numberOf(1), 'GITHUB_API_MERGE_PR_FAILED']);
  });

  test('a landing waits while the App is suspended: that is no fault of a pull request [G151]', async () => {
    const request = await ask();
    beforeMerge = (number) => {
      if (number !== numberOf(1)) return;
      for (const each of fake.world.installations.values()) each.suspendedAt = Date.now();
    };
    await assert.rejects(
      land(request),
      (error: unknown) => error instanceof Fault && error.code === 'FORGE_UNAVAILABLE',
    );
    beforeMerge = ignore;
    for (const each of fake.world.installations.values()) each.suspendedAt = undefined;
    client.forget('acme');
    assert.equal((await land(request)).kind, 'landed');
  });

  test('a push is refused with the words of the protection, and changes nothing [G25] [L6]', async () => {
    const request = { ...(await ask()), landingMode: 'PUSH' } as const;
    fake.protect(world.app, 'main', { pushers: [] });
    const refused = (await land(request)) as Extract<LandAnswer, { kind: 'refused' }>;
    assert.deepEqual([refused.kind, refused.reason], ['refused', 'GITHUB_API_BRANCH_PROTECTION_UNMET']);
    assert.match(refused.detail, /protected branch/i);
    assert.equal(await head(), request.expectedHead);
  });

  test('a push that comes a moment after a merge by hand refuses no entry: the target has moved [G25] [L23]', async () => {
    const request = { ...(await ask()), landingMode: 'PUSH' } as const;
    beforeLook = mergeFirst;
    const answer = await land(request);
    assert.deepEqual(answer, { kind: 'target_moved', head: await head(), isDescendant: true });
  });

  test('a push refuses an entry that was merged by hand, even if its target does not show it [E20] [G22] [G25]', async () => {
    const request = { ...(await ask()), landingMode: 'PUSH' } as const;
    beforeLook = async () => {
      await mergeFirst();
      await fake.moveBranch(world.app, 'main', request.expectedHead);
    };
    const refused = (await land(request)) as Extract<LandAnswer, { kind: 'refused' }>;
    assert.deepEqual([refused.kind, refused.prNumber, refused.reason], ['refused', numberOf(0), 'MANUAL_MERGE']);
    assert.equal(await head(), request.expectedHead);
  });
});

function ignore(): void {}
