import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { PrNumber } from '../../src/engine/model/pull-request.ts';
import type { LandRequest } from '../../src/forge/forge.ts';
import { createRateLimit } from '../../src/forge/gitlab/api/rate-limit.ts';
import { asNote } from '../../src/forge/gitlab/comments.ts';
import { createGitlabForge } from '../../src/forge/gitlab/create-gitlab-forge.ts';
import { readinessBy } from '../../src/forge/gitlab/merge-status.ts';
import { systemClock } from '../../src/lib/clock.ts';
import type { Sha } from '../../src/lib/sha.ts';
import { createGitlabWorld, type GitlabWorld } from '../contract/gitlab-repository.ts';
import { createFakeGitlab, type FakeGitlab } from '../fake/gitlab/fake-gitlab.ts';
import { LEVEL, type Pipeline } from '../fake/gitlab/model.ts';
import { addNote, addPipeline, setLabels, settlePipeline } from '../fake/gitlab/pushes.ts';
import { pluck } from '../helpers/pluck.ts';
import { silentLog } from '../helpers/silent-log.ts';

let gitlab: FakeGitlab;
let world: GitlabWorld;
let base: Sha;
before(async () => {
  gitlab = await createFakeGitlab();
  world = await createGitlabWorld(gitlab);
  base = await world.commit('main', { files: { 'a.txt': 'a\n' } });
});
after(async () => {
  await world.close();
  await gitlab.close();
});

const hosting = () => world.forge.hosting;
const find = (number: PrNumber) =>
  world.forge.findPullRequest({ repository: world.repository, number, targetBranch: 'main' });

async function countCalls(act: () => Promise<unknown>): Promise<number> {
  const before = gitlab.world.requests.length;
  await act();
  return gitlab.world.requests.slice(before).filter(({ area }) => area === 'rest').length;
}

describe('merge requests of GitLab', () => {
  test('each value of detailed_merge_status is ready, waits or blocks, and an unknown one is named [G182]', () => {
    const readyBy = (status: string) => readinessBy(status).mergeability;
    for (const status of ['mergeable', 'need_rebase', 'ci_must_pass', 'ci_still_running'])
      assert.equal(readyBy(status), 'MERGEABLE');
    for (const status of ['unchecked', 'checking', 'preparing', 'approvals_syncing'])
      assert.equal(readyBy(status), 'IN_PROGRESS');
    assert.deepEqual(readinessBy('not_approved').blockReasons, ['reviewRequired']);
    assert.deepEqual(readinessBy('requested_changes').blockReasons, ['changesRequested']);
    const open = readinessBy('discussions_not_resolved');
    assert.deepEqual([open.blockReasons, open.blockDetail], [['other'], 'not all of its threads are resolved']);
    for (const odd of ['moon_phase', 'toString', '__proto__', 'x'.repeat(10_000)]) {
      const { mergeability, blockReasons, blockDetail = '' } = readinessBy(odd);
      assert.deepEqual([mergeability, blockReasons], ['NOT_MERGEABLE', ['other']]);
      assert.match(blockDetail, /^GitLab calls it ".{1,60}", which Sluice does not know$/);
    }
  });

  test('a merge request above another one is judged without its conflicts [G188]', async () => {
    const { number } = await world.openPullRequest('main', { files: { 'judged.txt': 'x\n' } });
    const judge = (targetBranch: string) =>
      hosting().judgeForTarget({ repository: world.repository, number, targetBranch });
    const request = world.request(number);
    for (const [status, reasons] of [
      ['conflict', []],
      ['checking', []],
      ['not_approved', ['reviewRequired']],
      ['discussions_not_resolved', ['other']],
    ] as const) {
      request.forced = status;
      assert.deepEqual((await judge('elsewhere')).blockReasons, reasons);
    }
    request.forced = undefined;
    assert.equal((await judge('main')).mergeability, 'MERGEABLE');
    request.title = 'Draft: x';
    assert.deepEqual((await judge('elsewhere')).blockReasons, ['draft']);
  });

  test('a head that contains its target counts by its own pipeline, and not by one of a fork [G189]', async () => {
    const { number, headSha: sha } = await world.openPullRequest('main', { files: { 'direct.txt': 'x\n' } });
    assert.equal((await find(number))?.upToDate, undefined);
    const user = gitlab.addUser('ada');
    const draft = { user, ref: `refs/merge-requests/${number}/head`, sha, status: 'success' };
    addPipeline(gitlab.world, world.project, { ...draft, source: 'external' });
    assert.equal((await find(number))?.upToDate, undefined);
    addPipeline(gitlab.world, world.project, { ...draft, source: 'merge_request_event' });
    const { targetHead, tree, passedChecks } = (await find(number))?.upToDate ?? {};
    assert.deepEqual([targetHead, passedChecks], [base, [{ name: 'pipeline', reporter: 'gitlab-ci' }]]);
    assert.equal(tree, await world.git(['rev-parse', `${sha}^{tree}`]));
  });

  test('comments and labels count with the role that the person has now [G54] [G19]', async () => {
    const { number } = await world.openPullRequest('main', { files: { 'said.txt': 'x\n' } });
    const eve = gitlab.addUser('eve');
    const request = world.request(number);
    const { id } = addNote(gitlab.world, request, eve, '/sluice merge');
    const question = { repository: world.repository, number, id: String(id) };
    assert.equal((await hosting().readComment(question))?.permission, 'none');
    for (const [level, permission] of [
      [LEVEL.reporter, 'triage'],
      [LEVEL.developer, 'write'],
      [LEVEL.maintainer, 'maintain'],
    ] as const) {
      world.project.members.set(eve.id, level);
      const facts = await hosting().readComment(question);
      assert.deepEqual([facts?.permission, facts?.author.login, facts?.isEdited], [permission, 'eve', false]);
    }
    setLabels(gitlab.world, request, eve, { add: ['Go', 'other'] });
    const label = await hosting().readLabel({ repository: world.repository, number, label: 'go' });
    assert.deepEqual([label?.isPresent, label?.last?.by.login, label?.last?.permission], [true, 'eve', 'maintain']);
    eve.state = 'blocked';
    assert.equal((await hosting().readComment(question))?.permission, 'none');
    eve.state = 'active';
    await hosting().react(question, '+1');
    await hosting().react(question, '+1');
    assert.equal(await hosting().readComment({ ...question, id: '1' }), undefined);
  });
});

describe('checks of GitLab', () => {
  const SHA = () => base;
  const read = (names?: readonly string[]) =>
    hosting()
      .readChecks(world.repository, [SHA()], names)
      .then((found) => found.get(SHA()) ?? []);

  test('a pipeline and its jobs count where a test branch was pushed, and a status of another CI by its own name [G183]', async () => {
    const [bot, ada] = [gitlab.addUser('project_7_bot_0a'), gitlab.addUser('ada')];
    world.project.jobs = ['unit'];
    const start = (source: string, ref: string) =>
      addPipeline(gitlab.world, world.project, { user: bot, ref, sha: SHA(), status: 'running', source });
    const end = (pipeline: Pipeline, status: string) => {
      for (const job of pipeline.jobs) job.status = status;
      settlePipeline(gitlab.world, world.project, pipeline);
    };
    for (const [source, ref] of [
      ['web', 'sluice/pr-1/x'],
      ['push', 'change'],
      ['external', 'sluice/pr-1/x'],
    ] as const)
      end(start(source, ref), 'success');
    assert.deepEqual(await read(['pipeline', 'unit']), [], 'none of them is of a test branch that was pushed');
    const own = start('push', 'sluice/pr-1/x');
    own.statuses.push({ ...own.jobs[0], id: 9_000_001, name: 'unit', status: 'success', user: ada } as never);
    const seen = pluck(await read(['pipeline', 'unit', 'external:unit']), 'name', 'reporter', 'conclusion');
    assert.deepEqual(seen, [
      ['pipeline', 'gitlab-ci', undefined],
      ['unit', 'gitlab-ci', undefined],
      ['external:unit', 'ada', 'SUCCESS'],
    ]);
    own.statuses.splice(0);
    end(own, 'failed');
    assert.deepEqual(pluck(await read(['pipeline', 'unit']), 'conclusion'), ['FAILURE', 'FAILURE']);
    own.status = 'skipped';
    assert.deepEqual(pluck(await read(['pipeline']), 'conclusion'), ['ERROR'], 'no job ran');
    own.status = 'a new state';
    assert.deepEqual(pluck(await read(['pipeline']), 'status'), ['IN_PROGRESS']);
    assert.equal(await countCalls(() => read(['pipeline'])), 1);
    world.project.jobs = undefined;
  });
});

describe('the API of GitLab', () => {
  test('a poll of a hundred open merge requests takes four requests at most [G185]', async () => {
    const busy = await createGitlabWorld(gitlab);
    await busy.commit('main', { files: { 'a.txt': 'a\n' } });
    const opened: PrNumber[] = [];
    for (let count = 0; count < 100; count += 1)
      opened.push((await busy.openPullRequest('main', { files: { [`${count}.txt`]: 'x\n' } })).number);
    const query = { repository: busy.repository, branches: ['main'], entries: opened.slice(0, 30), commits: [] };
    let since = Date.now() + 60_000;
    assert.ok((await countCalls(() => busy.forge.hosting.poll({ ...query, since }))) <= 4);
    const { id } = addNote(gitlab.world, busy.request(opened[0] as PrNumber), gitlab.addUser('ada'), '/sluice merge');
    since = Date.now() - 5_000;
    const { changed, pullRequests } = await busy.forge.hosting.poll({ ...query, since });
    assert.equal(pullRequests.size, 30);
    assert.deepEqual(pluck(changed.find(({ number }) => number === opened[0])?.comments ?? [], 'id'), [String(id)]);
    await busy.close();
  });

  test('a project that is renamed or moved to another group is the same one [G180]', async () => {
    const moved = await createGitlabWorld(gitlab);
    const head = await moved.commit('main', { files: { 'a.txt': 'a\n' } });
    const { number } = await moved.openPullRequest('main', { files: { 'b.txt': 'b\n' } });
    for (const path of ['acme/new-name', 'acme/deep/er/group/app', 'other/app']) {
      gitlab.move(moved.project, path);
      const query = { repository: moved.repository, branches: ['main'], entries: [number], commits: [], since: 0 };
      const { identity, heads } = await moved.forge.hosting.poll(query);
      assert.equal(`${identity?.owner}/${identity?.name}`, path);
      assert.equal(identity?.forgeId, moved.repository.forgeId);
      assert.equal(heads.get('main'), head);
      assert.equal(await moved.forge.findBranchHead(moved.repository, 'main'), head);
    }
    const { forgeId: _, ...byFormerName } = moved.repository;
    assert.match((await moved.forge.checkAccess(byFormerName)) ?? '', /calls this project other\/app/);
    await moved.close();
  });

  test('a refused request waits as long as GitLab says, and a longer wait is a sentence [G186]', async () => {
    let now = 1_000_000;
    const after = (ms: number, act: () => void) => {
      now += ms;
      act();
      return () => undefined;
    };
    const clock = { now: () => now, after };
    const limit = createRateLimit(clock);
    const answer = (status: number, headers: Record<string, string>) =>
      limit.observe({ status, data: undefined, headers: new Headers(headers) });
    assert.equal(answer(429, { 'retry-after': '7' }), true);
    await limit.admit(true);
    assert.equal(now, 1_007_000);
    answer(200, { 'ratelimit-limit': '600', 'ratelimit-remaining': '20', 'ratelimit-reset': '1017' });
    await limit.admit(true);
    assert.equal(now, 1_007_000, 'the rest is for landings');
    await limit.admit(false);
    assert.equal(now, 1_017_000);
    answer(429, { 'retry-after': '60' });
    await assert.rejects(limit.admit(true), /used up until \d\d:\d\d:\d\d UTC/);
  });

  test('a token that expired is read again, and else refused in words [G99]', async () => {
    const bot = gitlab.addUser('project_7_bot_0a');
    const token = gitlab.addToken(bot, { expiresAt: 1 });
    const connection = { host: 'gitlab.test', url: gitlab.url, token, webhookSecret: 'a secret' };
    const create = (more: object) =>
      createGitlabForge({ connection: { ...connection, ...more }, clock: systemClock, log: silentLog, directory: 'x' });
    const refused = create({});
    assert.match((await refused.checkAccess(world.repository)) ?? '', /GitLab refuses the token: Token is expired/);
    const renewed = create({ reload: async () => gitlab.addToken(bot) });
    const { forgeId: _, ...byName } = world.repository;
    assert.equal((await renewed.hosting.identify(byName)).forgeId, world.repository.forgeId);
    await refused.close();
    await renewed.close();
  });
});

describe('notes on GitLab', () => {
  test('notes refer to merge requests, and have no line that GitLab would carry out [G187]', () => {
    assert.equal(
      asNote('Behind #7 (`#8`), see \\#9 and a#1.\n\n```\n#2\n```'),
      'Behind !7 (`#8`), see \\#9 and a#1.\n\n```\n#2\n```',
    );
    assert.equal(asNote('Say:\n/merge\n  /close'), 'Say:\n\u200b/merge\n  \u200b/close');
  });

  test('a note is written once, changed, found by its marker, and gone is no fault', async () => {
    const { number } = await world.openPullRequest('main', { files: { 'noted.txt': 'x\n' } });
    const draft = { repository: world.repository, number, text: 'Behind #3 <!-- mark -->' };
    const first = await hosting().writeComment({ ...draft, id: undefined });
    const again = await hosting().writeComment({ ...draft, id: first?.id, text: 'Landed <!-- mark -->' });
    assert.deepEqual(again, first);
    const marked = { repository: world.repository, number, marker: '<!-- mark -->' };
    assert.deepEqual(await hosting().findOwnComment(marked), first);
    assert.equal(await hosting().writeComment({ ...draft, id: '999999' }), undefined);
  });
});

describe('landings on GitLab', () => {
  async function land(mergeMethod: LandRequest['mergeMethod'], forge = world.forge) {
    const { number, headSha } = await world.openPullRequest('main', { files: { [`${mergeMethod}.txt`]: 'x\n' } });
    const head = (await forge.findBranchHead(world.repository, 'main')) as Sha;
    const entry = { prNumber: number, headSha, title: 'Change', author: 'Ada' };
    const request = {
      ...{ repository: world.repository, targetBranch: 'main', candidateId: crypto.randomUUID(), base: head },
      ...{ parent: undefined, beneath: [], members: [entry], mergeMethod, plannedAt: Date.UTC(2026, 0, 2) },
    };
    const built = await forge.buildCandidate(request);
    assert.ok(built.kind === 'built');
    const more = { expectedHead: head, sha: built.sha, tree: built.tree, entries: [entry], isCalledOff: false };
    const answer = await forge.landCandidate({ ...request, ...more, composedWith: [], landingMode: 'PUSH' });
    return { number, headSha, answer };
  }
  const settle = (
    { number, headSha, answer }: Awaited<ReturnType<typeof land>>,
    mergeMethod: 'SQUASH' | 'MERGE_COMMIT',
  ) => {
    assert.ok(answer.kind === 'landed', JSON.stringify(answer));
    const landedSha = answer.pushedSha;
    return hosting().settleLanded({ repository: world.repository, number, headSha, landedSha, mergeMethod });
  };

  test('a merged head is found by GitLab, a squashed one is closed, and a source branch goes if that is wanted [G184]', async () => {
    const merged = await land('MERGE_COMMIT');
    await settle(merged, 'MERGE_COMMIT');
    assert.equal(world.request(merged.number).state, 'merged');
    const squashed = await land('SQUASH');
    assert.equal(world.request(squashed.number).state, 'opened');
    await assert.rejects(settle(squashed, 'MERGE_COMMIT'), /does not show !\d+ as merged yet/);
    await settle(squashed, 'SQUASH');
    assert.equal(world.request(squashed.number).state, 'closed');
    const head = await world.commit('topic', { files: { 'topic.txt': 'x\n' } });
    const number = await world.openFrom('topic', 'main');
    Object.assign(world.request(number), { removesSource: true });
    await settle({ number, headSha: head, answer: squashed.answer }, 'SQUASH');
    assert.equal(await world.forge.findBranchHead(world.repository, 'topic'), undefined);
  });

  test('with a deploy key the push goes by it alone, and a key without the right is refused in words [G191]', async (t) => {
    const keyFile = join(world.folder, 'key');
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', keyFile]);
    const former = process.env['GIT_SSH_COMMAND'];
    process.env['GIT_SSH_COMMAND'] = gitlab.ssh;
    t.after(() => {
      if (former === undefined) delete process.env['GIT_SSH_COMMAND'];
      else process.env['GIT_SSH_COMMAND'] = former;
    });
    const bot = gitlab.addUser('project_7_bot_0a');
    const key = execFileSync('ssh-keygen', ['-y', '-f', keyFile]).toString().split(' ').slice(0, 2).join(' ').trim();
    const deployKey = { id: 4_711, title: 'sluice', key, canPush: true, owner: bot };
    const connection = { ...world.forge.client.connection, deployKeyFile: keyFile };
    const directory = join(world.folder, 'keyed');
    const forge = createGitlabForge({ connection, clock: systemClock, log: silentLog, directory });
    t.after(() => forge.close());
    await assert.rejects(land('REBASE', forge), /Could not read from remote repository/);
    world.project.deployKeys.set(deployKey.id, { ...deployKey, canPush: false });
    await assert.rejects(land('REBASE', forge), /Could not read from remote repository.*write access/);
    world.project.deployKeys.set(deployKey.id, deployKey);
    const rule = { id: 5, name: 'main', push: [0] as never[], merge: [40] as never[] };
    world.project.protections.set('main', rule);
    const { answer } = await land('REBASE', forge);
    assert.ok(answer.kind === 'refused', JSON.stringify(answer));
    assert.match(answer.detail, /GitLab: You are not allowed to push code to protected branches/);
    world.project.protections.set('main', { ...rule, push: [0, { deployKey: deployKey.id }] as never[] });
    assert.equal((await land('REBASE', forge)).answer.kind, 'landed');
    assert.equal((await land('SQUASH')).answer.kind, 'refused', 'the token may not push');
    const texts = (await forge.hosting.inspect(world.repository, 'main')).map(({ code }) => code);
    assert.ok(texts.includes('TARGET_ALLOWED') && texts.includes('NO_WEBHOOK') && texts.includes('PREVIEW'));
    world.project.protections.clear();
  });
});

describe('the setup of GitLab', () => {
  test('the inspection tells roles, the token, who else may push, checks and the webhook [G190]', async () => {
    const codes = async (queue?: object) =>
      (await hosting().inspect(world.repository, 'main', queue as never)).map(({ level, code }) => `${level} ${code}`);
    world.forge.hosting.forget('acme');
    assert.ok((await codes()).includes('error NO_REQUIRED_CHECKS'));
    assert.ok((await codes()).includes('warning NOT_PROTECTED'));
    const settings = { requiredStatuses: ['pipeline', 'external:jenkins'], landingMode: 'API', mergeMethod: 'SQUASH' };
    const found = await codes(settings);
    for (const code of ['ok MAINTAINER', 'ok CHECK', 'warning CHECK_OF_ANYBODY', 'error LANDING_MODE'])
      assert.ok(found.includes(code), `${code} in ${found.join()}`);
    world.project.protections.set('main', { id: 6, name: 'main', push: [40], merge: [40] });
    assert.ok((await codes(settings)).includes('warning OTHERS_PUSH'));
    world.project.protections.clear();
    const bot = gitlab.addUser('project_7_bot_0a');
    world.project.members.set(bot.id, LEVEL.developer);
    assert.ok((await codes(settings)).includes('error NOT_MAINTAINER'));
    world.project.members.set(bot.id, LEVEL.maintainer);
  });
});
