import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Blame, blameOf, type Cause, causeOf, causeOfEnd } from './blame.ts';
import type { Candidate } from './candidate.ts';
import type { Check } from './check.ts';
import type { EntryState } from './queue.ts';
import type { ReasonCode } from './reason.ts';

type Failed = Pick<Candidate, 'checks' | 'failure'>;

function failed(check: Partial<Check>, reason: ReasonCode = 'TEST_RUN_REQUIRED_STATUS_FAILED'): Failed {
  const nothing = { startedAt: undefined, url: undefined, summary: undefined, reportedAt: 0 };
  const ci: Check = { name: 'ci', status: 'COMPLETED', conclusion: 'FAILURE', ...nothing, ...check };
  return { checks: [ci], failure: { at: 0, reason, checks: ['ci'] } };
}

describe('the cause of a failed run', () => {
  const causes: readonly (readonly [string, Failed, Cause])[] = [
    ['failed tests', failed({ signature: [{ id: '1', name: 'adds up' }] }), 'TESTS'],
    [
      'tests that failed beside words of the machine',
      failed({ signature: [{ id: '1', name: 'x' }], summary: 'exit code 137' }),
      'TESTS',
    ],
    ['reports without a failed test', failed({ signature: [], isBuild: true }), 'BUILD'],
    [
      'a missing command',
      failed({ signature: [], summary: 'Failed with exit code 127 (a command was not found).' }),
      'INFRASTRUCTURE',
    ],
    ['a full disk', failed({ summary: 'write: No space left on device' }), 'INFRASTRUCTURE'],
    ['a status that is an error', failed({ conclusion: 'ERROR' }), 'INFRASTRUCTURE'],
    ['a check that timed out', failed({ conclusion: 'TIMED_OUT' }), 'TIMEOUT'],
    ['a run that timed out', failed({}, 'TEST_RUN_TIMEOUT'), 'TIMEOUT'],
    ['a check that somebody must act on', failed({ conclusion: 'ACTION_REQUIRED' }), 'CONFIGURATION'],
    ['a file that cannot be read', failed({}, 'START_TEST_RUN_CONFIG_PARSING_FAILURE'), 'CONFIGURATION'],
    ['a conflict', failed({}, 'START_TEST_RUN_MERGE_CONFLICT'), 'CONFLICT'],
    ['a branch that cannot be made', failed({}, 'START_TEST_RUN_RETRY_EXHAUSTED'), 'INFRASTRUCTURE'],
    ['an exit code that says nothing', failed({ summary: 'Failed with exit code 1 after 2 s.' }), 'UNKNOWN'],
  ];
  for (const [what, run, cause] of causes) {
    it(`of ${what} is ${cause} [V74]`, () => assert.equal(causeOf(run), cause));
  }

  it('of a run that did not fail is none [V74]', () => {
    assert.equal(causeOf({ checks: [], failure: undefined }), undefined);
  });
});

describe('the blame of an entry', () => {
  const blames: readonly (readonly [EntryState, ReasonCode, Blame | undefined])[] = [
    ['FAILED', 'TEST_RUN_REQUIRED_STATUS_FAILED', 'AUTHOR'],
    ['FAILED', 'START_TEST_RUN_MERGE_CONFLICT', 'AUTHOR'],
    ['FAILED', 'TEST_RUN_UNDECIDED', 'UNDECIDED'],
    ['FAILED', 'START_TEST_RUN_NO_REQUIRED_STATUSES', 'ADMINISTRATOR'],
    ['FAILED', 'GITHUB_API_BRANCH_PROTECTION_UNMET', 'AUTHOR'],
    ['FAILED', 'START_TEST_RUN_RETRY_EXHAUSTED', 'CI'],
    ['CANCELLED', 'USER_REQUESTED', 'PERSON'],
    ['CANCELLED', 'NOT_READY_TIMEOUT_EXPIRED', 'AUTHOR'],
    ['MERGED', 'MERGE_GRAPH_MERGE', undefined],
    ['PENDING_FAILURE', 'TEST_RUN_REQUIRED_STATUS_FAILED', undefined],
  ];
  for (const [state, reason, blame] of blames) {
    it(`that is ${state} for ${reason} is ${blame ?? 'none'} [V76]`, () =>
      assert.equal(blameOf(state, { reason }), blame));
  }

  it('follows the cause that is known [V76]', () => {
    const end = { reason: 'TEST_RUN_REQUIRED_STATUS_FAILED', cause: 'INFRASTRUCTURE' } as const;
    assert.deepEqual([blameOf('FAILED', end), causeOfEnd(end)], ['CI', 'INFRASTRUCTURE']);
    assert.equal(causeOfEnd({ reason: 'USER_REQUESTED' }), undefined);
  });

  it('of a check that never started is CI, unless the entry failed again while CI passed others [V76]', () => {
    const end = { reason: 'TEST_RUN_TIMEOUT', timeout: { isBegun: false } } as const;
    const blames = [end, { ...end, timeout: { isBegun: true } }, { ...end, alone: {} }].map((each) =>
      blameOf('FAILED', each),
    );
    assert.deepEqual(blames, ['CI', 'AUTHOR', 'AUTHOR']);
  });
});
