import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aTest } from '../../test/helpers/store-rows.ts';
import { aMonitor, anUpload } from '../../test/helpers/test-history.ts';
import type { RepositoryId } from '../storage/repositories.ts';
import { quarantineBy } from '../storage/test-codec.ts';
import { pathsOf } from './core/paths.ts';
import type { EarlierOutcome, ObservedRun, UploadFacts } from './core/run.ts';
import type { TestState } from './core/state.ts';
import { isCovered } from './coverage.ts';
import { suitePathOf } from './identity/test-id.ts';
import { observe, scopeOf } from './observe.ts';

const NOON = Date.UTC(2026, 8, 17, 12);
const HOUR = 3_600_000;
const RETRY = aMonitor({ type: 'pass_on_retry' });
const COUNT = aMonitor({
  type: 'failure_count',
  name: 'Count',
  parameters: { failure_count: 3, resolution_timeout_minutes: 10_080, window_minutes: 10_080, passes_between: 1 },
});
const INNER = 'with coupon';

const upload = (id: string, sha = id): UploadFacts => anUpload({ id, sha });

const run = (path: string | null, conclusion: ObservedRun['conclusion'], at = NOON): ObservedRun => ({
  ...{ conclusion, startedAt: at, durationMs: 1, attempt: null, rerunOf: null },
  path,
});

function fold(...uploads: readonly { of: UploadFacts; at: number; runs: ObservedRun[]; earlier?: EarlierOutcome[] }[]) {
  let state: TestState | undefined;
  for (const { of, at, runs, earlier } of uploads) {
    state = observe(state, runs, scopeOf(of, [RETRY, COUNT], at), earlier).state;
  }
  return { state: state as TestState, monitors: [RETRY, COUNT], quarantine: { by: 'auto' as const } };
}

const failedThere = (...failedPaths: (string | null)[]): EarlierOutcome[] => [
  { ...upload('u1', 'c'), uploadId: 'u1', hasFailed: true, at: NOON, failedPaths },
];

describe('tests of one id in several suites [F50]', () => {
  it('a quarantine covers the suite whose test failed and passed, and no other', () => {
    const test = fold(
      { of: upload('u1', 'c'), at: NOON, runs: [run('', 'FAILURE'), run(INNER, 'SUCCESS')] },
      { of: upload('u2', 'c'), at: NOON, runs: [run('', 'SUCCESS'), run(INNER, 'SUCCESS')], earlier: failedThere('') },
    );
    assert.equal(test.state.status, 'FLAKY');
    assert.deepEqual([isCovered(test, ''), isCovered(test, INNER), isCovered(test, 'elsewhere')], [true, false, false]);
    assert.equal(isCovered(test, null), false, 'one that is not told may be any of them');
  });

  it('a failure in one suite and a pass in another are no retry', () => {
    const test = fold(
      { of: upload('u1', 'c'), at: NOON, runs: [run('', 'FAILURE', NOON), run(INNER, 'SUCCESS', NOON + 1)] },
      { of: upload('u2', 'c'), at: NOON, runs: [run(INNER, 'SUCCESS')], earlier: failedThere('') },
    );
    assert.equal(test.state.status, 'HEALTHY');
  });

  it('a regression of one is one occasion, however often the other passes', () => {
    const hours = [0, 2, 4, 6, 8].map((hour) => NOON + hour * HOUR);
    const test = fold(
      ...hours.map((at, index) => ({
        of: upload(`u${index}`),
        at,
        runs: [run('', 'SUCCESS', at), run(INNER, 'FAILURE', at)],
      })),
    );
    assert.equal(test.state.status, 'HEALTHY');
  });

  it('a decision of a person covers the suites that it names, else those known then [F80] [F82]', () => {
    const test = fold(
      { of: upload('u1'), at: NOON, runs: [run('', 'SUCCESS')] },
      { of: upload('u2'), at: NOON + HOUR, runs: [run(INNER, 'FAILURE')] },
    );
    const row = { ...aTest('r' as RepositoryId), quarantineOverride: 'ALWAYS_QUARANTINE' as const };
    const decidedAt = (at: number, more = {}) => {
      const override = { actor: 'ada', at, reason: 'so', expiresAt: null, ...more };
      return { ...test, quarantine: quarantineBy({ ...row, override }, test.state, NOON) };
    };
    const decided = decidedAt(NOON + 1);
    assert.deepEqual([isCovered(decided, ''), isCovered(decided, INNER)], [true, false]);
    assert.equal(isCovered(decidedAt(NOON + 2 * HOUR), INNER), true);
    const named = decidedAt(NOON + 2 * HOUR, { suites: [INNER] });
    assert.deepEqual([isCovered(named, ''), isCovered(named, INNER), isCovered(named, null)], [false, true, false]);
    const flagged = { ...test, state: { ...test.state, flag: { at: NOON + 1, actor: 'ada', reason: null } } };
    assert.deepEqual([isCovered(flagged, ''), isCovered(flagged, INNER)], [true, false]);
  });

  it('evidence in another suite does not widen the decision of a person [F80]', () => {
    const test = fold(
      { of: upload('u1', 'c'), at: NOON, runs: [run('', 'SUCCESS'), run(INNER, 'FAILURE')] },
      { of: upload('u2', 'c'), at: NOON, runs: [run(INNER, 'SUCCESS')], earlier: failedThere(INNER) },
    );
    assert.equal(isCovered(test, INNER), true);
    const decided = { ...test, quarantine: { by: 'person' as const, at: NOON, suites: [''] } };
    assert.deepEqual([isCovered(decided, ''), isCovered(decided, INNER)], [true, false]);
  });

  it('the suites beyond the fiftieth are never covered [F81]', () => {
    const runs = Array.from({ length: 51 }, (_, index) => run(`s${index}`, 'SUCCESS'));
    const { state } = fold({ of: upload('u1'), at: NOON, runs });
    assert.deepEqual([pathsOf(state).length, pathsOf(state).at(-1)?.[0]], [50, 's49']);
  });

  it('a test in one suite only is covered as ever, whether or not its runs tell the suite', () => {
    const test = fold(
      { of: upload('u1', 'c'), at: NOON, runs: [run(null, 'FAILURE')] },
      { of: upload('u2', 'c'), at: NOON, runs: [run('', 'SUCCESS')], earlier: failedThere(null) },
    );
    assert.deepEqual([isCovered(test, ''), isCovered(test, null)], [true, true]);
  });

  it('paths of different suites are never the same text', () => {
    assert.equal(suitePathOf(['cart']), '');
    assert.equal(suitePathOf(['cart', 'a', 'b']), 'a > b');
    assert.notEqual(suitePathOf(['cart', 'a > b']), suitePathOf(['cart', 'a', 'b']));
    const long = (end: string) => suitePathOf(['cart', 'x'.repeat(5_000) + end]);
    assert.notEqual(long('a'), long('b'));
    assert.ok(long('a').length < 400);
  });
});
