import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { pluck } from '../../../test/helpers/pluck.ts';
import { CHECK_CONCLUSIONS, CHECK_STATUSES, type Check, withReport } from '../../engine/model/check.ts';
import { reportOfCheck } from '../report-of-check.ts';
import { type CheckRunNode, type Context, reportsOf, reportsOfTest, type StatusNode } from './checks.ts';

const ACTIONS = { slug: 'github-actions', databaseId: 15_368 };

function run(
  more: Partial<CheckRunNode> & { readonly suite?: string; readonly workflow?: string; readonly event?: string },
): Context {
  const { suite = 'CS_1', workflow, event = 'push', ...rest } = more;
  return {
    __typename: 'CheckRun',
    name: 'test',
    status: 'COMPLETED',
    conclusion: 'SUCCESS',
    startedAt: '2026-03-01T12:00:00Z',
    detailsUrl: 'https://ci.example/1',
    title: 'All is well',
    checkSuite: {
      id: suite,
      app: ACTIONS,
      workflowRun: workflow === undefined ? null : { event, workflow: { id: workflow } },
    },
    ...rest,
  };
}

function status(more: Partial<StatusNode>): Context {
  return {
    __typename: 'StatusContext',
    context: 'test',
    state: 'SUCCESS',
    createdAt: '2026-03-01T12:00:00Z',
    targetUrl: null,
    description: null,
    creator: { __typename: 'User', login: 'ada' },
    ...more,
  };
}

const only = (contexts: readonly Context[]) => {
  const reports = reportsOf(contexts);
  assert.equal(reports.length, 1);
  return reports[0];
};

/** The conclusion after the queue has read these contexts one after the other. */
function told(...readings: readonly (readonly Context[])[]) {
  let checks: readonly Check[] = [];
  for (const contexts of readings) {
    const report = reportOfCheck(reportsOfTest(contexts), 'test');
    if (report !== undefined) checks = withReport(checks, { ...report, reportedAt: Date.parse(at('12:30')) }, true);
  }
  return checks[0]?.conclusion;
}

const at = (time: string) => `2026-03-01T${time}:00Z`;

describe('results of CI, as GitHub tells them', () => {
  it('every status of a check run is one of ours, and only what has ended has a conclusion [G12]', () => {
    const words = ['COMPLETED', 'IN_PROGRESS', 'PENDING', 'QUEUED', 'REQUESTED', 'WAITING', 'A_NEW_WORD'];
    const read = words.map((word) =>
      only([run({ status: word, conclusion: word === 'COMPLETED' ? 'SUCCESS' : null })]),
    );
    assert.deepEqual(
      read.map((report) => report?.status),
      ['COMPLETED', 'IN_PROGRESS', 'QUEUED', 'QUEUED', 'QUEUED', 'QUEUED', 'QUEUED'],
    );
    for (const report of read) {
      assert.ok(CHECK_STATUSES.includes(report?.status ?? 'QUEUED'));
      assert.equal(report?.conclusion !== undefined, report?.status === 'COMPLETED');
    }
  });

  it('every conclusion is one of ours; a word that is not known is no pass [G12]', () => {
    const words = [
      ...['ACTION_REQUIRED', 'CANCELLED', 'FAILURE', 'NEUTRAL', 'SKIPPED', 'STALE', 'STARTUP_FAILURE', 'SUCCESS'],
      ...['TIMED_OUT', 'A_NEW_WORD', null],
    ];
    const read = words.map((conclusion) => only([run({ conclusion })])?.conclusion);
    const same = ['ACTION_REQUIRED', 'CANCELLED', 'FAILURE', 'NEUTRAL', 'SKIPPED', 'STALE', 'ERROR', 'SUCCESS'];
    assert.deepEqual(read, [...same, 'TIMED_OUT', 'ERROR', 'ERROR']);
    for (const conclusion of read) assert.ok(conclusion !== undefined && CHECK_CONCLUSIONS.includes(conclusion));
  });

  it('a commit status is a check, too [G12]', () => {
    const states = ['SUCCESS', 'FAILURE', 'ERROR', 'PENDING', 'EXPECTED', 'A_NEW_WORD'];
    const read = states.map((state) => only([status({ state })]));
    assert.deepEqual(
      read.map((report) => report?.conclusion),
      ['SUCCESS', 'FAILURE', 'ERROR', undefined, undefined, 'ERROR'],
    );
    assert.equal(read[3]?.status, 'QUEUED');
  });

  it('a status set by an app is its word, and one set by a person has no reporter', () => {
    assert.equal(only([status({ creator: { __typename: 'Bot', login: 'old-ci' } })])?.reporter, 'old-ci');
    assert.equal(only([status({})])?.reporter, undefined);
    assert.equal(only([status({ creator: null })])?.reporter, undefined);
  });

  it('of the attempts of one check the newest counts [G13]', () => {
    const attempts = [
      run({ conclusion: 'FAILURE', startedAt: at('12:00') }),
      run({ conclusion: 'SUCCESS', startedAt: at('12:10') }),
    ];
    assert.equal(only(attempts)?.conclusion, 'SUCCESS');
    assert.equal(only(attempts.toReversed())?.conclusion, 'SUCCESS');
    assert.equal(only([...attempts, run({ status: 'QUEUED', conclusion: null, startedAt: null })])?.status, 'QUEUED');
  });

  it('a workflow that is started again by the same event leaves a suite behind that does not count [G121] [G13]', () => {
    const contexts = [
      run({ suite: 'CS_1', workflow: 'W', conclusion: 'CANCELLED', startedAt: at('12:00') }),
      run({ suite: 'CS_2', workflow: 'W', conclusion: 'SUCCESS', startedAt: at('12:01') }),
    ];
    assert.equal(only(contexts)?.conclusion, 'SUCCESS');
  });

  it('on a commit under test, a workflow that a stranger starts again undoes no failure [G121]', () => {
    const conclusionOf = (contexts: readonly Context[]) => reportsOfTest(contexts).map(({ conclusion }) => conclusion);
    const draft = { suite: 'CS_1', workflow: 'W', event: 'pull_request', startedAt: at('12:00') };
    // A pull request from a fork with the same head starts a later run. It has no secrets and skips the jobs that need
    // them.
    const forked = run({ ...draft, suite: 'CS_2', conclusion: 'SKIPPED', startedAt: at('12:30') });
    assert.deepEqual(conclusionOf([run({ ...draft, conclusion: 'FAILURE' }), forked]), ['FAILURE']);
    assert.deepEqual(conclusionOf([forked, run({ ...draft, status: 'IN_PROGRESS', conclusion: null })]), [undefined]);
    assert.deepEqual(
      conclusionOf([
        run({ ...draft, conclusion: 'CANCELLED' }),
        run({ ...draft, suite: 'CS_3', startedAt: at('12:01') }),
      ]),
      ['SUCCESS'],
    );
    const again = [run({ ...draft, conclusion: 'FAILURE' }), run({ ...draft, startedAt: at('12:10') })];
    assert.deepEqual(conclusionOf(again), ['SUCCESS']);
  });

  it('several suites that report under one name count all: pending before failed before passed [G120]', () => {
    const passed = run({ suite: 'CS_1', workflow: 'W', event: 'push', startedAt: at('12:05') });
    const failed = run({ suite: 'CS_2', workflow: 'W', event: 'pull_request', conclusion: 'FAILURE' });
    const pending = run({ suite: 'CS_3', workflow: 'V', status: 'IN_PROGRESS', conclusion: null });
    assert.equal(only([passed, failed])?.conclusion, 'FAILURE');
    assert.equal(only([failed, passed])?.conclusion, 'FAILURE');
    assert.equal(only([failed, passed, pending])?.status, 'IN_PROGRESS');
    assert.equal(only([failed])?.startedAt, Date.parse(at('12:00')));
    assert.equal(Math.floor((only([failed, passed])?.startedAt ?? 0) / 1_000), Date.parse(at('12:05')) / 1_000);
  });

  it('several apps that report under one name count all, unless one is named [G120]', () => {
    const other = { id: 'CS_9', app: { slug: 'other-ci', databaseId: 42 }, workflowRun: null };
    const reports = reportsOf([run({}), run({ conclusion: 'FAILURE', checkSuite: other })]);
    assert.equal(reports.length, 2);
    assert.equal(reportOfCheck(reports, 'test')?.conclusion, 'FAILURE');
    assert.equal(reportOfCheck(reports, 'test', 'github-actions')?.conclusion, 'SUCCESS');
    assert.equal(reportOfCheck(reports, 'test', '15368')?.conclusion, 'SUCCESS');
    assert.equal(reportOfCheck(reports, 'test', '42')?.conclusion, 'FAILURE');
    assert.equal(reportOfCheck(reports, 'test', 'nobody'), undefined);
    assert.equal(reportOfCheck(reports, 'lint'), undefined);
  });

  it('the reading does not depend on the order of the answers [G13]', () => {
    const context = fc.record({
      suite: fc.constantFrom('CS_1', 'CS_2'),
      workflow: fc.constantFrom('W', 'V', undefined),
      conclusion: fc.constantFrom('SUCCESS', 'FAILURE', 'CANCELLED', 'SKIPPED', null),
      startedAt: fc.constantFrom(at('12:00'), at('12:01'), null),
    });
    const verdicts = (contexts: readonly Context[]) =>
      reportsOf(contexts).map(({ status, conclusion, startedAt }) => [status, conclusion, startedAt]);
    const property = fc.property(fc.array(context, { maxLength: 6 }), (drafts) => {
      const contexts = drafts.map(({ workflow, conclusion, ...rest }) =>
        run({
          ...rest,
          conclusion,
          status: conclusion === null ? 'IN_PROGRESS' : 'COMPLETED',
          ...(workflow !== undefined && { workflow }),
        }),
      );
      assert.deepEqual(verdicts(contexts.toReversed()), verdicts(contexts));
    });
    fc.assert(property);
  });

  it('of attempts that began within one second the worse counts, and a cancelled one least [G82]', () => {
    const [failed, cancelled] = [run({ conclusion: 'FAILURE' }), run({ conclusion: 'CANCELLED' })];
    for (const order of [(them: Context[]) => them, (them: Context[]) => them.toReversed()]) {
      assert.equal(only(order([run({}), failed]))?.conclusion, 'FAILURE');
      assert.equal(only(order([cancelled, run({})]))?.conclusion, 'SUCCESS');
      assert.equal(only(order([cancelled, failed]))?.conclusion, 'FAILURE');
      const suites = [
        run({ suite: 'CS_1', workflow: 'W', conclusion: 'CANCELLED' }),
        run({ suite: 'CS_2', workflow: 'W' }),
      ];
      assert.deepEqual(pluck(reportsOfTest(order(suites)), 'conclusion'), ['SUCCESS']);
    }
  });

  it('a status that is set again within one second ends what waits, and a failure stands [G122]', () => {
    assert.deepEqual(told([status({ state: 'PENDING' })], [status({})]), 'SUCCESS');
    assert.deepEqual(told([status({})], [status({ state: 'FAILURE' })]), 'FAILURE');
    assert.deepEqual(told([status({ state: 'ERROR' })], [status({})]), 'ERROR');
    assert.deepEqual(told([status({})], [status({ state: 'PENDING' })], [status({ state: 'FAILURE' })]), 'FAILURE');
    const later = status({ createdAt: '2026-03-01T12:00:01Z' });
    assert.deepEqual(told([status({ state: 'FAILURE' })], [later]), 'SUCCESS');
  });

  it('another that joins under the name counts, also when it began in the same second or before [G123]', () => {
    const ofOther = { id: 'CS_9', app: { slug: 'other-ci', databaseId: 42 }, workflowRun: null };
    const failed = run({ conclusion: 'FAILURE', startedAt: at('11:59'), checkSuite: ofOther });
    const waiting = run({ status: 'QUEUED', conclusion: null, startedAt: null, suite: 'CS_2' });
    assert.equal(told([run({})], [run({}), failed]), 'FAILURE');
    assert.equal(told([run({})], [run({}), status({ state: 'FAILURE' })]), 'FAILURE');
    assert.equal(told([run({})], [run({}), waiting]), undefined);
    // A late answer with an older state changes nothing.
    assert.equal(told([run({}), failed], [run({})]), 'FAILURE');
  });

  it('links are http or none, and what CI says of itself is cut', () => {
    const links = [
      'javascript:alert(1)',
      'https://ci.example/1',
      'http://ci/1',
      'no url',
      `https://x/${'y'.repeat(3_000)}`,
    ];
    assert.deepEqual(
      links.map((detailsUrl) => only([run({ detailsUrl })])?.url),
      [undefined, 'https://ci.example/1', 'http://ci/1', undefined, undefined],
    );
    assert.equal(only([run({ title: 'x'.repeat(5_000) })])?.summary?.length, 1_000);
    assert.equal(only([run({ title: ' ' })])?.summary, undefined);
  });

  it('a suite that is cancelled for another, when both were seen, does not hold up what the other says [G82]', () => {
    const one = { suite: 'CS_1', workflow: 'W', event: 'pull_request', startedAt: at('12:00') };
    const two = { suite: 'CS_2', workflow: 'W', event: 'pull_request', startedAt: at('12:01') };
    const open = { status: 'IN_PROGRESS', conclusion: null };
    const both = [run({ ...one, ...open }), run({ ...two, ...open })];
    const after = (conclusion: string) => [run({ ...one, conclusion: 'CANCELLED' }), run({ ...two, conclusion })];
    assert.deepEqual([told(both, after('SUCCESS')), told(both, after('FAILURE'))], ['SUCCESS', 'FAILURE']);
  });

  it('another suite of one app counts, also where another app began later under the name [G123]', () => {
    const jenkins = (more: object) => {
      const made = run(more) as CheckRunNode;
      return { ...made, checkSuite: { ...made.checkSuite, app: { slug: 'jenkins', databaseId: 7 } } };
    };
    const first = [run({ suite: 'CS_1', startedAt: at('12:01') }), jenkins({ suite: 'CS_9', startedAt: at('12:05') })];
    const joined = [...first, run({ suite: 'CS_2', startedAt: at('12:01'), conclusion: 'FAILURE' })];
    assert.equal(told(first, joined), 'FAILURE');
  });
});
