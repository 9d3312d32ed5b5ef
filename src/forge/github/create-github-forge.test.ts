import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { createFakeGithub, type FakeGithub } from '../../../test/fake/github/fake-github.ts';
import type { Installation, PullRequest, Repository } from '../../../test/fake/github/model.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import { systemClock } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Sha } from '../../lib/sha.ts';
import type { BuildRequest, CandidateEntry, ForgeRepository } from '../forge.ts';
import { type GithubAuth, githubConnection } from './api/connection.ts';
import { createGithubForge, type GithubForge } from './create-github-forge.ts';

const LIMIT = { timeout: 60_000 };
const DRAFT = { body: 'Tested: #1' };

describe('the GitHub forge', () => {
  let fake: FakeGithub;
  let folder: string;
  let app: Repository;
  let installation: Installation;
  let forge: GithubForge;
  let logged: string[];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-github-forge-'));
    fake = await createFakeGithub();
    app = await fake.createRepository('acme/app', { isPrivate: true });
    installation = fake.install(fake.app, 'acme');
    logged = [];
    forge = createForge();
  });
  afterEach(async () => {
    await forge.close();
    await fake.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  function createForge(name = 'git', given?: GithubAuth): GithubForge {
    const auth = given ?? { kind: 'app', appId: String(fake.app.id), privateKey: fake.privateKey };
    const connection = githubConnection({ host: 'github.test', auth, apiUrl: fake.url, webUrl: fake.url });
    const keep = (facts: object, text: string) => void logged.push(`${text} ${JSON.stringify(facts)}`);
    const log = { debug: keep, info: keep, warn: keep, error: keep };
    return createGithubForge({ connection, directory: join(folder, name), clock: systemClock, log, paceMs: 0 });
  }

  const repository: ForgeRepository = {
    id: 'app',
    host: 'github.test',
    owner: 'acme',
    name: 'app',
    git: undefined,
    checks: [],
  };
  const entryOf = (pr: PullRequest): CandidateEntry => ({
    prNumber: pr.number as PrNumber,
    headSha: pr.headSha as Sha,
    title: pr.title,
    author: pr.author.login,
  });
  const requestOf = (members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}): BuildRequest => ({
    repository,
    targetBranch: 'main',
    candidateId: randomUUID(),
    base: app.refs.get('refs/heads/main') as Sha,
    parent: undefined,
    beneath: [],
    members,
    mergeMethod: 'SQUASH',
    plannedAt: Date.UTC(2025, 0, 2),
    ...more,
  });
  async function build(members: readonly CandidateEntry[], more: Partial<BuildRequest> = {}, by = forge) {
    const request = requestOf(members, more);
    const answer = await by.buildCandidate(request);
    assert.ok(answer.kind === 'built', JSON.stringify(answer));
    return { ...request, ...answer };
  }
  const partsOf = (built: BuildRequest) => ({ prNumber: built.members[0]?.prNumber, isBisection: false });
  const pullsFor = (branch: string) => [...app.pulls.values()].filter(({ headRef }) => headRef === branch);

  test('reading and building with git costs no call of the API [G4]', LIMIT, async () => {
    const pr = await fake.openPullRequest(app);
    assert.equal(await forge.findBranchHead(repository, 'main'), app.refs.get('refs/heads/main'));
    await forge.hosting.findByBranch(repository, pr.headRef);
    const before = callsOf(fake);
    const built = await build([entryOf(pr)]);
    const afterBuild = callsOf(fake);
    // The one request reads the branch rules, for the required checks.
    assert.ok(afterBuild - before <= 1);
    await forge.findBranchHead(repository, 'main');
    await forge.publishCandidate({ ...built, ...partsOf(built) });
    await forge.isAncestor({ repository, ancestor: built.base, descendant: built.sha });
    await forge.listLine({ repository, head: built.sha, since: built.base, limit: 10 });
    await forge.listCandidateIds(repository);
    await forge.discardCandidate({ ...built, ...partsOf(built) });
    await build([entryOf(pr)]);
    assert.equal(callsOf(fake), afterBuild);
  });

  test('the copy has only the needed refs [G1]', LIMIT, async () => {
    await fake.commit(app, { branch: 'elsewhere', files: { huge: 'x' } });
    const [one, other] = [await fake.openPullRequest(app), await fake.openPullRequest(app)];
    await build([entryOf(one)]);
    const refs = await readFile(join(folder, 'git', 'app.git', 'packed-refs'), 'utf8').catch(() => '');
    const names = await readdir(join(folder, 'git', 'app.git', 'refs'), { recursive: true });
    const branches = names.filter((name) => name.startsWith('heads/'));
    assert.deepEqual(branches, ['heads/main']);
    assert.doesNotMatch(refs, /elsewhere|pull/);
    assert.ok(!names.some((name) => name.startsWith('pull/')));
    await assert.rejects(hasObject(folder, other.headSha), /missing/);
  });

  test('a candidate has exactly the commit that was asked for, also where it was forced away [G5]', LIMIT, async () => {
    const pr = await fake.openPullRequest(app, { files: { a: '1\n' } });
    const asked = entryOf(pr);
    await fake.push(pr, { a: '2\n' }, { isForced: true });
    const built = await build([asked]);
    const now = await build([entryOf(pr)]);
    assert.notEqual(built.tree, now.tree);
    const gone = { ...asked, headSha: 'd'.repeat(40) as Sha };
    await assert.rejects(
      forge.buildCandidate(requestOf([gone])),
      unavailable(/does not have the commit d{40} of pull/),
    );
  });

  test('checks that protection requires are told, with the app that must report them [C7]', LIMIT, async () => {
    fake.protect(app, 'main', { checks: [{ context: 'build', appId: undefined }] });
    assert.deepEqual((await build([])).sources.protection, ['build']);
  });

  describe('draft pull requests', () => {
    test('a draft is opened for a test branch, once, and closes with it [G6]', LIMIT, async () => {
      const pr = await fake.openPullRequest(app);
      const built = await build([entryOf(pr)]);
      const request = { ...built, ...partsOf(built), draft: DRAFT };
      const branch = forge.testBranchOf(request);
      for (let round = 0; round < 2; round += 1)
        assert.deepEqual(await forge.publishCandidate(request), { kind: 'published', branch });
      const [draft, ...more] = pullsFor(branch);
      assert.deepEqual([draft?.isDraft, draft?.state, draft?.body, more], [true, 'open', DRAFT.body, []]);
      assert.match(draft?.title ?? '', new RegExp(`#${pr.number}\\b`));
      await forge.discardCandidate(request);
      assert.equal(draft?.state, 'closed');
      assert.equal(app.refs.has(`refs/heads/${branch}`), false);
    });

    test('a draft whose answer got lost is found again [G6]', LIMIT, async () => {
      const built = await build([entryOf(await fake.openPullRequest(app))]);
      const request = { ...built, ...partsOf(built), draft: DRAFT };
      fake.faults.once('POST /repos/{owner}/{repo}/pulls', { kind: 'error', status: 502, when: 'after' });
      await assert.rejects(forge.publishCandidate(request), unavailable(/502/));
      assert.equal((await forge.publishCandidate(request)).kind, 'published');
      assert.equal(pullsFor(forge.testBranchOf(request)).length, 1);
    });

    test('a repository without drafts is a refusal in words of GitHub [G146]', LIMIT, async () => {
      const built = await build([entryOf(await fake.openPullRequest(app))]);
      const message = 'Draft pull requests are not supported in this repository.';
      const body = { message: 'Validation Failed', errors: [{ resource: 'PullRequest', code: 'custom', message }] };
      const answer = { status: 422, body };
      fake.faults.once('POST /repos/{owner}/{repo}/pulls', { kind: 'answer', answer, when: 'before' });
      const refusal = await forge.publishCandidate({ ...built, ...partsOf(built), draft: DRAFT });
      assert.ok(refusal.kind === 'refused');
      assert.equal(refusal.reason, 'START_TEST_RUN_DRAFT_PRS_NOT_ALLOWED');
      assert.match(refusal.detail, /Draft pull requests are not supported/);
    });

    test('a branch that GitHub does not see yet is tried again [G6]', LIMIT, async () => {
      const built = await build([entryOf(await fake.openPullRequest(app))]);
      const body = {
        message: 'Validation Failed',
        errors: [{ resource: 'PullRequest', field: 'head', code: 'invalid' }],
      };
      const answer = { status: 422, body };
      fake.faults.once('POST /repos/{owner}/{repo}/pulls', { kind: 'answer', answer, when: 'before' });
      const request = { ...built, ...partsOf(built), draft: DRAFT };
      await assert.rejects(forge.publishCandidate(request), unavailable(/head invalid/));
      assert.equal((await forge.publishCandidate(request)).kind, 'published');
    });
  });

  test('a test branch that a rule forbids is a refusal in words of GitHub [G146]', LIMIT, async () => {
    const built = await build([]);
    fake.addRuleset(app, { include: ['refs/heads/sluice/**/*'], rules: [{ type: 'creation' }] });
    const refusal = await forge.publishCandidate({ ...built, ...partsOf(built) });
    assert.ok(refusal.kind === 'refused', JSON.stringify(refusal));
    assert.equal(refusal.reason, 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH');
    assert.match(refusal.detail, /GH013: Repository rule violations.*creations being restricted/);
  });

  test('a push whose answer got lost is made again without harm [G4]', LIMIT, async () => {
    const built = await build([]);
    const request = { ...built, ...partsOf(built) };
    for (const act of [() => forge.publishCandidate(request), () => forge.discardCandidate(request)]) {
      fake.faults.once('POST */git-receive-pack', { kind: 'error', status: 502, when: 'after' });
      await assert.rejects(act(), unavailable(/502|hung up/));
      await act();
    }
    assert.deepEqual(
      [...app.refs.keys()].filter((ref) => /sluice/.test(ref)),
      [],
    );
  });

  test('a renamed repository goes on under its new name, without a redirect for git [G108]', LIMIT, async () => {
    const pr = await fake.openPullRequest(app);
    await build([entryOf(pr)]);
    fake.rename(app, 'renamed');
    // The cached name stays until a webhook reports the rename or git fails to find the repository.
    await assert.rejects(forge.findBranchHead(repository, 'main'), unavailable(/has moved to another address/));
    assert.equal(await forge.findBranchHead(repository, 'main'), app.refs.get('refs/heads/main'));
    await build([entryOf(pr)]);
    const query = { repository, number: pr.number as PrNumber, targetBranch: 'main' };
    assert.equal((await forge.findPullRequest(query))?.headSha, pr.headSha);
  });

  test('a personal token works too, where its owner may write [G2]', LIMIT, async () => {
    fake.setPermission(app, 'ada', 'write');
    const other = createForge('other', { kind: 'token', token: fake.createToken('ada') });
    try {
      assert.equal(await other.checkAccess(repository), undefined);
      const built = await build([entryOf(await fake.openPullRequest(app))], {}, other);
      assert.equal((await other.publishCandidate({ ...built, ...partsOf(built) })).kind, 'published');
      fake.setPermission(app, 'ada', 'read');
      await assert.rejects(
        other.discardCandidate({ ...built, ...partsOf(built) }),
        unavailable(/lacks the permission/),
      );
      assert.equal(await other.findBranchHead(repository, 'main'), built.base);
    } finally {
      await other.close();
    }
  });

  test('a token that git is refused is not used again [G3]', LIMIT, async () => {
    assert.ok(await forge.findBranchHead(repository, 'main'));
    fake.world.tokens.clear();
    await assert.rejects(forge.findBranchHead(repository, 'main'), unavailable(/does not accept the token/));
    assert.ok(await forge.findBranchHead(repository, 'main'));
  });

  test('a token that only git is refused is replaced too [G3]', LIMIT, async () => {
    assert.ok(await forge.findBranchHead(repository, 'main'));
    const known = [...fake.world.tokens.keys()];
    fake.faults.once('git-upload-pack', { kind: 'unauthorized' });
    await assert.rejects(forge.findBranchHead(repository, 'main'), unavailable(/does not accept the token/));
    assert.ok(await forge.findBranchHead(repository, 'main'));
    assert.equal(fake.world.tokens.size, known.length + 1);
  });

  test('tokens and keys are in no file and no line of the log [G2]', LIMIT, async () => {
    const pr = await fake.openPullRequest(app);
    const built = await build([entryOf(pr)]);
    await forge.publishCandidate({ ...built, ...partsOf(built), draft: DRAFT });
    fake.suspend(installation);
    await forge.findBranchHead(repository, 'main').catch((error: unknown) => logged.push(String(error)));
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'latin1')));
    const secrets = [...fake.world.tokens.keys()].flatMap((token) => [token, btoa(`x-access-token:${token}`)]);
    assert.ok(secrets.length > 0);
    for (const text of [...texts, ...logged])
      for (const secret of [...secrets, 'PRIVATE KEY']) assert.ok(!text.includes(secret), text.slice(0, 200));
  });

  describe('access [G7]', () => {
    const check = (more: Partial<ForgeRepository> = {}) => forge.checkAccess({ ...repository, ...more });

    test('access goes away with installation, permission or repository', LIMIT, async () => {
      assert.equal(await check(), undefined);
      // GitHub ignores case.
      assert.equal(await check({ name: 'App' }), undefined);
      assert.match(
        (await check({ name: 'none' })) ?? '',
        /not installed on acme\/none, or there is no such repository/,
      );
      fake.suspend(installation);
      assert.match((await check()) ?? '', /is suspended/);
      fake.unsuspend(installation);
      assert.equal(await check(), undefined);
      fake.rename(app, 'renamed');
      assert.match((await check()) ?? '', /calls this repository acme\/renamed/);
      fake.rename(app, 'app');
      app.isArchived = true;
      assert.match((await check()) ?? '', /archived/);
      app.isArchived = false;
      fake.uninstall(installation);
      assert.match((await check()) ?? '', /not installed/);
    });

    test('access without permission for the contents is told', LIMIT, async () => {
      fake.grant(installation, { metadata: 'read', pull_requests: 'write' });
      assert.match(
        (await check()) ?? '',
        /lacks the repository permissions "Contents: read and write", .* Add them to the app/,
      );
    });
  });
});

function callsOf(fake: FakeGithub): number {
  return [...fake.countRequests().values()].reduce((sum, count) => sum + count, 0);
}

function unavailable(sentence: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, 'FORGE_UNAVAILABLE');
    assert.match(error.detail, sentence);
    return true;
  };
}

async function hasObject(folder: string, sha: string): Promise<void> {
  const objects = join(folder, 'git', 'app.git', 'objects');
  const path = join(objects, sha.slice(0, 2), sha.slice(2));
  await readFile(path).catch(() => {
    throw new Error('missing');
  });
}
