import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import type {
  BatchFacts,
  CheckResults,
  StoredFailure,
  StoredRun,
  TestChange,
  TestMemory,
} from '../../src/storage/test-ingest.ts';
import type { TestRow } from '../../src/storage/tests.ts';
import { anUpload } from '../helpers/an-upload.ts';
import { pluck } from '../helpers/pluck.ts';
import { aTest, DAY_MS, NOON, storeRepository } from '../helpers/store-rows.ts';
import type { StoreTests } from './store-fixture.ts';
import { anOutcome } from './store-uploads.ts';

export function ingestPromises(tests: StoreTests): void {
  commitPromises(tests);
  batchPromises(tests);
  ignorePromises(tests);
  countPromises(tests);
  timerPromises(tests);
  checkResultPromises(tests);
  forgetPromises(tests);
}

export function aMemory(testNo: number, values: Partial<TestMemory> = {}): TestMemory {
  const rest = { nextCheckAt: null, settingsVersion: 0, lastRunAt: NOON };
  return { testNo, seq: 1, state: '{"a":1}', ...rest, ...values };
}

export function facts(values: Partial<BatchFacts> = {}): BatchFacts {
  return {
    uploadId: randomUUID(),
    branch: 'main',
    sha: 'a'.repeat(40),
    tree: null,
    candidateId: null,
    job: 'unit',
    jobAttempt: null,
    jobName: 'unit',
    jobUrl: null,
    prNumber: null,
    flaw: null,
    ...values,
  };
}

export function aStoredRun(testNo: number, values: Partial<StoredRun> = {}): StoredRun {
  return { testNo, startedAt: NOON, conclusion: 'SUCCESS', durationMs: 1.5, isQuarantined: false, ...values };
}

export function aStoredFailure(row: TestRow, values: Partial<StoredFailure> = {}): StoredFailure {
  const flags = { isBlocking: false, isQuarantined: false, path: '' };
  const texts = { group: 'g', summary: 'expected 2', text: 'expected 2\nat line 3' };
  return { testId: row.id, testNo: row.no, startedAt: NOON, ...flags, ...texts, ...values };
}

export function aChange(repositoryId: RepositoryId, expectedSeq: number, values: Partial<TestChange> = {}): TestChange {
  return { repositoryId, expectedSeq, tests: [], memories: [], failures: [], events: [], ...values };
}

/** The first tests of the repository, numbered from 1, as change 1. */
async function storeTests(store: Store, count: number): Promise<{ id: RepositoryId; rows: readonly TestRow[] }> {
  const { id } = await storeRepository(store);
  const rows = Array.from({ length: count }, (_, index) => aTest(id, { no: index + 1 }));
  const memories = rows.map(({ no }) => aMemory(no));
  assert.equal(await store.testIngest.commit(aChange(id, 0, { tests: rows, memories }), NOON), 1);
  return { id, rows };
}

function commitPromises({ inRepository, inStore }: StoreTests): void {
  inStore('a commit that another writer outdated writes nothing [D7]', async ({ store, testIngest, tests }) => {
    const { id, rows } = await storeTests(store, 1);
    const [row] = rows as [TestRow];
    const change = (expectedSeq: number, name: string) => aChange(id, expectedSeq, { tests: [{ ...row, name }] });
    assert.equal(await testIngest.commit(change(1, 'first'), NOON), 2);
    assert.equal(await testIngest.commit(change(1, 'second'), NOON), undefined);
    assert.equal(await testIngest.commit(change(0, 'second'), NOON), undefined);
    assert.equal(await testIngest.commit(change(9, 'second'), NOON), undefined);
    assert.equal((await tests.find(id, row.id))?.name, 'first');
    assert.equal(await tests.getWatermark(id), 2);
  });

  inRepository('of writers at once one is first', async ({ testIngest, id }) => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => testIngest.commit(aChange(id, 0), NOON)));
    assert.deepEqual(
      answers.filter((answer) => answer !== undefined),
      [1],
    );
  });

  inStore(
    'a new test has the next number and a memory, or nothing is written',
    async ({ store, testIngest, tests }) => {
      const { id } = await storeTests(store, 2);
      const added = (no: number, memories: readonly TestMemory[]) =>
        testIngest.commit(aChange(id, 1, { tests: [aTest(id, { no })], memories }), NOON);
      await assert.rejects(added(4, [aMemory(4)]));
      await assert.rejects(added(2, [aMemory(2)]));
      await assert.rejects(added(3, []));
      assert.equal(await tests.getWatermark(id), 1);
      assert.equal(await added(3, [aMemory(3)]), 2);
    },
  );

  inRepository('tests are loaded with what is remembered of them, by id and by number', async ({ testIngest, id }) => {
    assert.deepEqual(await testIngest.load(id, ['x']), { seq: 0, nextTestNo: 1, known: [] });
    const rows = [1, 2, 3].map((no) =>
      aTest(id, {
        no,
        quarantineOverride: 'ALWAYS_QUARANTINE',
        override: { actor: 'ada', at: NOON, reason: 'why', expiresAt: no === 1 ? null : NOON + no },
        isFlagged: no === 2,
        labels: ['slow', 'é'],
      }),
    );
    const memories = rows.map(({ no }) =>
      aMemory(no, { nextCheckAt: NOON + no, settingsVersion: no, lastRunAt: null }),
    );
    await testIngest.commit(aChange(id, 0, { tests: rows, memories }), NOON);
    const known = rows.map((row, index) => ({ test: row, memory: memories[index] }));
    const [a, , c] = rows as [TestRow, TestRow, TestRow];
    const loaded = await testIngest.load(id, [a.id, 'unknown', c.id, c.id]);
    assert.deepEqual({ ...loaded, known: [] }, { seq: 1, nextTestNo: 4, known: [] });
    assert.equal(await testIngest.countTests(id), loaded.nextTestNo - 1);
    assert.deepEqual(
      loaded.known.toSorted((x, y) => x.test.no - y.test.no),
      [known[0], known[2]],
    );
    assert.deepEqual((await testIngest.loadRange(id, 2, 4)).known, known.slice(1));
    assert.deepEqual((await testIngest.loadRange(id, 4, 99)).known, []);
    assert.deepEqual((await testIngest.load(id, [])).known, []);
  });

  inStore('thousands of new tests are stored at once', async ({ store, testIngest, tests }) => {
    const { id, rows } = await storeTests(store, 3000);
    const { known } = await testIngest.load(
      id,
      rows.map((row) => row.id),
    );
    assert.equal(known.length, 3000);
    assert.equal((await tests.find(id, rows[2999]?.id ?? ''))?.no, 3000);
  });
}

function ignorePromises({ inStore }: StoreTests): void {
  inStore(
    'an upload that is taken back is evidence for nothing, once, also when its runs are counted [U48]',
    async ({ store, testIngest, uploads, uploadWork, tests }) => {
      const { id } = await storeTests(store, 40);
      const upload = await uploads.create(anUpload(id), 0);
      const batch = { facts: facts({ uploadId: upload.id }), runs: [aStoredRun(1), aStoredRun(33)] };
      const ended = anOutcome(upload.id, { counts: { ran: 2, failed: 1 } });
      assert.equal(await testIngest.commit(aChange(id, 1, { batch, upload: ended }), NOON), 2);
      await testIngest.commit(aChange(id, 2, { batch: { facts: facts(), runs: [aStoredRun(2)] } }), NOON);
      const ignore = { uploadId: upload.id, at: NOON + 1, actor: 'ada', reason: 'An outage.' };
      assert.equal(await testIngest.commit(aChange(id, 3, { ignore }), NOON + 1), 4);
      const taken = await uploads.find(upload.id);
      assert.deepEqual([taken?.status, taken?.flaw], ['SKIPPED', 'IGNORED']);
      assert.deepEqual([taken?.counts, taken?.ignored?.actor], [{ ran: 2, failed: 1 }, 'ada']);
      const place = { sha: batch.facts.sha, job: 'unit', exceptUploadId: 'other', beforeSeq: 99, limit: 9 };
      assert.equal(
        (await testIngest.findEarlier(id, place)).some((each) => each.facts.uploadId === upload.id),
        false,
      );
      const [first] = await testIngest.readRuns(id, [1], 0);
      assert.deepEqual([first?.facts.flaw, first?.receivedAt], ['IGNORED', NOON]);
      assert.deepEqual(pluck(await uploadWork.listToRecount(), 'id'), [upload.id]);
      assert.deepEqual(await testIngest.listTestNos(id, upload.id), [1, 33]);
      await testIngest.markCounted(id, 4);
      assert.deepEqual(await testIngest.listTestNos(id, upload.id), [1, 33]);
      await uploadWork.markRecounted(upload.id);
      await testIngest.commit(aChange(id, 4, { ignore: { ...ignore, actor: 'eve' } }), NOON + 2);
      assert.equal((await uploads.find(upload.id))?.ignored?.actor, 'ada');
      assert.deepEqual(await uploadWork.listToRecount(), []);
      const watermark = await tests.getWatermark(id);
      const all = { repositoryId: id, watermark, offset: 0, limit: 9, since: 0, branch: null, conclusion: null };
      const { known } = await testIngest.loadRange(id, 1, 2);
      const { runs } = await tests.listRuns({ ...all, testId: known[0]?.test.id ?? '' });
      assert.deepEqual(pluck(runs, 'flaw'), ['IGNORED'], 'they are shown so [U47]');
    },
  );
}

function batchPromises({ inRepository, inStore }: StoreTests): void {
  inStore(
    'the runs of a test are one list, however many uploads and days they are of',
    async ({ store, testIngest, tests }) => {
      const { id, rows } = await storeTests(store, 2);
      const row = rows[1] as TestRow;
      const expected: { readonly startedAt: number; readonly text: string; readonly branch: string }[] = [];
      for (let no = 0; no < 70; no += 1) {
        const at = NOON + no * 6 * 60 * 60 * 1000;
        // Every other upload is of earlier runs, and two runs of each fail at the same instant.
        const startedAt = at - (no % 2) * 9 * DAY_MS;
        const branch = no % 3 === 0 ? 'main' : `change-${no}`;
        const texts = [`${no} first`, `${no} second`];
        const runs = texts.map(() => aStoredRun(2, { startedAt, conclusion: 'FAILURE' }));
        const failures = texts.map((text) => aStoredFailure(row, { startedAt, text }));
        const passed = [aStoredRun(1, { startedAt }), aStoredRun(2, { startedAt, conclusion: 'SKIPPED' })];
        const batch = { facts: facts({ branch }), runs: [...passed, ...runs] };
        await testIngest.commit(aChange(id, no + 1, { batch, failures }), at);
        for (const text of texts) expected.push({ startedAt, text, branch });
      }
      const newest = expected.toReversed().sort((a, b) => b.startedAt - a.startedAt);
      const query = { repositoryId: id, testId: row.id, watermark: 99, since: 0, branch: null };
      const list = async (values: Partial<Parameters<typeof tests.listRuns>[0]>) => {
        const page = { ...query, conclusion: 'FAILURE', offset: 0, limit: 200, ...values } as const;
        const { totalRows, runs } = await tests.listRuns(page);
        return [totalRows, runs.map(({ startedAt, branch, failureText: text }) => ({ startedAt, text, branch }))];
      };
      assert.deepEqual(await list({}), [140, newest]);
      assert.deepEqual(await list({ offset: 33, limit: 20 }), [140, newest.slice(33, 53)]);
      assert.deepEqual(await list({ offset: 200 }), [140, []]);
      const since = NOON + 5 * DAY_MS;
      const later = newest.filter(({ startedAt }) => startedAt >= since);
      assert.deepEqual(await list({ since }), [later.length, later]);
      const main = newest.filter(({ branch }) => branch === 'main');
      assert.deepEqual(await list({ branch: 'main', limit: 9 }), [main.length, main.slice(0, 9)]);
      assert.equal((await list({ conclusion: null }))[0], 210);
      const count = { passes: 0, failures: later.length, lastRunAt: later[0]?.startedAt };
      assert.deepEqual(await tests.countRuns(id, [{ testId: row.id, since }]), [count]);
      const read = await testIngest.readRuns(id, [2], since);
      assert.equal(read.flatMap(({ runs }) => runs).length, (later.length * 3) / 2);
    },
  );

  inStore(
    'other uploads of a tree and job are found from an instant on, and those of the commit whatever their tree is [F85] [F86]',
    async ({ store, testIngest, tests }) => {
      const { id } = await storeTests(store, 2);
      const [sha, tree] = [randomUUID(), randomUUID()];
      const commit = async (of: Partial<BatchFacts>, at = NOON) => {
        const change = aChange(id, await tests.getWatermark(id), {
          batch: { facts: facts(of), runs: [aStoredRun(1)] },
        });
        return testIngest.commit(change, at);
      };
      const old = await commit({ sha, tree: null }, NOON - 2 * DAY_MS);
      const ofCandidate = { sha: 'other', tree, candidateId: 'c-1' };
      const other = await commit(ofCandidate);
      for (const [of, at] of [
        [{ ...ofCandidate, sha: 'before' }, NOON - 1],
        [{ ...ofCandidate, job: 'lint' }],
        [{ ...ofCandidate, flaw: 'IGNORED' as const }],
        [{ ...ofCandidate, uploadId: 'own' }],
        [{ sha: 'other', tree: 'another' }],
        [{ sha: 'other', tree: null }],
      ] as const) {
        await commit(of, at);
      }
      const same = await commit({ sha, tree });
      const query = { sha, job: 'unit', exceptUploadId: 'own', beforeSeq: 99, limit: 9 };
      const find = async (more: object) => testIngest.findEarlier(id, { ...query, ...more });
      const ofTree = { tree, since: NOON };
      assert.deepEqual(pluck(await find({ ofTree }), 'seq'), [same, other, old]);
      assert.deepEqual(pluck(await find({ ofTree, limit: 2 }), 'seq'), [same, other]);
      assert.deepEqual(pluck(await find({ ofTree, beforeSeq: other }), 'seq'), [old]);
      assert.deepEqual(pluck(await find({}), 'seq'), [same, old]);
      const [, found] = await find({ ofTree });
      assert.deepEqual([found?.facts.tree, found?.facts.candidateId], [tree, 'c-1']);
    },
  );

  inStore(
    'what failed and what passed in an earlier upload is told, failures with their path, also once they are counted',
    async ({ store, testIngest, tests }) => {
      const { id, rows } = await storeTests(store, 40);
      const failed = (testNo: number, startedAt: number) => aStoredRun(testNo, { startedAt, conclusion: 'FAILURE' });
      const failing = [
        { run: failed(33, NOON), path: '' },
        { run: failed(33, NOON + 2), path: null },
        { run: failed(33, NOON + 1), path: 'with coupon' },
        { run: failed(4, NOON), path: '' },
      ];
      const passing = [aStoredRun(33), aStoredRun(33, { startedAt: NOON + 9 }), aStoredRun(5)];
      const batch = { facts: facts({ jobAttempt: 2 }), runs: [...failing.map(({ run }) => run), ...passing] };
      const failures = failing.map(({ run: { testNo, startedAt }, path }) =>
        aStoredFailure(rows[testNo - 1] as TestRow, { startedAt, path }),
      );
      const seq = (await testIngest.commit(aChange(id, 1, { batch, failures }), NOON)) as number;
      const place = { sha: batch.facts.sha, job: 'unit', exceptUploadId: '', beforeSeq: 99, limit: 9 };
      const told = [failing[3], failing[0], failing[2], failing[1]].map((each) => ({
        ...{ testNo: each?.run.testNo, at: each?.run.startedAt, path: each?.path },
      }));
      assert.deepEqual(await testIngest.findEarlier(id, place), [{ seq, facts: batch.facts, failures: told }]);
      const find = async () => [...(await testIngest.findPasses(id, seq, [33, 4, 5, 6]))].sort(([a], [b]) => a - b);
      const passes = [
        [5, NOON],
        [33, NOON + 9],
      ];
      assert.deepEqual(await find(), passes);
      await testIngest.markCounted(id, await tests.getWatermark(id));
      assert.deepEqual(await find(), passes);
      assert.equal((await testIngest.findPasses(id, 999, [5])).size, 0);
      assert.equal((await testIngest.findPasses(id, seq, [])).size, 0);
    },
  );

  inRepository('tests are found by a part of their names', async ({ testIngest, tests, id }) => {
    const none = { parent: null, classname: null, file: null };
    const rows = [
      aTest(id, { ...none, no: 1, name: 'b 100%_Done' }),
      aTest(id, { ...none, no: 2, name: 'a', file: 'src/Ärger.ts' }),
      aTest(id, { ...none, no: 3, name: 'c', classname: 'Done!' }),
      aTest(id, { ...none, no: 4, name: 'a', parent: 'the suite DONE' }),
    ];
    const memories = rows.map(({ no }) => aMemory(no));
    await testIngest.commit(aChange(id, 0, { tests: rows, memories }), NOON);
    const found = async (text: string, limit = 9) => (await tests.search(id, text, limit)).map(({ no }) => no);
    assert.deepEqual(await found('done'), [4, 1, 3]);
    assert.deepEqual(await found('done', 2), [4, 1]);
    assert.deepEqual(await found('ÄRGER'), [2]);
    assert.deepEqual(await found('100%_'), [1]);
    assert.deepEqual(await found('0%d'), []);
    assert.deepEqual(await found('e!'), [3]);
    assert.deepEqual(await found('a\0'), []);
  });
}

function countPromises({ inStore }: StoreTests): void {
  inStore('memories are stored, and refused where another writer was faster', async ({ store, testIngest, tests }) => {
    const { id, rows } = await storeTests(store, 2);
    const memories = [aMemory(2, { seq: 1, state: 'counted' })];
    const storeAt = (expectedSeq: number) => testIngest.storeMemories({ repositoryId: id, expectedSeq, memories });
    assert.equal(await storeAt(0), false);
    assert.equal(await storeAt(1), true);
    assert.equal(await tests.getWatermark(id), 1);
    const { known } = await testIngest.load(id, [rows[1]?.id ?? '']);
    assert.deepEqual(known[0]?.memory, memories[0]);
  });

  inStore('an older memory is not written over one that counts more', async ({ store, testIngest }) => {
    const { id, rows } = await storeTests(store, 1);
    await testIngest.commit(aChange(id, 1, { batch: { facts: facts(), runs: [aStoredRun(1)] } }), NOON);
    const read = (await testIngest.load(id, [rows[0]?.id ?? ''])).known[0]?.memory as TestMemory;
    const counted = aMemory(1, { seq: 2, state: 'counted' });
    const slice = { repositoryId: id, expectedSeq: 2, memories: [counted] };
    assert.equal(await testIngest.storeMemories(slice), true);
    const act = (memory: TestMemory) => testIngest.commit(aChange(id, 2, { memories: [memory] }), NOON);
    assert.equal(await act({ ...read, state: 'act' }), undefined);
    assert.equal(await act({ ...counted, state: 'act' }), 3);
  });
}

function timerPromises({ inRepository }: StoreTests): void {
  inRepository(
    'tests at which something is due are told, the longest due first, of one repository',
    async ({ store, testIngest, testUpkeep, id }) => {
      const other = await storeRepository(store);
      const due = [-1, null, -3, -2, 9, null].map((nextCheckAt, index) => aMemory(index + 1, { nextCheckAt }));
      const rows = due.map(({ testNo }) => aTest(id, { no: testNo }));
      await testIngest.commit(aChange(id, 0, { tests: rows, memories: due }), NOON);
      const theirs = aChange(other.id, 0, { tests: [aTest(other.id)], memories: [aMemory(1, { nextCheckAt: 0 })] });
      await testIngest.commit(theirs, NOON);
      const found = async (limit: number) =>
        (await testUpkeep.listDue(-1, limit)).map(({ repositoryId, testId }) => [repositoryId === id, testId]);
      const expected = [2, 3, 0].map((index) => [true, rows[index]?.id]);
      assert.deepEqual(await found(9), expected);
      assert.deepEqual(await found(2), expected.slice(0, 2));
      const none = due.map((memory) => ({ ...memory, nextCheckAt: null }));
      await testIngest.commit(aChange(id, 1, { memories: none }), NOON);
      assert.deepEqual(await found(9), []);
      await testIngest.commit(aChange(other.id, 1, { memories: [aMemory(1)] }), NOON);
    },
  );

  inRepository(
    'tests that do not follow a version of the settings are told by number',
    async ({ testIngest, testUpkeep, id }) => {
      const memories = [0, 2, 1, 0].map((settingsVersion, index) => aMemory(index + 1, { settingsVersion }));
      const rows = memories.map(({ testNo }) => aTest(id, { no: testNo }));
      await testIngest.commit(aChange(id, 0, { tests: rows, memories }), NOON);
      const ids = (...indexes: number[]) => indexes.map((index) => rows[index]?.id);
      assert.deepEqual(await testUpkeep.listBehind(id, 2, 9), ids(0, 2, 3));
      assert.deepEqual(await testUpkeep.listBehind(id, 2, 2), ids(0, 2));
      assert.deepEqual(await testUpkeep.listBehind(id, 0, 9), ids(1, 2));
    },
  );
}

function checkResultPromises({ inStore }: StoreTests): void {
  inStore('the results of a check are gathered from all uploads tied to it', async ({ store, testIngest }) => {
    const { id } = await storeTests(store, 9);
    const one: CheckResults = {
      candidateId: 'c1',
      check: 'unit',
      isWhole: true,
      problem: null,
      uploadIds: ['u1'],
      testNos: [1, 3],
      failing: [{ testNo: 3, testId: 't3' }],
      at: NOON,
    };
    const two: CheckResults = {
      ...{ ...one, isWhole: false, problem: 'A report ends early.', uploadIds: ['u2'], testNos: [2, 3] },
      ...{ failing: [{ testNo: 2, testId: 't2' }], at: NOON + 1 },
    };
    await testIngest.commit(aChange(id, 1, { checkResults: one }), NOON);
    assert.deepEqual(await testIngest.findCheckResults(id, 'c1', 'unit'), one);
    await testIngest.commit(aChange(id, 2, { checkResults: two }), NOON);
    assert.deepEqual(await testIngest.findCheckResults(id, 'c1', 'unit'), {
      ...two,
      uploadIds: ['u1', 'u2'],
      testNos: [1, 2, 3],
      failing: [...two.failing, ...one.failing],
    });
    assert.equal(await testIngest.findCheckResults(id, 'c1', 'lint'), undefined);
    assert.equal(await testIngest.findCheckResults(id, 'c2', 'unit'), undefined);
  });
}

function forgetPromises({ inRepository }: StoreTests): void {
  inRepository(
    'old runs are forgotten, and tests that no longer run, unless somebody cared for them',
    async ({ testIngest, testUpkeep, tests, id }) => {
      const override = { actor: 'ada', at: 5, reason: '', expiresAt: null };
      const rows = [
        aTest(id, { no: 1, quarantinedAt: 5, status: 'FLAKY' }),
        aTest(id, { no: 2 }),
        aTest(id, { no: 3, quarantineOverride: 'NEVER_QUARANTINE', override }),
        aTest(id, { no: 4, isFlagged: true }),
        aTest(id, { no: 5, ticketUrl: 'https://t/1' }),
        aTest(id, { no: 6, firstSeenAt: 5 }),
      ];
      const memories = rows.map(({ no }) => aMemory(no, { lastRunAt: no === 2 ? NOON : no === 6 ? null : 5 }));
      const runs = rows.map(({ no }) => aStoredRun(no, { startedAt: 5, conclusion: 'FAILURE' }));
      const failures = rows.map((row) => aStoredFailure(row, { startedAt: 5 }));
      const events = rows.map((row) => ({ testId: row.id, at: 5, kind: 'x', actor: null, detail: '{}' }));
      const sha = randomUUID();
      const batch = { facts: facts({ sha }), runs };
      await testIngest.commit(aChange(id, 0, { tests: rows, memories, batch, failures, events }), 6);
      await testIngest.commit(aChange(id, 1, { batch: { facts: facts({ sha }), runs: [aStoredRun(2)] } }), NOON);
      // While runs of a test wait to be counted it stays, whatever is remembered of it.
      while ((await testUpkeep.forget(id, NOON - DAY_MS, 2)) > 0);
      assert.equal((await testIngest.loadRange(id, 1, 99)).known.length, 6);
      await testIngest.markCounted(id, 2);
      const { version } = await tests.listQuarantinedIds(id);
      while ((await testUpkeep.forget(id, NOON - DAY_MS, 2)) > 0);
      const { known, nextTestNo, seq } = await testIngest.loadRange(id, 1, 99);
      assert.deepEqual(
        known.map(({ test }) => test.no),
        [2, 3, 4, 5],
      );
      assert.equal(nextTestNo, 7);
      assert.ok(seq > 2);
      assert.ok((await tests.getQuarantineVersion(id)) > version);
      const page = { repositoryId: id, watermark: 99, offset: 0, limit: 9 };
      const testId = rows[1]?.id ?? '';
      const all = await tests.listRuns({ ...page, testId, since: 0, branch: null, conclusion: null });
      assert.deepEqual(pluck(all.runs, 'startedAt'), [NOON]);
      assert.equal((await tests.listEvents({ ...page, testId })).totalRows, 0);
      assert.equal((await tests.listFailing({ ...page, from: 0, until: NOON })).totalRows, 0);
      assert.equal((await tests.listByStatus({ ...page, status: 'FLAKY' })).totalRows, 0);
      assert.equal(
        (await testIngest.findEarlier(id, { sha, job: 'unit', exceptUploadId: '', beforeSeq: 99, limit: 9 })).length,
        1,
      );
    },
  );
}
