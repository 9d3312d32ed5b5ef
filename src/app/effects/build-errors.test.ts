import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { maker } from '../../../test/helpers/made.ts';
import { silentLog } from '../../../test/helpers/silent-log.ts';
import { WorkerWorld } from '../../../test/worlds/shell/worker-world.ts';
import { causeOf } from '../../engine/model/blame.ts';
import type { CandidateNumber } from '../../engine/model/candidate.ts';
import { createIngestLoop } from '../../ingest/ingest-loop.ts';
import { decodeCandidate } from '../core/queue-codec.ts';

const GO = readFileSync(new URL('../../../test/fixtures/junit-setup/gotestsum.xml', import.meta.url), 'utf8');
/** The suite of a package that did not compile. */
const [BROKEN = ''] = /<testsuite [^>]*shop\/broken[\s\S]*?<\/testsuite>/.exec(GO) ?? [];
const TOLD = /^r\.xml holds 1 error before any test: .*shop\/broken > TestMain: FAIL .* \[build failed\]$/;

/** `cases`: names of tests, and what is inside their cases. */
function reportOf(cases: Readonly<Record<string, string>>, more = ''): string {
  const inside = Object.entries(cases).map(([name, end]) => `<testcase classname="C" name="${name}">${end}</testcase>`);
  return `<testsuites><testsuite name="shop">${inside.join('')}</testsuite>${more}</testsuites>`;
}

const FAILED_A = { TestA: '<failure message="it broke"/>', TestB: '' };

/** A queue that honors quarantine, with an ingest loop. A run has passed and landed, and a person quarantined TestA. */
const begin = maker(async () => {
  const world = await WorkerWorld.create([{ name: 'unit', command: 'gotestsum', timeoutMinutes: null }], ['r.xml']);
  const { app, store, clock, queueId, repositoryId } = world;
  const settings = { honorQuarantine: 'ON', confirmFailures: 'NEVER' } as const;
  const updated = { kind: 'queue_updated', at: clock.now(), actor: 'ada', settings, state: undefined } as const;
  await app.queues.run(queueId, () => updated);
  world.worker.start();
  const loop = createIngestLoop(store, clock, silentLog);
  const run = async (report: string, code: number) => {
    const number = await world.submit();
    await clock.pass(10);
    const job = world.jobs.find('unit');
    await job?.leave({ 'r.xml': report });
    const stored = loop.runUntilIdle();
    await clock.pass(100);
    await stored;
    job?.end({ kind: 'exited', code });
    await clock.pass(70_000);
    const row = await store.queueRecords.findCandidate(queueId, number as number as CandidateNumber);
    assert.ok(row);
    const candidate = decodeCandidate(row);
    const judgement = candidate.checks[0]?.judgement;
    const reason = judgement?.kind === 'judged' ? judgement.reason : '';
    const state = (await store.queueRecords.findEntry(queueId, number))?.state;
    return { ...candidate.checks[0], cause: causeOf(candidate), reason, state };
  };
  const list = () => store.tests.search(repositoryId, '', 50);
  assert.equal((await run(reportOf({ TestA: '', TestB: '' }), 0)).state, 'MERGED');
  const test = (await list()).find(({ name }) => name === 'TestA');
  assert.ok(test);
  const override = { actor: 'ada', at: 0, reason: 'It is known.', expiresAt: null, suites: [''] };
  const { seq, known } = await store.testIngest.load(repositoryId, [test.id]);
  const tests = [{ ...test, quarantinedAt: 0, quarantineOverride: 'ALWAYS_QUARANTINE' as const, override }];
  const memories = known.map(({ memory }) => ({ ...memory, lastRunAt: 0 }));
  const nothing = { failures: [], events: [] };
  await store.testIngest.commit({ repositoryId, expectedSeq: seq, tests, memories, ...nothing }, clock.now());
  return { world, run, list, stop: () => world.stop() };
});

describe('a check that failed before any test [F89]', () => {
  it('has the cause BUILD and no failed test, and its upload says why', async () => {
    const { world, run, list } = await begin();
    const { cause, state, signature, isBuild, reason } = await run(reportOf({}, BROKEN), 1);
    assert.deepEqual(
      { cause, state, signature, isBuild },
      { cause: 'BUILD', state: 'FAILED', signature: [], isBuild: true },
    );
    assert.match(reason, TOLD);
    assert.deepEqual((await list()).map(({ name }) => name).toSorted(), ['TestA', 'TestB']);
    const { store, repositoryId } = world;
    const watermark = await store.uploads.getWatermark(repositoryId);
    const [upload] = (await store.uploads.list({ repositoryId, watermark, offset: 0, limit: 1 })).uploads;
    assert.deepEqual([upload?.status, upload?.testRuns], ['PROCESSED', 0]);
    assert.match(upload?.issues.find(({ file }) => file === 'r.xml')?.message ?? '', /^1 error before any test: /);
  });

  it('is not excused by quarantine, and is known by the tests that failed too', async () => {
    const { run } = await begin();
    const { state, reason } = await run(reportOf(FAILED_A, BROKEN), 1);
    assert.equal(state, 'FAILED');
    assert.match(reason, TOLD);
    assert.equal((await run(reportOf(FAILED_A), 1)).state, 'MERGED');
    const { cause, signature } = await run(reportOf({ TestB: '<failure/>' }, BROKEN), 1);
    assert.deepEqual([cause, signature?.map(({ name }) => name)], ['TESTS', ['TestB']]);
  });
});
