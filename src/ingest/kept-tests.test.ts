import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { silentLog } from '../../test/helpers/silent-log.ts';
import { IngestWorld, junitOf, MINUTE } from '../../test/worlds/shell/ingest-world.ts';
import { DAY_MS } from '../flaky/core/detector.ts';
import { countRuns, dayOf, firstFigureDay } from '../flaky/daily-counts.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';
import type { Store } from '../storage/store.ts';
import type { TestRow } from '../storage/tests.ts';
import { createIngestLoop } from './ingest-loop.ts';

const PATIENCE = Number(process.env['PROPERTY_RUNS'] ?? 1);
const TESTS = ['a', 'b', 'c'];

const anEnd = fc.constantFrom('pass', 'pass', 'pass', 'pass', 'pass pass', 'fail', 'fail pass', 'skip');
const aStep = fc.record({
  minutes: fc.constantFrom(0, 1, 30, 600, 3 * 1440),
  sha: fc.constantFrom('1', '2', '3'),
  branch: fc.constantFrom('main', 'main', 'change'),
  job: fc.constantFrom('linux', 'windows'),
  /** Which of two servers processes it. */
  server: fc.constantFrom('one', 'one', 'other'),
  ends: fc.array(fc.option(anEnd), { minLength: TESTS.length, maxLength: TESTS.length }),
  /** The server's fate after the upload. */
  next: fc.constantFrom('nothing', 'nothing', 'crash', 'idle', 'crash while idle', 'act'),
});
type Step = typeof aStep extends fc.Arbitrary<infer T> ? T : never;

const ID = '6f1c1d2e-0000-4000-8000-000000000001';

describe('tests kept in memory', () => {
  it('is after any crash what it would be without one, and no run is lost or counted twice [U32] [F62] [F63]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 14 }), async (steps) => {
        const calm = await play(createMemoryStore(), steps, false);
        const shaken = await play(createMemoryStore(), steps, true);
        assert.deepEqual(shaken, calm);
      }),
      { numRuns: 80 * PATIENCE },
    );
  });
});

async function play(store: Store, steps: readonly Step[], isShaken: boolean) {
  const { breakable, breakNow } = breakableStore(store);
  const world = await IngestWorld.create(breakable, { id: ID, holder: 'one' });
  const loops = {
    one: world.loop,
    other: createIngestLoop(breakable, world.clock, silentLog, { holder: 'other' }),
  };
  for (const [index, step] of steps.entries()) {
    world.now += step.minutes * MINUTE;
    const report = Object.fromEntries(
      TESTS.flatMap((test, which) => (step.ends[which] ? [[test, step.ends[which]]] : [])),
    );
    const { sha, branch, job: jobName } = step;
    await world.accept(junitOf(report), { sha: sha.repeat(40), branch, jobName }, { id: `u${index}` });
    const server = isShaken ? step.server : 'one';
    // The other server keeps its memory, which is outdated now.
    await store.uploadWork.release(server === 'one' ? 'other' : 'one', world.repository.id);
    await loops[server].runUntilIdle();
    if (step.next === 'act') await act(world);
    const broken = isShaken && step.next === 'crash while idle' ? breakNow() : undefined;
    if (step.next.endsWith('idle')) await Promise.race([world.pass(2 * MINUTE), broken?.reached].filter(isPromise));
    broken?.mend();
    if (isShaken && step.next.startsWith('crash')) loops.one = world.restart();
  }
  // Uncounted batches are found, and counted after a quiet time.
  await world.pass(70 * MINUTE);
  await world.pass(2 * MINUTE);
  return lookAt(world);
}

function isPromise(value: Promise<void> | undefined): value is Promise<void> {
  return value !== undefined;
}

/** A store that can hang before it marks runs as counted, as if its server had died there. */
function breakableStore(store: Store) {
  const { testIngest } = store;
  let onReached: (() => void) | undefined;
  const markCounted: typeof testIngest.markCounted = (...all) => {
    if (onReached === undefined) return testIngest.markCounted(...all);
    onReached();
    return new Promise(() => undefined);
  };
  const breakNow = () => {
    const { promise: reached, resolve } = Promise.withResolvers<void>();
    onReached = resolve;
    return {
      reached,
      mend: () => {
        onReached = undefined;
      },
    };
  };
  return { breakable: { ...store, testIngest: { ...testIngest, markCounted } }, breakNow };
}

/** A person acts on the first test while its stored memory may be behind. */
async function act(world: IngestWorld): Promise<void> {
  const { testIngest } = world.store;
  const loaded = await testIngest.loadRange(world.repository.id, 1, 2);
  const [known] = loaded.known;
  if (known === undefined) return;
  const done = await testIngest.commit(
    {
      repositoryId: world.repository.id,
      expectedSeq: loaded.seq,
      tests: [{ ...known.test, ticketUrl: `https://tickets.example/${loaded.seq}` }],
      memories: [known.memory],
      failures: [],
      events: [],
    },
    world.now,
  );
  assert.notEqual(done, undefined);
}

async function lookAt(world: IngestWorld) {
  const { known } = await world.store.testIngest.loadRange(world.repository.id, 1, 100);
  return Promise.all(
    known.map(async ({ test, memory }) => ({
      test: { ...test, ticketUrl: null },
      state: JSON.parse(memory.state) as unknown,
      nextCheckAt: memory.nextCheckAt,
      lastRunAt: memory.lastRunAt,
      runs: await world.runs(test.name),
      figures: await figuresOf(world, test),
    })),
  );
}

/** The figures of the last 30 days, which must be those of the stored runs. */
async function figuresOf({ store, now }: IngestWorld, { id: testId, repositoryId }: TestRow) {
  const all = { order: 'FAILURES', status: null, isQuarantined: null, owner: null, text: null } as const;
  const { tests } = await store.tests.rank({ repositoryId, ...all, offset: 0, limit: 100 });
  const ranked = tests.find(({ test }) => test.id === testId);
  const first = firstFigureDay(dayOf(now));
  const query = { repositoryId, testId, watermark: Number.MAX_SAFE_INTEGER, offset: 0, limit: 1000 };
  const { runs } = await store.tests.listRuns({ ...query, since: first * DAY_MS, branch: null, conclusion: null });
  const figures = { days: ranked?.days, lastFailureAt: ranked?.lastFailureAt };
  assert.deepEqual(figures.days, countRuns(runs, now));
  return { ...figures, rank: tests.findIndex(({ test }) => test.id === testId) };
}
