import { decodeCandidate } from '../../src/app/core/queue-codec.ts';
import { newTestState, type TestState } from '../../src/flaky/core/state.ts';
import { DEFAULT_TEST_SETTINGS } from '../../src/flaky/settings.ts';
import type { Instant } from '../../src/lib/clock.ts';
import { Prng } from '../../src/lib/prng.ts';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Store } from '../../src/storage/store.ts';
import { ANY_CHECK, type CheckResults, type KnownTest } from '../../src/storage/test-ingest.ts';
import type { StoredTestSettings } from '../../src/storage/test-settings.ts';
import { aTest } from '../helpers/store-rows.ts';

const TESTS = [1, 2, 3, 4];
/** How the test results of a run look once they are processed. */
const WAYS = [
  'excused',
  'excused',
  'excused',
  'excused',
  'excused',
  'excused',
  'excused',
  'flaked',
  'flaked',
  'blamed',
  'broken',
  'missing',
  'none',
] as const;
/** A person quarantined it. */
const QUARANTINED = 'quarantined';
/** It is quarantined because of its status. */
const FLAKY = 'flaky';
const HEALTHY = 'healthy';
const SETTINGS: StoredTestSettings = {
  version: 1,
  settings: DEFAULT_TEST_SETTINGS,
  monitors: [],
  appliedVersion: 1,
  appliedMonitors: [],
  actor: null,
  changedAt: null,
};

/**
 * The same store with test results for every check of every candidate. Some are processed at once, some late, some
 * never. Some excuse a failure and some do not, some make the run be repeated. In a check that passed only a flaky test
 * may have failed, which passes in the repetition. The outcome depends on the seed and the check alone.
 */
export function withFakeResults(store: Store, of: { readonly seed: number; readonly now: () => Instant }): Store {
  const firstAsked = new Map<string, Instant>();
  // Without automatic quarantine, pull requests may land directly.
  const autoQuarantine = new Prng(`settings ${of.seed}`).pick([true, true, true, false]);
  const settings = { ...SETTINGS, settings: { ...SETTINGS.settings, autoQuarantine } };
  const drawFor = (candidateId: string, check: string) => {
    const key = `${candidateId} ${check}`;
    const askedAt = firstAsked.get(key) ?? of.now();
    firstAsked.set(key, askedAt);
    const random = new Prng(`results ${of.seed} ${key}`);
    const way = random.pick(WAYS);
    const delayMs = random.pick([0, 0, 0, 500, 3_000, 90_000] as const);
    return { way, isWaiting: of.now() < askedAt + delayMs };
  };
  const findCheckResults = async (_id: string, candidateId: string, check: string) => {
    const { way, isWaiting } = drawFor(candidateId, check);
    if (isWaiting || way === 'none') return undefined;
    const row = await store.queueRecords.findCandidateById(candidateId);
    const candidate = row && decodeCandidate(row);
    const conclusion = candidate?.checks.find(({ name }) => name === check)?.conclusion;
    const hasPassed = check === ANY_CHECK || conclusion === 'SUCCESS';
    const isClean = hasPassed && (way !== 'flaked' || candidate?.repeats !== undefined);
    const results = makeResults(candidateId, check, way);
    return isClean ? { ...results, failing: [] } : results;
  };
  const load = async (_id: string, ids: readonly string[]) => ({ seq: 1, nextTestNo: 9, known: ids.map(makeTest) });
  const hasWaiting = async (_id: string, candidateId: string, check: string) => drawFor(candidateId, check).isWaiting;
  return {
    ...store,
    testIngest: { ...store.testIngest, findCheckResults, load },
    testSettings: { ...store.testSettings, find: async () => settings },
    uploads: { ...store.uploads, hasWaiting, getWatermark: async () => 1 },
  };
}

function makeResults(candidateId: string, check: string, way: (typeof WAYS)[number]): CheckResults {
  return {
    candidateId,
    check,
    isWhole: way !== 'broken',
    problem: way === 'broken' ? 'A report ends too early.' : null,
    uploadIds: ['upload'],
    testNos: way === 'missing' ? TESTS.slice(1) : TESTS,
    failing: [{ testNo: 2, testId: way === 'blamed' ? HEALTHY : way === 'flaked' ? FLAKY : QUARANTINED }],
    at: 0,
  };
}

function makeTest(id: string): KnownTest {
  const isDecided = id === QUARANTINED;
  const state: TestState = { ...newTestState(0), status: id === HEALTHY ? 'HEALTHY' : 'FLAKY' };
  return {
    test: aTest('repository' as RepositoryId, {
      id,
      no: 2,
      name: id,
      status: state.status,
      quarantinedAt: id === HEALTHY ? null : 0,
      statusAt: 0,
      ...(isDecided && {
        quarantineOverride: 'ALWAYS_QUARANTINE' as const,
        override: { actor: 'ada', at: 0, reason: 'It is known.', expiresAt: null },
      }),
    }),
    memory: { testNo: 2, seq: 1, state: JSON.stringify(state), nextCheckAt: null, settingsVersion: 1, lastRunAt: 0 },
  };
}
