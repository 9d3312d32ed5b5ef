import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeGithub, type FakeGithub, type FakeGithubOptions } from '../../../test/fake/github/fake-github.ts';
import type { Installation, PullRequest, Repository } from '../../../test/fake/github/model.ts';
import { connectHosting } from '../../../test/helpers/github-hosting.ts';
import { ender } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { PrNumber, PullRequestFacts } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { CheckRunDraft, CommentQuestion, Hosting } from '../hosting.ts';
import type { GithubClient } from './api/client.ts';
import { findPullRequest } from './facts.ts';
import type { Protection } from './protection.ts';

const APP: ForgeRepository = { id: 'r1', host: 'github.com', owner: 'acme', name: 'app', git: undefined, checks: [] };

const end = ender();

interface World {
  readonly github: FakeGithub;
  readonly repository: Repository;
  readonly installation: Installation;
  readonly client: GithubClient;
  readonly protection: Protection;
  readonly hosting: Hosting;
  facts(pr: PullRequest): Promise<PullRequestFacts | undefined>;
  /** Number of requests that `act` sent. */
  countCalls(act: () => Promise<unknown>): Promise<number>;
}

async function world(
  options: FakeGithubOptions & { readonly auth?: 'app' | 'token'; readonly isPrivate?: boolean } = {},
): Promise<World> {
  const github = await createFakeGithub(options);
  const repository = await github.createRepository('acme/app', {
    isPrivate: options.isPrivate ?? false,
    roles: { ada: 'write', tess: 'triage', max: 'maintain' },
  });
  const installation = github.install(github.app, 'acme');
  const { client, protection, hosting } = connectHosting(github, options.auth);
  end(github, client);
  const count = () => [...github.countRequests().values()].reduce((sum, each) => sum + each, 0);
  return {
    github,
    repository,
    installation,
    client,
    protection,
    hosting,
    facts: (pr) => findPullRequest({ client, protection }, { repository: APP, number: numberOf(pr) }),
    async countCalls(act) {
      const before = count();
      await act();
      return count() - before;
    },
  };
}

const numberOf = (pr: PullRequest) => pr.number as PrNumber;
const shaOf = (pr: PullRequest) => pr.headSha as Sha;

const aCheck = (pr: PullRequest): CheckRunDraft => ({
  repository: APP,
  id: undefined,
  headSha: shaOf(pr),
  name: 'Sluice (main)',
  externalId: 'q1/1/1',
  status: 'QUEUED',
  conclusion: undefined,
  title: 'Waits in line',
  summary: 'Position 2.',
  url: undefined,
  startedAt: Date.parse('2026-03-01T12:00:00Z'),
  completedAt: undefined,
});

describe('pull requests on GitHub', () => {
  it('a pull request that can be merged is ready, with everything that is known about it', async () => {
    const { github, repository, facts } = await world();
    const body = 'Why\r\n\r\nmerge-commit-title: A better title\r\n';
    const pr = await github.openPullRequest(repository, { author: 'ada', title: 'A change\u0007', body });
    const read = await facts(pr);
    assert.deepEqual(
      { ...read, upToDate: undefined },
      {
        number: pr.number,
        headSha: pr.headSha,
        baseBranch: 'main',
        title: 'A change',
        author: 'ada',
        url: `${github.url}/acme/app/pull/${pr.number}`,
        status: 'open',
        mergeability: 'MERGEABLE',
        blockReasons: [],
        failingChecks: undefined,
        awaitedChecks: undefined,
        isHeadUntrusted: false,
        headBranch: pr.headRef,
        mergeTitle: 'A better title',
        upToDate: undefined,
      },
    );
    assert.equal(await facts({ ...pr, number: 999 }), undefined);
  });

  it('a pull request from a fork is not trusted, also when the fork is gone', async () => {
    const { github, repository, facts } = await world();
    const fork = await github.fork(repository, 'eve');
    const pr = await github.openPullRequest(repository, { from: fork, author: 'eve' });
    const read = await facts(pr);
    assert.equal(read?.isHeadUntrusted, true);
    assert.equal(read?.headBranch, undefined);
    github.deleteRepository(fork);
    assert.equal((await facts(pr))?.isHeadUntrusted, true);
  });

  it('drafts, conflicts, closed and merged ones are not ready', async () => {
    const { github, repository, facts } = await world();
    const draft = await github.openPullRequest(repository, { isDraft: true });
    assert.deepEqual((await facts(draft))?.blockReasons, ['draft']);
    assert.equal((await facts(draft))?.status, 'draft');
    const first = await github.openPullRequest(repository, { files: { 'README.md': 'one\n' } });
    const second = await github.openPullRequest(repository, { files: { 'README.md': 'two\n' } });
    await github.mergeByHand(first, 'acme');
    assert.deepEqual((await facts(second))?.blockReasons, ['conflict']);
    assert.equal((await facts(first))?.status, 'merged');
    github.closePullRequest(second);
    assert.equal((await facts(second))?.status, 'closed');
    assert.equal((await facts(second))?.mergeability, 'NOT_MERGEABLE');
  });

  it('mergeability is in progress while GitHub works it out', async () => {
    const { github, repository, facts } = await world({ mergeability: 'lazy' });
    const pr = await github.openPullRequest(repository);
    assert.equal((await facts(pr))?.mergeability, 'IN_PROGRESS');
    await github.settle();
    assert.equal((await facts(pr))?.mergeability, 'MERGEABLE');
  });

  it('a pull request whose head contains the target says with which checks it passed', async () => {
    const { github, repository, facts } = await world();
    const pr = await github.openPullRequest(repository);
    github.reportCheck(repository, { sha: pr.headSha, name: 'test', status: 'completed', conclusion: 'success' });
    github.setStatus(repository, { sha: pr.headSha, context: 'lint', state: 'failure' });
    const { upToDate } = (await facts(pr)) ?? {};
    assert.equal(upToDate?.targetHead, repository.refs.get('refs/heads/main'));
    assert.deepEqual(upToDate?.passedChecks, [{ name: 'test', reporter: 'github-actions', reporterId: '15368' }]);
    await github.commit(repository, { branch: 'main', files: { 'other.txt': 'x\n' }, message: 'Move' });
    assert.equal((await facts(pr))?.upToDate, undefined);
    await github.openPullRequest(repository, { branch: 'other' });
  });
});

describe('checks on GitHub', () => {
  it('checks of several commits are read with all pages, in one question where that is enough [G12]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const one = await github.openPullRequest(repository);
    const two = await github.openPullRequest(repository);
    const none = await github.openPullRequest(repository);
    github.reportCheck(repository, {
      sha: one.headSha,
      name: 'test',
      status: 'completed',
      conclusion: 'failure',
      detailsUrl: 'https://ci.test/1',
    });
    github.setStatus(repository, { sha: one.headSha, context: 'lint', state: 'pending' });
    const read = await hosting.readChecks(APP, [shaOf(one), shaOf(none)]);
    assert.deepEqual(read.get(shaOf(none)), []);
    assert.deepEqual(pluck(read.get(shaOf(one)), 'name', 'reporter', 'status', 'conclusion', 'url'), [
      ['test', 'github-actions', 'COMPLETED', 'FAILURE', 'https://ci.test/1'],
      ['lint', undefined, 'QUEUED', undefined, undefined],
    ]);
    assert.equal(await countCalls(() => hosting.readChecks(APP, [shaOf(one), shaOf(none)])), 1);
    for (let index = 0; index < 130; index += 1) {
      github.reportCheck(repository, {
        sha: two.headSha,
        name: `job ${index}`,
        status: 'completed',
        conclusion: 'success',
      });
    }
    const many = await hosting.readChecks(APP, [shaOf(two)]);
    assert.equal(many.get(shaOf(two))?.length, 130);
    assert.equal((await hosting.readChecks(APP, ['0'.repeat(40) as Sha])).get('0'.repeat(40) as Sha)?.length, 0);
  });
});

describe('protection on GitHub', () => {
  it('protection is kept for a minute, unless GitHub says that it changed [G124]', async () => {
    const { github, repository, protection, hosting, countCalls } = await world();
    github.protect(repository, 'main', { checks: [{ context: 'test', appId: undefined }] });
    github.addRuleset(repository, {
      rules: [{ type: 'required_status_checks', checks: [{ context: 'lint', appId: 15_368 }], isStrict: false }],
    });
    assert.deepEqual((await protection.readRules(APP, 'main')).checks, ['test', { name: 'lint', app: '15368' }]);
    assert.equal(await countCalls(() => protection.readRules(APP, 'main')), 0);
    github.unprotect(repository, 'main');
    hosting.forget('acme', 'app');
    assert.deepEqual((await protection.readRules(APP, 'main')).checks, [{ name: 'lint', app: '15368' }]);
    assert.deepEqual((await protection.readRules(APP, 'no-such-branch')).checks, []);
  });
});

describe('looking around', () => {
  it('one query tells everything [G15]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const entry = await github.openPullRequest(repository, { author: 'ada' });
    const other = await github.openPullRequest(repository, { author: 'max' });
    const since = Date.now();
    github.reportCheck(repository, { sha: entry.headSha, name: 'test', status: 'in_progress' });
    await hosting.findByBranch(APP, 'warm-up');
    const comment = github.comment(other, 'ada', '/sluice merge');
    github.label(other, 'ada', 'urgent');
    const question = {
      repository: APP,
      branches: ['main', 'gone'],
      entries: [numberOf(entry), 999 as PrNumber],
      commits: [shaOf(entry)],
      since: since - 60_000,
    };
    const look = await hosting.poll(question);
    assert.deepEqual(look.identity, { owner: 'acme', name: 'app', forgeId: String(repository.id) });
    assert.equal(look.heads.get('main'), repository.refs.get('refs/heads/main'));
    assert.equal(look.heads.get('gone'), undefined);
    assert.equal(look.pullRequests.get(numberOf(entry))?.mergeability, 'MERGEABLE');
    assert.equal(look.pullRequests.get(999 as PrNumber), undefined);
    assert.equal(look.checks.get(shaOf(entry))?.[0]?.status, 'IN_PROGRESS');
    const changed = look.changed.find(({ number }) => number === other.number);
    assert.deepEqual(changed?.labels, ['urgent']);
    assert.deepEqual(pluck(changed?.comments, 'id', 'nodeId', 'author'), [[String(comment.id), comment.nodeId, 'ada']]);
    assert.equal(await countCalls(() => hosting.poll(question)), 1);
    const later = await hosting.poll({ ...question, since: Date.now() + 60_000 });
    assert.deepEqual(later.changed, []);
  });

  it('more comments than one look holds are asked for', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const since = Date.now() - 60_000;
    for (let index = 0; index < 25; index += 1) github.comment(pr, 'ada', `/sluice merge ${index}`);
    const look = await hosting.poll({ repository: APP, branches: [], entries: [], commits: [], since });
    assert.equal(look.changed[0]?.comments.length, 25);
  });

  it('comments without a command are left out, which is one question for all of them [G157]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const prs = [await github.openPullRequest(repository), await github.openPullRequest(repository)];
    const since = Date.now() - 60_000;
    for (const pr of prs) for (let index = 0; index < 5; index += 1) github.comment(pr, 'ada', `word ${index}`);
    const { nodeId } = github.comment(prs[0] as PullRequest, 'ada', 'Well done!\n\n/Sluice merge');
    const ask = () => hosting.poll({ repository: APP, branches: [], entries: [], commits: [], since });
    const { changed } = await ask();
    assert.deepEqual(
      changed.flatMap(({ comments }) => comments.map((comment) => comment.nodeId)),
      [nodeId],
    );
    assert.equal(await countCalls(ask), 2);
  });

  it('more pull requests and entries than one page holds are asked for', async () => {
    const { github, repository, hosting } = await world();
    const prs: PullRequest[] = [];
    for (let index = 0; index < 30; index += 1) prs.push(await github.openPullRequest(repository));
    const entries = prs.map(numberOf);
    const since = Date.now() - 600_000;
    const look = await hosting.poll({ repository: APP, branches: [], entries, commits: prs.map(shaOf), since });
    assert.equal(look.changed.length, 30);
    assert.equal([...look.pullRequests.values()].filter((pr) => pr !== undefined).length, 30);
    assert.equal(look.checks.size, 30);
  });

  it('further pages of checks are one question for all commits, and one for all blocked entries [G85]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    github.addRuleset(repository, { rules: [{ type: 'pull_request', approvals: 1 }] });
    const prs: PullRequest[] = [];
    for (let index = 0; index < 3; index += 1) prs.push(await github.openPullRequest(repository));
    for (const { headSha: sha } of prs) {
      for (let index = 0; index < 230; index += 1) {
        github.reportCheck(repository, { sha, name: `job ${index}`, status: 'completed', conclusion: 'success' });
      }
    }
    const question = { repository: APP, branches: ['main'], since: Date.now() };
    await hosting.findByBranch(APP, 'warm-up');
    const tested = () => hosting.poll({ ...question, entries: [], commits: prs.map(shaOf) });
    assert.deepEqual(pluck([...(await tested()).checks.values()], 'length'), [230, 230, 230]);
    assert.equal(await countCalls(tested), 3);
    const waiting = () => hosting.poll({ ...question, entries: prs.map(numberOf), commits: [] });
    // The poll, the block reasons, and two further pages.
    assert.equal(await countCalls(waiting), 4);
  });

  it('blocked entries cost one more question, and none while they stay as they are [G127]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    github.addRuleset(repository, { rules: [{ type: 'pull_request', approvals: 1 }] });
    const prs = [await github.openPullRequest(repository), await github.openPullRequest(repository)];
    const ask = () =>
      hosting.poll({
        repository: APP,
        branches: ['main'],
        entries: prs.map(numberOf),
        commits: [],
        since: Date.now(),
      });
    assert.deepEqual(
      [...(await ask()).pullRequests.values()].map((pr) => pr?.blockReasons),
      [['reviewRequired'], ['reviewRequired']],
    );
    assert.equal(await countCalls(ask), 1);
    github.review(prs[0] as PullRequest, 'ada', 'CHANGES_REQUESTED');
    assert.equal(await countCalls(ask), 2);
    assert.deepEqual(
      [...(await ask()).pullRequests.values()].map((pr) => pr?.blockReasons),
      [['changesRequested'], ['reviewRequired']],
    );
    // A change that no polled field shows is found some polls later.
    let calls = 0;
    for (let looks = 0; looks < 10; looks += 1) calls += await countCalls(ask);
    assert.equal(calls, 12);
  });

  it('a poll that is too much for GitHub is made in parts the next time', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const prs: PullRequest[] = [];
    for (let index = 0; index < 12; index += 1) prs.push(await github.openPullRequest(repository));
    const entries = [...prs.map(numberOf), ...Array.from({ length: 50 }, (_, index) => (900 + index) as PrNumber)];
    const ask = () => hosting.poll({ repository: APP, branches: [], entries, commits: [], since: Date.now() });
    github.faults.times(3, 'POST /graphql PollRepository', { kind: 'error', status: 502, when: 'before' });
    await assert.rejects(ask, /GitHub answered 502/);
    assert.equal(await countCalls(ask), 2);
    assert.equal((await ask()).pullRequests.size, 62);
  });

  const TOO_MUCH = {
    kind: 'answer',
    when: 'before',
    answer: {
      status: 200,
      body: {
        data: { repository: null },
        errors: [{ type: 'RESOURCE_LIMITS_EXCEEDED', message: 'Resource limits for this query exceeded.' }],
      },
    },
  } as const;

  it('a poll that costs GitHub too much is made in parts, commits too, and whole again after many that went well [G134]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const pr = await github.openPullRequest(repository);
    const commits = Array.from({ length: 12 }, (_, index) => String(index).padStart(40, '0') as Sha);
    const question = { repository: APP, branches: [], entries: [numberOf(pr)], commits, since: Date.now() };
    const ask = () => hosting.poll(question);
    await ask();
    github.faults.once('POST /graphql PollRepository', TOO_MUCH);
    await assert.rejects(ask, /Resource limits for this query exceeded/);
    assert.equal(await countCalls(ask), 2);
    for (let looks = 2; looks < 30; looks += 1) await ask();
    assert.equal(await countCalls(ask), 2);
    assert.equal(await countCalls(ask), 1);
  });

  it('details and checks that are too much for GitHub are asked for in halves [G134]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const prs: PullRequest[] = [];
    for (let index = 0; index < 3; index += 1) prs.push(await github.openPullRequest(repository));
    await hosting.findByBranch(APP, 'warm-up');
    for (const [query, ask] of [
      ['ReadPullRequests', async () => (await hosting.findPullRequests(APP, prs.map(numberOf))).size],
      ['ReadChecks', async () => (await hosting.readChecks(APP, prs.map(shaOf))).size],
    ] as const) {
      github.faults.once(`POST /graphql ${query}`, TOO_MUCH);
      assert.equal(await countCalls(async () => assert.equal(await ask(), 3)), 3);
      const stop = github.faults.always(`POST /graphql ${query}`, TOO_MUCH);
      await assert.rejects(ask, /Resource limits for this query exceeded/);
      stop();
    }
  });
});

describe('comments on GitHub', () => {
  function questionOf(
    pr: PullRequest,
    comment: { readonly id: number; readonly nodeId: string },
    author?: string,
  ): CommentQuestion {
    return {
      repository: APP,
      number: numberOf(pr),
      id: String(comment.id),
      nodeId: comment.nodeId,
      ...(author && { author }),
    };
  }

  it('a command is read with its author’s permission and the pull request in one question [G19]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const pr = await github.openPullRequest(repository, { author: 'ada' });
    const comment = github.comment(pr, 'ada', '/sluice merge');
    const read = await hosting.readComment(questionOf(pr, comment, 'ada'));
    assert.equal(read?.body, '/sluice merge');
    assert.deepEqual(read?.author, { login: 'ada', isBot: false, isOwn: false });
    assert.equal(read?.permission, 'write');
    assert.equal(read?.isEdited, false);
    assert.equal(read?.pr.headSha, pr.headSha);
    assert.equal(await countCalls(() => hosting.readComment(questionOf(pr, comment, 'ada'))), 1);
  });

  it('the true author’s permission counts, not that of the name in the delivery [G19]', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const comment = github.comment(pr, 'eve', '/sluice merge');
    for (const hint of ['ada', undefined, 'eve', 'some[bot]']) {
      const read = await hosting.readComment(questionOf(pr, comment, hint));
      assert.equal(read?.author.login, 'eve');
      assert.ok(read?.permission === 'none' || read?.permission === 'read', read?.permission);
    }
    github.setPermission(repository, 'eve', 'write');
    assert.equal((await hosting.readComment(questionOf(pr, comment)))?.permission, 'write');
  });

  it('an edited comment says so, and one that is gone or of another pull request is none', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const other = await github.openPullRequest(repository);
    const comment = github.comment(pr, 'ada', 'hello');
    assert.equal(await hosting.readComment(questionOf(other, comment)), undefined);
    github.editComment(pr, comment, '/sluice merge');
    assert.equal((await hosting.readComment(questionOf(pr, comment)))?.isEdited, true);
    github.deleteComment(pr, comment);
    assert.equal(await hosting.readComment(questionOf(pr, comment, 'ada')), undefined);
  });

  it('a comment is written, changed in place, found again, and known as ours [G105]', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const draft = { repository: APP, number: numberOf(pr) };
    const marker = '<!-- sluice:queue -->';
    github.comment(pr, 'eve', `${marker} I am the queue`);
    assert.equal(await hosting.findOwnComment({ ...draft, marker }), undefined);
    const written = await hosting.writeComment({ ...draft, id: undefined, text: `${marker} one` });
    assert.deepEqual(await hosting.findOwnComment({ ...draft, marker }), written);
    assert.deepEqual(await hosting.writeComment({ ...draft, id: written?.id, text: `${marker} two` }), written);
    const [, own] = github.listComments(pr);
    assert.equal(own?.body, `${marker} two`);
    assert.ok(own !== undefined);
    const read = await hosting.readComment(questionOf(pr, own));
    assert.deepEqual(read?.author, { login: 'sluice[bot]', isBot: true, isOwn: true });
    assert.equal(read?.permission, 'none');
    github.deleteComment(pr, own);
    assert.equal(await hosting.writeComment({ ...draft, id: written?.id, text: 'three' }), undefined);
  });

  it('a reaction is set once', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const comment = github.comment(pr, 'ada', '/sluice merge');
    await hosting.react(questionOf(pr, comment), '+1');
    await hosting.react(questionOf(pr, comment), '+1');
    assert.equal(comment.reactions.length, 1);
    await hosting.react(questionOf(pr, { id: 999_999, nodeId: 'IC_x' }), 'eyes');
  });

  it('a permission is asked for by name, and is none for another account that has the name [A66]', async () => {
    const { hosting, github } = await world();
    const ask = (login: string, id?: number) => hosting.findPermission(APP, login, id === undefined ? id : String(id));
    assert.equal(await ask('ada'), 'write');
    assert.equal(await ask('ada', github.user('ada').id), 'write');
    assert.equal(await ask('ada', github.user('max').id), 'none');
    assert.equal(await ask('tess'), 'triage');
    assert.equal(await ask('max'), 'maintain');
    assert.equal(await ask('acme'), 'admin');
    assert.ok(['none', 'read'].includes(await ask('nobody-at-all')));
    assert.equal(await ask('dependabot[bot]'), 'none');
  });
});

describe('labels, checks and branches on GitHub', () => {
  it('a label says whether it is there, and who put it there last', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const question = { repository: APP, number: numberOf(pr), label: 'Queue' };
    assert.equal((await hosting.readLabel(question))?.isPresent, false);
    github.label(pr, 'tess', 'queue');
    const put = await hosting.readLabel(question);
    assert.equal(put?.isPresent, true);
    assert.equal(put?.last?.by.login, 'tess');
    assert.equal(put?.last?.permission, 'triage');
    github.unlabel(pr, 'ada', 'queue');
    const taken = await hosting.readLabel(question);
    assert.equal(taken?.isPresent, false);
    assert.equal(taken?.last?.by.login, 'ada');
    assert.equal(await hosting.readLabel({ ...question, number: 999 as PrNumber }), undefined);
  });

  it('labels are added and removed, again without a change [G105]', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const change = { repository: APP, number: numberOf(pr), add: ['sluice-testing'], remove: ['sluice-queued'] };
    await hosting.changeLabels(change);
    await hosting.changeLabels(change);
    assert.deepEqual(pluck(pr.labels, 'name'), ['sluice-testing']);
    await hosting.changeLabels({ ...change, add: [], remove: ['sluice-testing'] });
    assert.deepEqual(pr.labels, []);
  });

  it('our check is made once, and changed in place [G105]', async () => {
    const { github, repository, hosting, countCalls } = await world();
    const pr = await github.openPullRequest(repository);
    const first = await hosting.writeCheck?.(aCheck(pr));
    // The first answer was lost. The check is found by its external id.
    assert.deepEqual(await hosting.writeCheck?.({ ...aCheck(pr), status: 'IN_PROGRESS' }), first);
    const done = {
      ...aCheck(pr),
      id: first?.id,
      status: 'COMPLETED',
      conclusion: 'SUCCESS',
      completedAt: Date.now(),
    } as const;
    assert.deepEqual(await hosting.writeCheck?.(done), first);
    const checks = github.listChecks(repository, pr.headSha);
    assert.deepEqual(pluck(checks, 'name', 'status', 'conclusion'), [['Sluice (main)', 'completed', 'success']]);
    const fresh = { ...aCheck(pr), externalId: 'q1/1/2', mayExist: false };
    assert.equal(await countCalls(async () => hosting.writeCheck?.(fresh)), 1);
    assert.equal(await hosting.writeCheck?.({ ...aCheck(pr), id: '999999' }), undefined);
  });

  it('our check is a commit status where a token writes it', async () => {
    const { github, repository, hosting } = await world({ auth: 'token' });
    const pr = await github.openPullRequest(repository);
    await hosting.writeCheck?.(aCheck(pr));
    await hosting.writeCheck?.({
      ...aCheck(pr),
      id: 'status',
      status: 'COMPLETED',
      conclusion: 'FAILURE',
      completedAt: Date.now(),
    });
    assert.deepEqual(pluck(repository.statuses, 'context', 'state'), [
      ['Sluice (main)', 'pending'],
      ['Sluice (main)', 'failure'],
    ]);
  });

  it('a pull request is found by its branch', async () => {
    const { github, repository, hosting } = await world();
    const fork = await github.fork(repository, 'eve');
    await github.openPullRequest(repository, { from: fork, branch: 'topic' });
    assert.equal(await hosting.findByBranch(APP, 'topic'), undefined);
    const pr = await github.openPullRequest(repository, { branch: 'topic' });
    assert.equal(await hosting.findByBranch(APP, 'topic'), pr.number);
    await github.commit(repository, { branch: 'release', files: { 'r.txt': 'r' }, message: 'Begin' });
    const other = await github.openPullRequest(repository, { branch: 'topic', base: 'release' });
    assert.equal(await hosting.findByBranch(APP, 'topic', 'release'), other.number);
    assert.equal(await hosting.findByBranch(APP, 'topic', 'none'), pr.number);
    for (const each of [pr, other]) github.closePullRequest(each);
    assert.equal(await hosting.findByBranch(APP, 'topic'), undefined);
  });
});

describe('pull requests that landed under another name', () => {
  it('landed pull requests are closed, and their branches deleted where the repository does so [G105]', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository, { branch: 'topic' });
    const request = {
      repository: APP,
      number: numberOf(pr),
      headSha: shaOf(pr),
      landedSha: shaOf(pr),
      mergeMethod: 'SQUASH' as const,
    };
    await hosting.settleLanded(request);
    assert.equal(pr.state, 'closed');
    assert.ok(repository.refs.has('refs/heads/topic'));
    repository.settings.deleteBranchOnMerge = true;
    await hosting.settleLanded(request);
    assert.equal(repository.refs.has('refs/heads/topic'), false);
    await hosting.settleLanded(request);
  });

  it('a landed pull request that was pushed to since stays open', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const headSha = shaOf(pr);
    await github.push(pr, { 'more.txt': 'more\n' });
    await hosting.settleLanded({
      repository: APP,
      number: numberOf(pr),
      headSha,
      landedSha: headSha,
      mergeMethod: 'SQUASH',
    });
    assert.equal(pr.state, 'open');
  });

  it('a branch that another pull request is based on stays', async () => {
    const { github, repository, hosting } = await world();
    repository.settings.deleteBranchOnMerge = true;
    const pr = await github.openPullRequest(repository, { branch: 'lower' });
    await github.openPullRequest(repository, { branch: 'upper', base: 'lower' });
    await hosting.settleLanded({
      repository: APP,
      number: numberOf(pr),
      headSha: shaOf(pr),
      landedSha: shaOf(pr),
      mergeMethod: 'SQUASH',
    });
    assert.equal(pr.state, 'closed');
    assert.ok(repository.refs.has('refs/heads/lower'));
  });
});

describe('when GitHub has a bad day', () => {
  it('several installations are asked at once, each with a token and a budget of its own [G8]', async () => {
    const { github, client, hosting } = await world();
    const beta = await github.createRepository('beta/tool', { isPrivate: true });
    const pr = await github.openPullRequest(beta, { branch: 'topic' });
    const tool = { ...APP, id: 'r2', owner: 'beta', name: 'tool' };
    await assert.rejects(hosting.findByBranch(tool, 'topic'), /not installed on beta\/tool/);
    github.install(github.app, 'beta', { repositories: [beta] });
    const [one, two] = await Promise.all([hosting.findByBranch(APP, 'topic'), hosting.findByBranch(tool, 'topic')]);
    assert.deepEqual([one, two], [undefined, pr.number]);
    assert.notEqual(await client.installationToken(APP), await client.installationToken(tool));
    const used = (installation: Installation) => github.limits.find(`installation ${installation.id}`, 'graphql').used;
    assert.deepEqual([...github.world.installations.values()].map(used), [1, 1]);
  });

  it('a comment whose answer was lost is there once, and found [G105]', async () => {
    const { github, repository, hosting } = await world();
    const pr = await github.openPullRequest(repository);
    const draft = { repository: APP, number: numberOf(pr) };
    for (const fault of [
      { kind: 'error', status: 502, when: 'after' },
      { kind: 'reset', when: 'after' },
    ] as const) {
      github.faults.once('POST *comments', fault);
      await assert.rejects(hosting.writeComment({ ...draft, id: undefined, text: `<!-- ${fault.kind} -->` }));
      const found = await hosting.findOwnComment({ ...draft, marker: `<!-- ${fault.kind} -->` });
      assert.equal(found?.id, String(github.listComments(pr).at(-1)?.id));
    }
    assert.equal(github.listComments(pr).length, 2);
  });
});
