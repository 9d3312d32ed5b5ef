import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aMonitor } from '../../test/helpers/test-history.ts';
import { IngestWorld, junitOf, MINUTE } from '../../test/worlds/shell/ingest-world.ts';
import type { Monitor } from '../flaky/core/monitor.ts';
import { DEFAULT_TEST_SETTINGS } from '../flaky/settings.ts';
import { UNKNOWN_PLACE } from '../flaky/upload-place.ts';
import { createMemoryStore } from '../storage/sqlite/create-memory-store.ts';
import type { UploadFields } from '../storage/uploads.ts';

const HOUR = 60 * MINUTE;
const CANDIDATE = { sha: 'a'.repeat(40), branch: 'sluice/main/candidate' };
const REPETITION = { sha: 'b'.repeat(40), branch: 'sluice/main/repetition' };
const ANOTHER = 'c'.repeat(40);
const TREE = '1a2b3c4d'.repeat(5);
const TREES: ReadonlyMap<string, string> = new Map([
  [CANDIDATE.sha, TREE],
  [REPETITION.sha, TREE],
]);

/** A repository in which a candidate and its repetition have one tree, and the trees of other commits are unknown. */
async function begin(trees = TREES): Promise<IngestWorld> {
  return IngestWorld.create(createMemoryStore(), {
    findPlace: async ({ sha }) => ({ ...UNKNOWN_PLACE, hasCommit: true, tree: trees.get(sha) ?? null }),
  });
}

type Sent = Parameters<IngestWorld['upload']>;

interface Story {
  readonly name: string;
  readonly repetition?: Partial<UploadFields>;
  readonly hours?: number;
  readonly status: string;
}

const STORIES: readonly Story[] = [
  { name: 'passes in the repetition of a candidate that it failed in', status: 'FLAKY' },
  { name: 'passes in it 24 hours later', hours: 24, status: 'FLAKY' },
  { name: 'passes in it 25 hours later', hours: 25, status: 'HEALTHY' },
  { name: 'passes in it under another check', repetition: { jobName: 'lint' }, status: 'HEALTHY' },
  { name: 'passes in it in another variant', repetition: { variant: 'windows' }, status: 'HEALTHY' },
  { name: 'passes in another part of one attempt', repetition: { sha: CANDIDATE.sha }, status: 'HEALTHY' },
  { name: 'passes on the commit of a fork', repetition: { isFork: true }, status: 'HEALTHY' },
  { name: 'passes on a commit whose tree is unknown', repetition: { sha: ANOTHER }, status: 'HEALTHY' },
  {
    name: 'passes on the same commit a month later',
    repetition: { sha: CANDIDATE.sha, jobAttempt: 2 },
    hours: 700,
    status: 'FLAKY',
  },
];

function playInBothOrders(trees: ReadonlyMap<string, string>, stories: readonly Story[]): void {
  for (const { name, repetition = {}, hours = 1, status } of stories) {
    for (const isReversed of [false, true]) {
      it(`${name}${isReversed ? ', the failure later' : ''}: ${status}`, async () => {
        const world = await begin(trees);
        const failed: Sent = [{ adds: 'fail' }, { ...CANDIDATE, jobAttempt: 1 }];
        const passed: Sent = [{ adds: 'pass' }, { ...REPETITION, jobAttempt: 1, ...repetition }];
        const [first, second] = isReversed ? ([passed, failed] as const) : ([failed, passed] as const);
        await world.upload(...first);
        world.now += hours * HOUR;
        await world.upload(...second);
        const tests = await world.store.tests.search(world.repository.id, 'adds', 9);
        assert.equal(tests.find((test) => test.status !== 'HEALTHY')?.status ?? 'HEALTHY', status);
      });
    }
  }
}

describe('a test that fails in a candidate [F1] [F85]', () => {
  playInBothOrders(TREES, STORIES);

  it('counts by the times of its runs, not of their arrival [F6]', async () => {
    const world = await begin();
    const failedAt = new Date(world.now).toISOString();
    await world.upload({ adds: 'pass' }, REPETITION);
    await world.pass(47 * HOUR);
    await world.upload({ adds: 'pass' }, { ...REPETITION, sha: ANOTHER });
    const report = junitOf({ adds: 'fail' }).replace('name="suite"', `name="suite" timestamp="${failedAt}"`);
    await world.accept(report, CANDIDATE);
    await world.loop.runUntilIdle();
    assert.equal((await world.test('adds')).status, 'FLAKY');
  });

  it('is not flaky if it passes only in parts of runs, in other parts of which it fails [F38] [F6]', async () => {
    const parts = [CANDIDATE, REPETITION].flatMap(({ sha }) => ['fail', 'pass'].map((end) => ({ sha, end })));
    for (const order of [parts, parts.toReversed(), [parts[0], parts[3], parts[1], parts[2]]]) {
      const world = await begin();
      for (const { sha, end } of order.flatMap((part) => part ?? []))
        await world.upload({ adds: end }, { sha, jobAttempt: 1 });
      assert.equal((await world.test('adds')).status, 'HEALTHY');
      await world.upload({ adds: 'pass' }, { sha: REPETITION.sha, jobAttempt: 2 });
      assert.equal((await world.test('adds')).status, 'FLAKY');
    }
  });

  it('names the commits and the tree where no test run is known [F88]', async () => {
    const world = await begin();
    await world.upload({ adds: 'fail' }, CANDIDATE);
    await world.upload(
      { adds: 'pass' },
      { ...REPETITION, candidateId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', check: 'unit' },
    );
    assert.equal(
      (await world.test('adds')).statusReason,
      'Pass on retry: It failed on commit aaaaaaaaaaaa and passed in test run 0f6fd6c4 of the same tree 1a2b3c4d1a2b in unit.',
    );
  });

  it('is no longer flaky when the upload of the repetition is withdrawn, and stays so when another one is [U77]', async () => {
    const world = await begin();
    await world.upload({ adds: 'fail' }, CANDIDATE);
    const { id } = await world.upload({ adds: 'pass' }, REPETITION);
    const other = await world.upload({ adds: 'fail' }, { sha: ANOTHER });
    await ignore(world, other.id);
    assert.equal((await world.test('adds')).status, 'FLAKY');
    await ignore(world, id);
    assert.equal((await world.test('adds')).status, 'HEALTHY');
  });
});

describe('without trees, as in rows of 0.2.0, a commit stands for itself [F1] [F86]', () => {
  playInBothOrders(new Map(), [
    { name: 'another commit', status: 'HEALTHY' },
    { name: 'the same commit', repetition: { sha: CANDIDATE.sha, jobAttempt: 2 }, status: 'FLAKY' },
  ]);

  it('an upload whose tree is known is compared with those of its commit whose trees are not', async () => {
    const trees = new Map<string, string>();
    const world = await begin(trees);
    await world.upload({ adds: 'fail' }, CANDIDATE);
    trees.set(CANDIDATE.sha, TREE);
    await world.upload({ adds: 'pass' }, CANDIDATE);
    assert.equal((await world.test('adds')).status, 'FLAKY');
  });
});

describe('monitors and the test branches of the queue [F87]', () => {
  const all = { branches: ['*'] };
  const limits = { activation_threshold: 0.5, window_hours: 24, minimum_sample_size: 2 };
  const monitors = [
    aMonitor({ type: 'failure_rate', action: { classify: 'BROKEN' }, parameters: limits, ...all }),
    aMonitor({
      type: 'failure_count',
      parameters: { failure_count: 2, window_minutes: 600, resolution_timeout_minutes: 600 },
      ...all,
    }),
    aMonitor({
      type: 'skipped_test',
      action: { labels: ['Skipped'] },
      parameters: { window_minutes: 600, minimum_skipped_count: 1, resolution_days: 1 },
      ...all,
    }),
  ];

  it('failures there are counted by no rate and no number, whatever the patterns are; labels count their runs', async () => {
    const world = await begin();
    await setMonitors(world, monitors);
    for (const { branch } of [CANDIDATE, REPETITION, CANDIDATE, REPETITION]) {
      await world.upload({ adds: 'fail', sums: 'skip' }, { branch, sha: ANOTHER });
    }
    assert.deepEqual([(await world.test('adds')).status, (await world.test('sums')).labels], ['HEALTHY', ['Skipped']]);
    for (const branch of ['sluice-2/change', 'sluice-2/change']) await world.upload({ adds: 'fail' }, { branch });
    assert.equal((await world.test('adds')).status, 'BROKEN');
  });

  it('nor when a changed monitor counts the runs that are stored [F34]', async () => {
    const world = await begin();
    await world.upload({ adds: 'fail' }, CANDIDATE);
    await world.upload({ adds: 'fail' }, CANDIDATE);
    await setMonitors(world, monitors);
    assert.equal((await world.test('adds')).status, 'HEALTHY');
  });
});

async function setMonitors({ store, repository, loop, now }: IngestWorld, monitors: readonly Monitor[]): Promise<void> {
  const by = { at: now, actor: 'ada', detail: '{}' };
  assert.ok(await store.testSettings.save(repository.id, 0, { settings: DEFAULT_TEST_SETTINGS, monitors }, by));
  await loop.runUntilIdle();
}

async function ignore({ store, repository, loop, now }: IngestWorld, uploadId: string): Promise<void> {
  const { seq } = await store.testIngest.load(repository.id, []);
  const nothing = { tests: [], memories: [], failures: [], events: [] };
  const ignored = { uploadId, at: now, actor: 'ada', reason: 'A wrong report.' };
  const change = { repositoryId: repository.id, expectedSeq: seq, ...nothing, ignore: ignored };
  assert.notEqual(await store.testIngest.commit(change, now), undefined);
  await loop.runUntilIdle();
}
