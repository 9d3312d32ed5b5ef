import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createQueue, useServer } from '../../../test/e2e/test-queue.ts';
import { madeOnce } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import type { EntryView, ListEntryView } from '../../app/queue/entry-view.ts';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

describe('pull requests over /v1', () => {
  const world = useServer();
  const queue = madeOnce(() => world.aQueue());

  test('submitPullRequest answers the whole record', async () => {
    const number = await queue.openPullRequest({ 'shape.txt': 'x\n' });
    const { id, stateChangedAt, prTitle, ...rest } = await queue.submit(number);
    assert.match(id ?? '', UUID);
    assert.match(stateChangedAt, INSTANT);
    assert.match(prTitle, /^Change \d+$/);
    assert.deepEqual(rest, {
      state: 'TESTING',
      priorityValue: 100,
      priorityName: 'medium',
      usedDefaultPriorityName: 'medium',
      skipTheLine: false,
      noBatch: false,
      prNumber: number,
      prSha: await queue.headOf(number),
      prBaseBranch: 'main',
      prAuthor: 'Grace',
      readiness: {
        hasImpactedTargets: false,
        requiresImpactedTargets: false,
        doesBaseBranchMatch: true,
        gitHubMergeability: 'MERGEABLE',
      },
      forceEnqueued: false,
      isCurrentlySubmittedToQueue: true,
      verifiedByTestRun: null,
      submittedBy: { name: 'admin', isAgent: false },
    });
  });

  test('getSubmittedPullRequest answers the same record as the submission', async () => {
    const number = await queue.openPullRequest();
    assert.deepEqual(await queue.submit(number), await queue.get(number));
  });

  test('a submission that names its head is refused for another one, and changes nothing [E16]', async () => {
    const number = await queue.openPullRequest();
    const seen = await queue.headOf(number);
    await queue.push(number);
    const head = await queue.headOf(number);
    const submission = (sha: string) => ({ ...queue.ref, pr: { number, sha }, priority: 'high' });
    const { detail } = await queue.api.refused(
      '422 PULL_REQUEST_NOT_ENQUEUEABLE',
      'submitPullRequest',
      submission(seen),
    );
    assert.ok(detail.includes(seen) && detail.includes(head), detail);
    await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(number));
    await queue.api.refused('400 VALIDATION_FAILED', 'submitPullRequest', submission(head.slice(0, 12)));
    const entry = await queue.api.ok<EntryView>('submitPullRequest', submission(head.toUpperCase()));
    assert.deepEqual([entry.prSha, entry.priorityName], [head, 'high']);
    await queue.api.refused('422 PULL_REQUEST_NOT_ENQUEUEABLE', 'submitPullRequest', {
      ...submission(seen),
      priority: 'low',
    });
    assert.equal((await queue.get(number)).priorityName, 'high');
  });

  test('pr.number may be a string of digits', async () => {
    const number = await queue.openPullRequest();
    const entry = await queue.api.ok<EntryView>('submitPullRequest', { ...queue.ref, pr: { number: String(number) } });
    assert.equal(entry.prNumber, number);
  });

  for (const [given, value, name] of [
    ['urgent', 0, 'urgent'],
    ['HIGH', 10, 'high'],
    ['Medium', 100, 'medium'],
    ['low', 200, 'low'],
    [255, 255, '255'],
    ['7', 7, '7'],
    [0, 0, 'urgent'],
  ] as const) {
    test(`priority ${JSON.stringify(given)} is ${value}, named ${name}`, async () => {
      const entry = await queue.submit(await queue.openPullRequest(), { priority: given });
      assert.deepEqual(
        [entry.priorityValue, entry.priorityName, entry.skipTheLine, entry.usedDefaultPriorityName],
        [value, name, value === 0, undefined],
      );
    });
  }

  test('submitting again updates priority and noBatch', async () => {
    const number = await queue.submitOne();
    const entry = await queue.submit(number, { priority: 'high', noBatch: true });
    assert.deepEqual([entry.priorityName, entry.noBatch, entry.state], ['high', true, 'PENDING']);
    assert.deepEqual(await queue.get(number), entry);
  });

  test('submitting again without priority and noBatch leaves them as they are', async () => {
    const number = await queue.openPullRequest();
    await queue.submit(number, { priority: 'low', noBatch: true });
    for (const more of [{}, { priority: null }]) {
      const entry = await queue.submit(number, more);
      assert.deepEqual([entry.priorityName, entry.noBatch], ['low', true]);
    }
    assert.equal((await queue.submit(number, { noBatch: false })).noBatch, false);
  });

  test('a pull request that does not exist cannot be submitted [E18]', async () => {
    const problem = await queue.api.refused(
      '404 PULL_REQUEST_NOT_FOUND',
      'submitPullRequest',
      queue.entry(4_294_967_295),
    );
    assert.match(problem.detail, /refs\/pull\/4294967295\/head/);
  });

  test('a pull request that is already merged cannot be submitted [E18]', async () => {
    const merged = await createQueue(world.server.api);
    const number = await merged.openPullRequest();
    await merged.git.landPullRequest(number as never, 'main');
    await merged.api.refused('422 PULL_REQUEST_NOT_ENQUEUEABLE', 'submitPullRequest', merged.entry(number));
    await merged.close();
  });

  test('cancelPullRequest takes it out of the queue, and a second time changes nothing', async () => {
    const number = await queue.submitOne();
    const entry = await queue.api.ok<EntryView>('cancelPullRequest', queue.entry(number));
    assert.deepEqual([entry.state, entry.isCurrentlySubmittedToQueue], ['CANCELLED', false]);
    const note = `Pull request #${number} was cancelled already.`;
    assert.deepEqual(await queue.api.ok('cancelPullRequest', queue.entry(number)), { ...entry, note });
    const { timeline } = await queue.get(number, { includeTimeline: true });
    assert.equal(timeline?.filter((step) => step.state === 'CANCELLED').length, 1);
    const listed = (await queue.getQueue()).enqueuedPullRequests;
    assert.ok(!listed.some((each) => each.prNumber === number));
  });

  test('one never submitted is not found by cancel, restart and get', async () => {
    const number = await queue.openPullRequest();
    for (const operation of ['cancelPullRequest', 'restartTestsOnPullRequest', 'getSubmittedPullRequest']) {
      await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', operation, queue.entry(number));
    }
  });

  test('submitting a cancelled one again keeps its id and begins a new section of its timeline', async () => {
    const number = await queue.openPullRequest();
    const first = await queue.submit(number, { priority: 'high' });
    await queue.api.ok('cancelPullRequest', queue.entry(number));
    const second = await queue.submit(number);
    assert.deepEqual([second.id, second.state, second.isCurrentlySubmittedToQueue], [first.id, 'PENDING', true]);
    const { timeline } = await queue.get(number, { includeTimeline: true });
    assert.deepEqual(pluck(timeline, 'state', 'reason'), [
      ['PENDING', 'MERGE_ITEM_NOW_READY'],
      ['NOT_READY', 'API_REQUESTED'],
      ['CANCELLED', 'USER_REQUESTED'],
      ['PENDING', 'MERGE_ITEM_NOW_READY'],
      ['NOT_READY', 'API_REQUESTED'],
    ]);
  });

  test('the timeline is newest first and names who did it', async () => {
    const number = await queue.submitOne();
    await queue.api.ok('cancelPullRequest', queue.entry(number));
    const { timeline = [] } = await queue.get(number, { includeTimeline: true });
    const instants = timeline.map((step) => step.at);
    assert.deepEqual(instants, instants.toSorted().toReversed());
    for (const step of timeline) {
      assert.match(step.at, INSTANT);
      assert.match(step.text, /(\.| \[[A-Z_]+\])$/);
    }
    assert.deepEqual(pluck(timeline, 'actor'), ['admin', undefined, 'admin']);
    assert.equal((await queue.get(number)).timeline, undefined);
  });

  test('the explanation says where a pending entry stands', async () => {
    const own = await createQueue(world.server.api, { concurrency: 1 });
    const [first, second] = [await own.openPullRequest(), await own.openPullRequest()];
    await own.submit(first);
    await own.submit(second);
    const { explanation } = await own.get(second, { includeExplanation: true });
    assert.equal(explanation?.position, 2);
    assert.match(explanation?.summary ?? '', /number 2 of 2/);
    assert.match(explanation?.next ?? '', /\.$/);
    assert.deepEqual(
      explanation?.reasons.map((reason) => [reason.code, reason.reasons.map((inner) => [inner.code, inner.prNumber])]),
      [['WAITING_FOR_SLOT', [['WAITING_FOR', first]]]],
    );
    assert.equal((await own.get(second)).explanation, undefined);
    await own.close();
  });

  test('pr.branch finds nothing on plain git', async () => {
    const body = { ...queue.ref, pr: { branch: 'feature' } };
    await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', body);
  });

  test('restartTestsOnPullRequest is refused while there are no tests', async () => {
    const own = await createQueue(world.server.api, { state: 'PAUSED' });
    const number = await own.submitOne();
    await own.api.refused('409 TESTS_NOT_RESTARTABLE', 'restartTestsOnPullRequest', own.entry(number));
    await own.api.ok('cancelPullRequest', own.entry(number));
    await own.api.refused('409 PULL_REQUEST_NOT_IN_QUEUE', 'restartTestsOnPullRequest', own.entry(number));
    await own.close();
  });

  test('getSubmittedPullRequests answers in the order asked for, each once, and names the unknown', async () => {
    const [a, b] = [await queue.openPullRequest(), await queue.openPullRequest()];
    await queue.submit(a);
    await queue.submit(b);
    await queue.api.ok('cancelPullRequest', queue.entry(b));
    const prs = [{ number: 999 }, { number: b }, { number: String(a) }, { number: b }];
    const answer = await queue.api.ok<{ pullRequests: EntryView[]; notFound: number[] }>('getSubmittedPullRequests', {
      ...queue.ref,
      prs,
      includeTimeline: true,
    });
    assert.deepEqual(answer.pullRequests, [
      await queue.get(b, { includeTimeline: true }),
      await queue.get(a, { includeTimeline: true }),
    ]);
    assert.deepEqual(answer.notFound, [999]);
  });

  test('getMergeQueueTestingDetails: all in progress, or one that is unknown [C37]', async () => {
    const own = await createQueue(world.server.api);
    const { testRuns } = await own.api.ok<{ testRuns: object[] }>('getMergeQueueTestingDetails', own.ref);
    assert.deepEqual(testRuns, []);
    const body = { ...own.ref, testRunId: 'f9c2bd32-5be5-4b0e-9d4c-b2b3d2a1f001-bisection' };
    await own.api.refused('404 TEST_RUN_NOT_FOUND', 'getMergeQueueTestingDetails', body);
    await own.close();
  });

  test('listMergeQueueTestingResults answers a page', async () => {
    const since = new Date(Date.now() - 45 * 86_400_000 + 60_000).toISOString();
    const until = new Date(Date.now() - 44 * 86_400_000).toISOString();
    const answer = await queue.api.ok('listMergeQueueTestingResults', { ...queue.ref, since, until });
    assert.deepEqual(answer, { testingResults: [], totalItems: 0 });
    const tooLong = { ...queue.ref, since: '2020-01-01T00:00:00Z' };
    await queue.api.refused('400 VALIDATION_FAILED', 'listMergeQueueTestingResults', tooLong);
  });

  test('maxEntriesPerActor counts by token, not by name or author [E97] [E98]', async () => {
    const own = await world.aQueue({ maxEntriesPerActor: 1 });
    const twins = [];
    for (const name of ['twin', 'twin']) {
      const { token } = await own.api.ok<{ token: string }>('createApiToken', { name, scopes: ['read', 'submit'] });
      twins.push(own.api.withToken(token));
    }
    const numbers = [await own.openPullRequest(), await own.openPullRequest(), await own.openPullRequest()];
    const states = [];
    for (const [index, api] of [twins[0], twins[0], twins[1]].entries())
      states.push((await api?.ok<EntryView>('submitPullRequest', own.entry(numbers[index] as number)))?.state);
    assert.deepEqual(states, ['TESTING', 'NOT_READY', 'TESTING']);
    const { explanation } = await own.get(numbers[1] as number, { includeExplanation: true });
    assert.match(explanation?.summary ?? '', /It waits: twin has 1 of at most 1 entry in the queue/);
    await own.api.ok('cancelPullRequest', own.entry(numbers[0] as number));
    assert.equal((await own.get(numbers[1] as number)).state, 'TESTING');
  });

  describe('a list of pull requests', () => {
    const own = madeOnce(() => world.aQueue());
    const numbers: number[] = [];
    before(async () => {
      for (let index = 0; index < 5; index++) {
        const number = await own.openPullRequest();
        numbers.push(number);
        await own.submit(number);
      }
      await own.api.ok('cancelPullRequest', own.entry(numbers[1] as number));
    });

    const list = (more: object) =>
      own.api.ok<{ pullRequests: ListEntryView[]; nextCursor?: string }>('listPullRequests', { ...own.ref, ...more });
    const numbersOf = async (more: object) => (await list(more)).pullRequests.map((entry) => entry.prNumber);

    test('has the short form of every entry, the latest submission first', async () => {
      const { pullRequests, nextCursor } = await list({});
      assert.equal(nextCursor, undefined);
      assert.deepEqual(pluck(pullRequests, 'prNumber'), numbers.toReversed());
      const {
        readiness: _r,
        forceEnqueued: _f,
        isCurrentlySubmittedToQueue: _i,
        verifiedByTestRun: _v,
        submittedBy: _s,
        ...short
      } = await own.get(numbers[4] as number);
      assert.deepEqual(pullRequests[0], short);
    });

    test('is filtered by state, in either case', async () => {
      assert.deepEqual(await numbersOf({ state: 'CANCELLED' }), [numbers[1]]);
      assert.deepEqual(await numbersOf({ state: 'cancelled' }), [numbers[1]]);
      assert.deepEqual(await numbersOf({ state: 'MERGED' }), []);
      assert.equal((await numbersOf({ state: 'TESTING' })).length, 4);
    });

    test('is filtered by when they left, both bounds inclusive', async () => {
      const { stateChangedAt } = await own.get(numbers[1] as number);
      const later = new Date(Date.parse(stateChangedAt) + 1).toISOString();
      assert.deepEqual(await numbersOf({ since: stateChangedAt, until: stateChangedAt }), [numbers[1]]);
      assert.deepEqual(await numbersOf({ since: later }), []);
      assert.deepEqual(await numbersOf({ until: later }), [numbers[1]]);
      const reversed = { ...own.ref, since: later, until: stateChangedAt };
      await own.api.refused('400 VALIDATION_FAILED', 'listPullRequests', reversed);
    });

    test('goes on at the cursor until there is none', async () => {
      const seen: number[] = [];
      let cursor: string | undefined;
      do {
        const page = await list({ take: 2, ...(cursor === undefined ? {} : { cursor }) });
        assert.ok(page.pullRequests.length <= 2);
        seen.push(...page.pullRequests.map((entry) => entry.prNumber));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      assert.deepEqual(seen, numbers.toReversed());
    });
  });

  describe('impacted targets', () => {
    const setTargets = (number: number, impactedTargets: unknown, sha?: string) =>
      queue.api.ok<EntryView>('setImpactedTargets', {
        ...queue.ref,
        pr: { number, ...(sha === undefined ? {} : { sha }) },
        impactedTargets,
      });

    test('may come before the submission: the record has no state [T4]', async () => {
      const number = await queue.openPullRequest();
      const record = await setTargets(number, ['//a', '//b', '//a']);
      assert.equal(record.isCurrentlySubmittedToQueue, false);
      assert.equal('state' in record, false);
      assert.equal('id' in record, false);
      assert.equal(record.prSha, await queue.headOf(number));
      assert.deepEqual(record.impactedTargets?.count, 2);
      await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'getSubmittedPullRequest', queue.entry(number));
      assert.equal((await queue.submit(number)).impactedTargets?.count, 2);
    });

    test('may name a commit that was never seen, of a pull request that was never seen [T3] [T1]', async () => {
      const record = await setTargets(4_000_000_000, 'ALL', 'AB'.repeat(20));
      assert.deepEqual([record.prSha, record.impactedTargets?.impactsAll], ['ab'.repeat(20), true]);
      await queue.api.refused('404 PULL_REQUEST_NOT_FOUND', 'setImpactedTargets', {
        ...queue.entry(4_000_000_001),
        impactedTargets: [],
      });
    });

    for (const all of ['ALL', 'IMPACTS_ALL']) {
      test(`"${all}" impacts everything [T2]`, async () => {
        const record = await setTargets(await queue.openPullRequest(), all);
        assert.deepEqual([record.impactedTargets?.impactsAll, record.impactedTargets?.count], [true, null]);
      });
    }

    test('100,000 of them are a list, one more counts as ALL, and the record says so [T2]', async () => {
      const number = await queue.openPullRequest();
      const targets = Array.from({ length: 100_000 }, (_, index) => `//t${index}`);
      assert.deepEqual((await setTargets(number, targets)).impactedTargets?.count, 100_000);
      const record = await setTargets(number, [...targets, '//one-more']);
      assert.deepEqual([record.impactedTargets?.impactsAll, record.impactedTargets?.count], [true, null]);
      assert.match(record.impactedTargets?.note ?? '', /100,000/);
    });

    test('the last upload for a commit counts, and an empty list is an upload [T5]', async () => {
      const number = await queue.submitOne();
      await setTargets(number, ['//a', '//b']);
      const entry = await setTargets(number, []);
      assert.deepEqual([entry.impactedTargets?.count, entry.readiness?.hasImpactedTargets], [0, true]);
    });
  });
});
