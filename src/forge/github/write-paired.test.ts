import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createFakeGithub } from '../../../test/fake/github/fake-github.ts';
import { connectHosting } from '../../../test/helpers/github-hosting.ts';
import { ender } from '../../../test/helpers/made.ts';
import type { PrNumber } from '../../engine/model/pull-request.ts';
import type { Sha } from '../../lib/sha.ts';
import type { ForgeRepository } from '../forge.ts';
import type { CheckRunDraft, CommentDraft, PairedAnswers } from '../hosting.ts';

const APP: ForgeRepository = { id: 'r1', host: 'github.com', owner: 'acme', name: 'app', git: undefined, checks: [] };
const WRITE_PAGE = 'POST /graphql WritePage';

const end = ender();

async function world(options: { readonly auth?: 'token'; readonly isRead?: false } = {}) {
  const github = await createFakeGithub();
  const repository = await github.createRepository('acme/app', { roles: { ada: 'write' } });
  const installation = github.install(github.app, 'acme');
  const pr = await github.openPullRequest(repository);
  const { client, hosting } = connectHosting(github, options.auth);
  end(github, client);
  const number = pr.number as PrNumber;
  if (options.isRead !== false) await hosting.findPullRequests(APP, [number]);
  await client.resolve(APP);
  const comment: CommentDraft = { repository: APP, number, id: undefined, text: '<!-- us --> one' };
  const check: CheckRunDraft = {
    repository: APP,
    id: undefined,
    mayExist: false,
    headSha: pr.headSha as Sha,
    name: 'Sluice (main)',
    externalId: 'q1/1/1',
    status: 'IN_PROGRESS',
    conclusion: undefined,
    title: 'In the queue',
    summary: 'It waits.',
    url: undefined,
    startedAt: Date.parse('2026-03-01T12:00:00Z'),
    completedAt: undefined,
  };
  const ended = {
    status: 'COMPLETED',
    conclusion: 'SUCCESS',
    completedAt: Date.parse('2026-03-01T13:00:00Z'),
  } as const;
  const started = github.world.requests.length;
  return {
    github,
    repository,
    installation,
    hosting,
    pr,
    comment,
    check,
    ended,
    texts: () => github.listComments(pr).map(({ body }) => body),
    checks: () => github.listChecks(repository, pr.headSha).map(({ status, conclusion }) => `${status} ${conclusion}`),
    /** Names of the requests since the start of the test. */
    asked: () =>
      github.world.requests
        .slice(started)
        .map(({ route, query }) => (query === undefined ? route : `${route} ${query}`)),
  };
}

function done({ comment, check }: PairedAnswers) {
  assert.ok(comment.status === 'fulfilled' && check.status === 'fulfilled', JSON.stringify({ comment, check }));
  return { comment: comment.value, check: check.value };
}

describe('a comment and a check as one act', () => {
  it('a comment and a check are made, and changed, with one request each [G106] [G45] [G48]', async () => {
    const { github, repository, hosting, pr, comment, check, ended, texts, checks, asked } = await world();
    const made = done(await hosting.writePaired({ comment, check }));
    const [ownComment, ownCheck] = [github.listComments(pr)[0], github.listChecks(repository, pr.headSha)[0]];
    assert.deepEqual(made, {
      comment: { id: String(ownComment?.id), nodeId: ownComment?.nodeId },
      check: { id: String(ownCheck?.id), nodeId: ownCheck?.nodeId },
    });
    const changed = await hosting.writePaired({
      comment: { ...comment, ...made.comment, text: '<!-- us --> two' },
      check: { ...check, ...made.check, ...ended },
    });
    assert.deepEqual(done(changed), made);
    assert.deepEqual([texts(), checks()], [['<!-- us --> two'], ['completed success']]);
    assert.deepEqual(
      [ownCheck?.externalId, ownCheck?.title, ownCheck?.summary, ownCheck?.startedAt, ownCheck?.completedAt],
      ['q1/1/1', 'In the queue', 'It waits.', check.startedAt, ended.completedAt],
    );
    assert.deepEqual(asked(), [WRITE_PAGE, WRITE_PAGE]);
    const words = { comment: { ...comment, ...made.comment }, check: { ...check, externalId: 'q1/1/2' } };
    done(await hosting.writePaired(words));
    assert.equal(checks().length, 2);
    assert.deepEqual(asked(), [WRITE_PAGE, WRITE_PAGE, WRITE_PAGE]);
  });

  it('writes without the names GraphQL wants are sent one by one [G106]', async () => {
    const { hosting, comment, check, ended, texts, checks, asked } = await world({ isRead: false });
    const made = done(await hosting.writePaired({ comment, check }));
    assert.ok(made.comment?.nodeId && made.check?.nodeId);
    const old = { comment: { ...comment, id: made.comment.id }, check: { ...check, id: made.check.id, ...ended } };
    assert.deepEqual(done(await hosting.writePaired(old)), made);
    assert.deepEqual([texts().length, checks()], [1, ['completed success']]);
    assert.ok(!asked().includes(WRITE_PAGE));
  });

  it('a forbidden write says so, and keeps the other from nothing [G49]', async () => {
    const { github, installation, hosting, comment, check, texts, checks } = await world();
    const { permissions } = installation;
    const { checks: _, ...unchecked } = permissions;
    github.grant(installation, unchecked);
    const first = await hosting.writePaired({ comment, check });
    assert.equal(first.comment.status, 'fulfilled');
    assert.match(reasonOf(first.check), /may not do this on acme\/app/);
    const { issues: __, ...silent } = permissions;
    const other = await world();
    other.github.grant(other.installation, { ...silent, pull_requests: 'read' });
    const second = await other.hosting.writePaired({ comment: other.comment, check: other.check });
    assert.match(reasonOf(second.comment), /may not do this on acme\/app/);
    assert.equal(second.check.status, 'fulfilled');
    assert.deepEqual([texts().length, checks().length, other.texts().length, other.checks().length], [1, 0, 0, 1]);
  });

  it('a lost answer is a fault of both, and neither is made twice [G106] [G144]', async () => {
    for (const fault of [
      { kind: 'error', status: 502, when: 'after' },
      { kind: 'reset', when: 'after' },
    ] as const) {
      const { github, hosting, comment, check, texts, checks, asked } = await world();
      github.faults.once(WRITE_PAGE, fault);
      const lost = await hosting.writePaired({ comment, check });
      assert.deepEqual([lost.comment.status, lost.check.status], ['rejected', 'rejected']);
      assert.deepEqual(asked(), [WRITE_PAGE]);
      const found = await hosting.findOwnComment({ ...comment, marker: '<!-- us -->' });
      assert.ok(found);
      done(await hosting.writePaired({ comment: { ...comment, ...found }, check: { ...check, mayExist: true } }));
      assert.deepEqual([texts().length, checks().length], [1, 1]);
    }
  });

  it('an unanswered part is a fault of that part only [G49]', async () => {
    const { github, hosting, comment, check, asked } = await world();
    const node = { id: 'IC_1', fullDatabaseId: '1' };
    const errors = [{ path: ['check'], message: 'Something went wrong while executing your query.' }];
    const body = { data: { comment: { commentEdge: { node } }, check: null }, errors };
    github.faults.once(WRITE_PAGE, { kind: 'answer', answer: { status: 200, body }, when: 'before' });
    const answers = await hosting.writePaired({ comment, check });
    assert.deepEqual(answers.comment, { status: 'fulfilled', value: { id: '1', nodeId: 'IC_1' } });
    assert.match(reasonOf(answers.check), /what became of the check: Something went wrong/);
    assert.deepEqual(asked(), [WRITE_PAGE]);
  });

  it('a server that does not know the words is asked in the old way', async () => {
    const { github, hosting, comment, check, texts, checks } = await world();
    const errors = [{ path: ['mutation WritePage', 'check'], message: "Field 'createCheckRun' doesn't exist" }];
    github.faults.once(WRITE_PAGE, { kind: 'answer', answer: { status: 200, body: { errors } }, when: 'before' });
    done(await hosting.writePaired({ comment, check }));
    assert.deepEqual([texts().length, checks().length], [1, 1]);
  });

  it('a pair that a limit stopped halfway is finished, and its first part is not done again [G8] [G106]', async () => {
    const { github, hosting, comment, check, texts, checks } = await world();
    const node = { id: 'IC_1', fullDatabaseId: '1' };
    const errors = [{ type: 'RATE_LIMITED', path: ['check'], message: 'API rate limit exceeded.' }];
    const body = { data: { comment: { commentEdge: { node } }, check: null }, errors };
    const headers = { 'retry-after': '1' };
    github.faults.once(WRITE_PAGE, { kind: 'answer', answer: { status: 200, body, headers }, when: 'before' });
    done(await hosting.writePaired({ comment, check }));
    assert.deepEqual([texts().length, checks().length], [0, 1]);
  });

  it('a comment that is gone says so, beside a check that is not [G49]', async () => {
    const { github, hosting, pr, repository, comment, check, ended, checks, texts } = await world();
    const made = done(await hosting.writePaired({ comment, check }));
    const [own] = github.listComments(pr);
    assert.ok(own);
    github.deleteComment(pr, own);
    const drafts = { comment: { ...comment, ...made.comment }, check: { ...check, ...made.check, ...ended } };
    assert.deepEqual(done(await hosting.writePaired(drafts)), { comment: undefined, check: made.check });
    assert.deepEqual(checks(), ['completed success']);
    repository.checks.splice(0);
    const again = done(await hosting.writePaired({ comment, check: drafts.check }));
    assert.equal(again.check, undefined);
    assert.deepEqual(texts().length, 1);
  });
});

function reasonOf(result: PairedAnswers['comment']): string {
  return result.status === 'rejected' ? String(result.reason) : assert.fail('It was done.');
}
