import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { anUpload, someFields } from '../../../test/helpers/an-upload.ts';
import { maker } from '../../../test/helpers/made.ts';
import { pluck } from '../../../test/helpers/pluck.ts';
import { aTest } from '../../../test/helpers/store-rows.ts';
import { settle } from '../../../test/worlds/shell/manual-clock.ts';
import { WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import type { Candidate, CandidateNumber } from '../../engine/model/candidate.ts';
import type { CheckConclusion } from '../../engine/model/check.ts';
import { findCandidate } from '../../engine/model/queue.ts';
import type { QueueSettings } from '../../engine/model/settings.ts';
import { newTestState, type TestState } from '../../flaky/core/state.ts';
import type { TestSettings } from '../../flaky/settings.ts';
import type { Instant } from '../../lib/clock.ts';
import { readTestSettings } from '../../storage/test-codec.ts';
import type { CheckResults } from '../../storage/test-ingest.ts';
import type { TestRow } from '../../storage/tests.ts';
import { candidateIdOf } from '../core/entry-id.ts';
import { decodeCandidate, decodeShownEntry } from '../core/queue-codec.ts';
import { watchLateReports } from './judge-check.ts';

const FLAKY = 'flaky-test';
const SOLID = 'solid-test';
const OVERRIDE = { actor: 'ada', at: 0, reason: 'It is known.', expiresAt: null };
const DECIDED: Partial<TestRow> = { quarantinedAt: 0, quarantineOverride: 'ALWAYS_QUARANTINE', override: OVERRIDE };
/** It is quarantined because of its status, and nobody decided. */
const AUTOMATIC: Partial<TestRow> = { quarantinedAt: 0, quarantineOverride: 'UNSPECIFIED', override: null };
const [FIRST, SECOND, THIRD, FOURTH] = [1, 2, 3, 4].map((number) => number as CandidateNumber) as [
  CandidateNumber,
  CandidateNumber,
  CandidateNumber,
  CandidateNumber,
];

const createWorld = maker((...given: Parameters<typeof WorkerWorld.create>) => WorkerWorld.create(...given));

/** A queue with two tests that are known, and a pull request under test. */
async function beginAnew(settings: Partial<QueueSettings>, ...given: Parameters<typeof createWorld>) {
  const world = await createWorld(...given);
  const judged = new Judged(world);
  await judged.set({ honorQuarantine: 'ON', ...settings });
  await judged.storeTests(FLAKY, SOLID);
  world.worker.start();
  await world.submit();
  await world.clock.pass(10);
  return { world, judged };
}

/** The same, on which one pull request has landed, with results, and another one is under test. */
async function begin(mode: QueueSettings['honorQuarantine'] = 'ON', settings: Partial<QueueSettings> = {}) {
  const { world, judged } = await beginAnew({ ...settings, honorQuarantine: mode });
  await storeUpload(world, undefined);
  await finishUpload(world, undefined);
  await judged.report(FIRST, 'SUCCESS');
  await judged.storeResults(FIRST, { failing: [] });
  await world.clock.pass(1_000);
  await world.submit();
  await world.clock.pass(10);
  return { world, judged };
}

class Judged {
  readonly #world: WorkerWorld;

  constructor(world: WorkerWorld) {
    this.#world = world;
  }

  async set(settings: Partial<QueueSettings>): Promise<void> {
    const { app, clock, queueId } = this.#world;
    const at = clock.now();
    await app.queues.run(queueId, () => ({ kind: 'queue_updated', at, actor: 'ada', settings, state: undefined }));
  }

  async report(
    candidate: CandidateNumber,
    conclusion: CheckConclusion | undefined,
    startedAt?: Instant,
    hasUploads = false,
    name = 'ci',
  ): Promise<void> {
    const { app, clock, queueId } = this.#world;
    const nothing = { startedAt, url: undefined, summary: undefined };
    const status = conclusion === undefined ? ('IN_PROGRESS' as const) : ('COMPLETED' as const);
    const check = { name, status, conclusion, ...nothing, ...(hasUploads && { hasUploads }) };
    await app.queues.run(queueId, () => ({ kind: 'check_reported', at: clock.now(), candidate, check }));
    await settle();
  }

  /** A person quarantined the flaky one long ago. */
  async storeTests(...ids: readonly string[]): Promise<void> {
    await this.setTests({ autoQuarantine: true });
    for (const id of ids) await this.change(id, id === FLAKY ? DECIDED : { quarantinedAt: null, status: 'HEALTHY' });
  }

  async setTests(changes: Partial<TestSettings>): Promise<void> {
    const { store, repositoryId } = this.#world;
    const repository = await this.#world.app.directory.findRepositoryById(repositoryId);
    assert.ok(repository);
    const { version, settings, monitors } = await readTestSettings(this.#world.app.store, repository);
    const next = { settings: { ...settings, ...changes }, monitors };
    assert.ok(await store.testSettings.save(repositoryId, version, next, { at: 0, actor: 'ada', detail: '{}' }));
  }

  async change(id: string, row: Partial<TestRow>, state: Partial<TestState> = {}): Promise<void> {
    const { store, repositoryId, clock } = this.#world;
    const { seq, known, nextTestNo } = await store.testIngest.load(repositoryId, [id]);
    const no = known[0]?.test.no ?? nextTestNo;
    const test: TestRow = {
      ...aTest(repositoryId, { id, no, name: `the ${id}`, status: 'FLAKY', firstSeenAt: 0, statusAt: 0 }),
      ...known[0]?.test,
      ...row,
    };
    const stored = { ...newTestState(0), status: test.status, ...state };
    const memory = { testNo: no, seq, state: JSON.stringify(stored), nextCheckAt: null, settingsVersion: 0 };
    await store.testIngest.commit(
      {
        repositoryId,
        expectedSeq: seq,
        tests: [test],
        memories: [{ ...memory, lastRunAt: 0 }],
        failures: [],
        events: [],
      },
      clock.now(),
    );
  }

  /** Both tests ran; the flaky one failed. */
  async storeResults(candidate: CandidateNumber, changes: Partial<CheckResults> = {}): Promise<void> {
    const { store, repositoryId, queueId, clock, resultListeners } = this.#world;
    const { seq } = await store.testIngest.load(repositoryId, []);
    const candidateId = candidateIdOf(queueId, candidate);
    const checkResults: CheckResults = {
      candidateId,
      check: 'ci',
      isWhole: true,
      problem: null,
      uploadIds: [`upload of ${candidate}`],
      testNos: [1, 2],
      failing: [{ testNo: 1, testId: FLAKY }],
      at: clock.now(),
      ...changes,
    };
    const nothing = { tests: [], memories: [], failures: [], events: [] };
    await store.testIngest.commit({ repositoryId, expectedSeq: seq, ...nothing, checkResults }, clock.now());
    for (const listener of resultListeners) listener({ repositoryId, candidateId, check: 'ci' });
    await settle();
  }

  /** Also finds an ended candidate. */
  async candidate(number: CandidateNumber): Promise<Candidate> {
    const { app, store, queueId } = this.#world;
    const found = await app.queues.find(queueId);
    const live = found && findCandidate(found.queue, number);
    const row = await store.queueRecords.findCandidate(queueId, number);
    assert.ok(row);
    return live ?? decodeCandidate(row);
  }

  async verdict(number: CandidateNumber) {
    const { judgement } = (await this.candidate(number)).checks[0] ?? {};
    return judgement?.kind === 'judged' ? judgement : undefined;
  }

  /** The landing of the second pull request, as it is shown. */
  async landed() {
    const row = await this.#world.store.queueRecords.findEntry(this.#world.queueId, 2);
    assert.ok(row);
    return decodeShownEntry(row).landed;
  }

  async stateOf(prNumber: number): Promise<string | undefined> {
    return (await this.#world.store.queueRecords.findEntry(this.#world.queueId, prNumber))?.state;
  }
}

describe('judging a failed check', () => {
  it('[V12] [V15] waives it once its results are there, and it lands', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'FAILURE');
    await world.clock.pass(5_000);
    assert.equal(await world.stateOf(SECOND), 'testing', 'nothing was uploaded yet');
    await judged.storeResults(SECOND);
    await world.clock.pass(100);
    const tests = [{ id: FLAKY, name: `the ${FLAKY}`, excusedBy: { kind: 'person', name: 'ada' } }];
    assert.deepEqual((await judged.landed())?.waived, [{ check: 'ci', tests }]);
    assert.deepEqual(await world.effects(), []);
  });

  it('[V12] hears of results that another server stored by looking', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'FAILURE');
    world.resultListeners.clear();
    await judged.storeResults(SECOND);
    await world.clock.pass(1_100);
    assert.equal(await judged.stateOf(2), 'MERGED');
  });

  it('[V46] gives missing test results as the reason, before the queue stops waiting for them', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'FAILURE');
    await world.clock.pass(57_000);
    assert.equal(await world.stateOf(SECOND), 'testing');
    await world.clock.pass(2_000);
    assert.equal(await judged.stateOf(2), 'FAILED');
    const reason = 'No test results were uploaded for this check of this test run.';
    assert.equal((await judged.verdict(SECOND))?.reason, reason);
  });

  it('[V12] waits no longer where the clock was put back', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'FAILURE');
    world.clock.setBack(3_600_000);
    await world.clock.pass(61_000);
    assert.equal(await judged.stateOf(2), 'FAILED');
  });

  it('[V12] waits while an upload that is tied to it is processed', async () => {
    const { world, judged } = await begin();
    await judged.storeResults(SECOND);
    await storeUpload(world, SECOND);
    await judged.report(SECOND, 'FAILURE');
    await world.clock.pass(3_000);
    assert.equal(await world.stateOf(SECOND), 'testing');
    await finishUpload(world, SECOND);
    await world.clock.pass(1_100);
    assert.equal(await judged.stateOf(2), 'MERGED');
  });

  it('[V14] says in shadow what would have been, of a candidate that has ended', async () => {
    const { world, judged } = await begin('SHADOW');
    await judged.report(SECOND, 'FAILURE');
    assert.equal(await judged.stateOf(2), 'FAILED', 'nothing is waited for');
    await judged.storeResults(SECOND);
    await world.clock.pass(100);
    const verdict = await judged.verdict(SECOND);
    assert.deepEqual([verdict?.isShadow, verdict?.isWaived, verdict?.failing], [true, true, 1]);
    assert.equal(await judged.stateOf(2), 'FAILED');
    assert.deepEqual(await world.effects(), []);
  });

  it('[V14] keeps the judgement of every check, also where two are judged at once', async () => {
    const { world, judged } = await begin('SHADOW');
    await judged.set({ requiredStatuses: ['ci', 'lint'] });
    await world.submit();
    await world.clock.pass(10);
    const { app, clock, queueId } = world;
    const nothing = { startedAt: undefined, url: undefined, summary: undefined };
    for (const name of ['lint', 'ci']) {
      const check = { name, status: 'COMPLETED' as const, conclusion: 'FAILURE' as const, ...nothing };
      await app.queues.run(queueId, () => ({ kind: 'check_reported', at: clock.now(), candidate: THIRD, check }));
    }
    await judged.report(SECOND, 'SUCCESS');
    await world.clock.pass(61_000);
    assert.deepEqual(
      (await judged.candidate(THIRD)).checks.map(({ judgement }) => judgement?.kind),
      ['judged', 'judged'],
    );
  });

  it('[V15] goes on after the server was stopped, on the next one', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'FAILURE');
    await world.clock.pass(10);
    const stopped = world.worker.stop();
    await world.clock.pass(10);
    await stopped;
    assert.deepEqual(pluck(await world.effects(), 'kind'), ['judge_check']);
    assert.equal(world.resultListeners.size, 0);
  });
});

describe('judging tests that are quarantined automatically', () => {
  it('[V56] repeats the run, and lands what each failed test passed in', async () => {
    const { world, judged } = await begin();
    await judged.change(FLAKY, AUTOMATIC);
    await judged.change(SOLID, { ...AUTOMATIC, status: 'FLAKY' });
    await judged.storeResults(SECOND);
    await judged.report(SECOND, 'FAILURE');
    await world.clock.pass(100);
    assert.equal(await world.stateOf(THIRD), 'testing', 'the same tree is tested again');
    assert.equal((await judged.verdict(SECOND))?.isRepeat, true);
    await judged.storeResults(THIRD, { failing: [{ testNo: 2, testId: SOLID }] });
    await judged.report(THIRD, 'FAILURE');
    await world.clock.pass(100);
    const [waived] = (await judged.landed())?.waived ?? [];
    assert.deepEqual(waived?.tests, [
      { id: SOLID, name: `the ${SOLID}`, excusedBy: { kind: 'run', candidate: SECOND } },
    ]);
  });

  it('[V55] repeats a run whose check passed, until the test passed or the repetitions are over', async () => {
    const { world, judged } = await begin('OFF');
    await judged.change(FLAKY, AUTOMATIC);
    for (const candidate of [SECOND, THIRD, FOURTH]) {
      await judged.storeResults(candidate);
      await judged.report(candidate, 'SUCCESS', undefined, true);
      await world.clock.pass(100);
    }
    assert.equal(await judged.stateOf(2), 'FAILED');
    assert.match(`${(await judged.verdict(FOURTH))?.reason}`, /passed in none of 3 runs of this tree/);
  });

  it('a passed check is judged in the end by the reports that are there, also while others wait [V58]', async () => {
    const { world, judged } = await begin('OFF');
    await judged.change(FLAKY, AUTOMATIC);
    await storeUpload(world, SECOND);
    await judged.storeResults(SECOND);
    await judged.report(SECOND, 'SUCCESS', undefined, true);
    await world.clock.pass(30_000);
    assert.equal(await world.stateOf(SECOND), 'testing');
    await world.clock.pass(29_000);
    assert.equal((await judged.verdict(SECOND))?.isRepeat, true);
  });

  it('[V58] lets a check pass at once where no reports are expected of it', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'SUCCESS', undefined, true);
    await world.clock.pass(100);
    assert.equal(await judged.stateOf(2), 'MERGED');
  });

  it('[V61] judges reports that come after the landing', async () => {
    const { world, judged } = await begin();
    watchLateReports(world.app);
    await judged.change(FLAKY, AUTOMATIC);
    await judged.report(SECOND, 'SUCCESS', undefined, true);
    await world.clock.pass(100);
    await judged.storeResults(SECOND);
    await world.clock.pass(100);
    assert.deepEqual((await judged.landed())?.excused?.[0]?.tests[0]?.id, FLAKY);
    assert.equal((await judged.candidate(THIRD)).purpose.kind, 'head');
  });
});

describe('reports that come after the check was decided', () => {
  it('[V63] undo the pass of a run that waits to land', async () => {
    const { world, judged } = await begin();
    watchLateReports(world.app);
    await judged.change(FLAKY, AUTOMATIC);
    await world.submit();
    await world.clock.pass(10);
    await judged.report(THIRD, 'SUCCESS', undefined, true);
    await world.clock.pass(100);
    assert.equal(await world.stateOf(THIRD), 'passed');
    await judged.storeResults(THIRD);
    await world.clock.pass(100);
    assert.equal((await judged.verdict(THIRD))?.isRepeat, true);
    assert.deepEqual((await judged.candidate(FOURTH)).repeats, [THIRD]);
  });

  it('[V61] amend the record of a landing also where some were judged before it', async () => {
    const { world, judged } = await begin();
    watchLateReports(world.app);
    await judged.storeResults(SECOND);
    await judged.report(SECOND, 'SUCCESS', undefined, true);
    await world.clock.pass(100);
    assert.equal(await judged.stateOf(2), 'MERGED');
    await judged.change(SOLID, { ...AUTOMATIC, status: 'FLAKY' });
    await judged.storeResults(SECOND, { failing: [{ testNo: 2, testId: SOLID }] });
    await judged.storeResults(SECOND, { failing: [{ testNo: 2, testId: SOLID }] });
    await world.clock.pass(100);
    const told = (await judged.landed())?.excused?.map(({ tests }) => tests.map(({ id }) => id));
    assert.deepEqual(told, [[FLAKY], [SOLID]]);
    assert.equal((await judged.candidate(THIRD)).purpose.kind, 'head');
  });
});

describe('the facts of a judgement', () => {
  const denials: readonly [
    what: string,
    reason: RegExp,
    arrange: (judged: Judged, world: WorkerWorld) => Promise<void>,
  ][] = [
    [
      'it was quarantined after the admission',
      /only after the pull request had been admitted/,
      async (judged, world) => {
        await judged.change(FLAKY, { quarantinedAt: world.clock.now() + 1 });
        await judged.storeResults(SECOND);
      },
    ],
    [
      'a test of the last pass is missing',
      /1 test of the last pass of this check did not run\./,
      (judged) => judged.storeResults(SECOND, { testNos: [1] }),
    ],
    [
      'quarantine was switched off a moment ago',
      /the flaky-test: It is not quarantined\./,
      async (judged) => {
        await judged.setTests({ quarantineEnabled: false });
        await judged.storeResults(SECOND);
      },
    ],
    [
      'what somebody decided has ended a moment ago',
      /the flaky-test: It is not quarantined\./,
      async (judged, world) => {
        await judged.setTests({ autoQuarantine: false });
        const override = { actor: 'ada', at: 0, reason: 'For a while.', expiresAt: world.clock.now() };
        await judged.change(FLAKY, { quarantineOverride: 'ALWAYS_QUARANTINE', override });
        await judged.storeResults(SECOND);
      },
    ],
    [
      'the results of the last pass are broken',
      /are not whole: there is nothing to compare with/,
      async (judged) => {
        await judged.storeResults(FIRST, { failing: [], isWhole: false });
        await judged.storeResults(SECOND, { testNos: [1] });
      },
    ],
  ];

  for (const [what, reason, arrange] of denials) {
    it(`[V15] deny where ${what}`, async () => {
      const { world, judged } = await begin();
      await arrange(judged, world);
      await judged.report(SECOND, 'FAILURE');
      await world.clock.pass(59_000);
      assert.equal(await judged.stateOf(2), 'FAILED');
      const verdict = await judged.verdict(SECOND);
      assert.match(`${verdict?.reason}`, reason);
      assert.equal(verdict?.isWaived, false);
    });
  }

  it('[V52] waive where a person decided before, and not where one did since', async () => {
    for (const [at, state] of [
      [0, 'MERGED'],
      [Number.MAX_SAFE_INTEGER, 'FAILED'],
    ] as const) {
      const { world, judged } = await begin();
      await judged.change(FLAKY, { override: { ...OVERRIDE, at } });
      await judged.storeResults(SECOND);
      await judged.report(SECOND, 'FAILURE');
      await world.clock.pass(100);
      assert.equal(await judged.stateOf(2), state);
    }
  });

  it('[V48] deny where the results may be those of an earlier run of the check', async () => {
    const { world, judged } = await begin();
    await judged.report(SECOND, 'SUCCESS');
    await judged.storeResults(SECOND, { failing: [] });
    await judged.set({ requiredStatuses: ['ci', 'lint'] });
    await world.submit();
    await world.clock.pass(10);
    const start = world.clock.now();
    await judged.storeResults(THIRD);
    await judged.report(THIRD, 'FAILURE', start - 2_000);
    await world.clock.pass(100);
    assert.equal((await judged.verdict(THIRD))?.isWaived, true);
    // Another run fails, and its results are not uploaded yet.
    await judged.report(THIRD, 'FAILURE', start - 1_000);
    await world.clock.pass(100);
    assert.match(`${(await judged.verdict(THIRD))?.reason}`, /ran more than once/);
    assert.equal(await judged.stateOf(3), 'FAILED');
  });

  it('[V48] know which results are of an earlier run of the built-in runner', async () => {
    for (const [at, state] of [
      [1_000, 'MERGED'],
      [-1_000, 'FAILED'],
    ] as const) {
      const { world, judged } = await beginAnew({}, [{ name: 'ci', command: 'true', timeoutMinutes: null }]);
      await judged.storeResults(FIRST, { failing: [] });
      await judged.report(FIRST, 'SUCCESS', world.clock.now());
      await world.clock.pass(1_000);
      await world.submit();
      await world.clock.pass(10);
      const start = world.clock.now() + 2;
      await judged.report(SECOND, undefined, start - 1);
      await judged.report(SECOND, undefined, start);
      await storeUpload(world, SECOND, start + at);
      await finishUpload(world, SECOND);
      await judged.storeResults(SECOND);
      await judged.report(SECOND, 'FAILURE', start);
      await world.clock.pass(100);
      assert.equal(await judged.stateOf(2), state);
    }
  });

  it('[V12] are complete in a repository without uploads', async () => {
    const world = await createWorld();
    const judged = new Judged(world);
    await judged.set({ honorQuarantine: 'ON' });
    world.worker.start();
    await world.submit();
    await world.clock.pass(10);
    await judged.report(FIRST, 'FAILURE');
    await world.clock.pass(100);
    assert.equal(await judged.stateOf(1), 'FAILED');
  });

  it('[V49] deny where no pass of the check has landed', async () => {
    const { world, judged } = await beginAnew({});
    await judged.storeResults(FIRST);
    await judged.report(FIRST, 'FAILURE');
    await world.clock.pass(100);
    assert.match(`${(await judged.verdict(FIRST))?.reason}`, /No results of an earlier pass/);
  });
});

async function finishUpload({ store }: WorkerWorld, candidate: CandidateNumber | undefined): Promise<void> {
  const ended = { partsDone: 1, status: 'PROCESSED', processedAt: 0, testRuns: 1, fields: null, issues: [] } as const;
  await store.uploadWork.finish({ ...ended, flaw: null, counts: null, uploadId: `upload of ${candidate}` });
}

async function storeUpload(
  world: WorkerWorld,
  candidate: CandidateNumber | undefined,
  receivedAt = world.clock.now(),
): Promise<void> {
  const { store, repositoryId, queueId } = world;
  const tie = candidate === undefined ? {} : { candidateId: candidateIdOf(queueId, candidate), check: 'ci' };
  const fields = someFields({ branch: 'topic', jobName: null, ...tie });
  const upload = anUpload(repositoryId, { id: `upload of ${candidate}`, receivedAt, fields, bodyId: null, files: [] });
  await store.uploads.create(upload, 0);
}

describe('judging a probe', () => {
  /** The second pull request failed in the solid test, and a probe asks about it. */
  async function probe() {
    const asking = { optimizationMode: 'ADAPTIVE', confirmFailures: 'AUTO', probeStatuses: ['ci'] } as const;
    const { world, judged } = await begin('OFF', asking);
    await judged.report(SECOND, 'FAILURE');
    await judged.storeResults(SECOND, { failing: [{ testNo: 2, testId: SOLID }] });
    await world.clock.pass(2_000);
    return { world, judged };
  }

  async function answerTo(conclusion: CheckConclusion, results: Partial<CheckResults> | undefined) {
    const { world, judged } = await probe();
    const { question, required } = await judged.candidate(THIRD);
    assert.deepEqual(question, [{ check: 'ci', tests: [{ id: SOLID, name: `the ${SOLID}` }] }]);
    assert.deepEqual(required?.names, ['ci (probe)']);
    await judged.report(THIRD, conclusion, undefined, false, 'ci (probe)');
    if (results !== undefined) await judged.storeResults(THIRD, { check: 'ci (probe)', failing: [], ...results });
    await world.clock.pass(results === undefined ? 61_000 : 1_100);
    const { checks, state, pass } = await judged.candidate(THIRD);
    return [checks[0]?.answer, state, pass?.by];
  }

  it('[B18] is by the tests of its question in its reports, and not by its conclusion', async () => {
    assert.deepEqual(await answerTo('SUCCESS', { testNos: [2] }), ['passed', 'passed', 'question']);
    const other = { testNos: [1, 2], failing: [{ testNo: 1, testId: FLAKY }] };
    assert.deepEqual(await answerTo('FAILURE', other), ['passed', 'passed', 'question']);
    const failing = [{ testNo: 2, testId: SOLID }];
    assert.deepEqual(await answerTo('FAILURE', { testNos: [2], failing }), ['failed', 'failed', undefined]);
  });

  it('[B25] has no answer without reports, or if the test did not run', async () => {
    assert.equal((await answerTo('SUCCESS', undefined))[2], undefined);
    assert.equal((await answerTo('SUCCESS', undefined))[1], 'abandoned');
    assert.equal((await answerTo('SUCCESS', { testNos: [1] }))[2], undefined);
  });
});
