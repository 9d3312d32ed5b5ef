import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Operation } from '../../contract/operation.ts';
import { ROUTES } from '../routes.ts';
import { type Dialect, sluiceDialect, trunkDialect } from './dialect.ts';

function operationOf(name: string): Operation {
  return ROUTES.find((route) => route.operation.name === name)?.operation as Operation;
}

function translated(name: string): Record<string, never> {
  const operation = operationOf(name);
  return trunkDialect.translatorFor(operation)(operation.example.reply) as Record<string, never>;
}

describe('/trunk/v1', () => {
  it('shows enums in lower case, deep inside too [H9]', () => {
    const queue = translated('getQueue') as unknown as {
      state: string;
      mergeMethod: string;
      enqueuedPullRequests: { state: string }[];
    };
    assert.equal(queue.state, 'running');
    assert.equal(queue.mergeMethod, 'squash');
    assert.equal(queue.enqueuedPullRequests[0]?.state, 'pending');
    assert.equal(
      (translated('getSubmittedPullRequest') as unknown as { readiness: { gitHubMergeability: string } }).readiness
        .gitHubMergeability,
      'mergeable',
    );
    assert.equal(
      (translated('getTestDetails') as unknown as { test: { status: { value: string } } }).test.status.value,
      'flaky',
    );
  });

  it('shows a test as the reference product does [F32]', () => {
    const { test } = translated('getTestDetails') as unknown as { test: object };
    const { status, quarantined } = test as { status: object; quarantined: boolean };
    assert.ok(status !== undefined && quarantined !== undefined);
    const own = ['first_seen_at', 'quarantined_at', 'quarantine_override', 'flag', 'labels', 'monitors', 'daily'];
    for (const name of own) assert.equal(name in test, false, name);
    assert.deepEqual(translated('linkTicketToTestCase'), {});
    assert.deepEqual([sluiceDialect.hasReviews, trunkDialect.hasReviews], [true, false]);
  });

  it('knows no alarms and no statistics [H25] [N9] [K22]', () => {
    const { queues } = translated('listQueues') as unknown as { queues: object[] };
    for (const queue of [...queues, translated('getQueue'), translated('createQueue')]) {
      assert.equal('alarms' in queue, false);
    }
    const translate = trunkDialect.translatorFor(operationOf('getQueue'));
    for (const name of ['learned', 'automaticSettings'])
      assert.equal(name in (translate({ enqueuedPullRequests: [], [name]: [] }) as object), false, name);
    assert.deepEqual([sluiceDialect.hasAlarms, trunkDialect.hasAlarms], [true, false]);
  });

  it('shows test runs, landings and their reasons in lower case, and checks as they are [H9]', () => {
    const run = translated('reportCheck') as unknown as {
      status: string;
      requiredStatusesSource: string;
      checkSuites: { checkRuns: { status: string; conclusion: string }[] }[];
    };
    const [check] = run.checkSuites[0]?.checkRuns ?? [];
    assert.deepEqual(
      [run.status, run.requiredStatusesSource, check?.status, check?.conclusion],
      ['succeeded', 'merge_instance', 'COMPLETED', 'SUCCESS'],
    );
    const entry = translated('getSubmittedPullRequest') as unknown as {
      landed: { kind: string };
      timeline: { state: string; reason: string }[];
    };
    const [step] = entry.timeline;
    assert.deepEqual([entry.landed.kind, step?.state, step?.reason], ['identical', 'merged', 'merge_graph_merge']);
    const { testingResults } = translated('listMergeQueueTestingResults') as unknown as {
      testingResults: { outcome: string; cycleConclusion: string }[];
    };
    assert.deepEqual([testingResults[0]?.outcome, testingResults[0]?.cycleConclusion], ['passed', 'merged']);
  });

  it('quarantine rows keep their case and have null for unknown fields [H28]', () => {
    const page = translated('listQuarantinedTests') as unknown as { quarantined_tests: Record<string, unknown>[] };
    const [row] = page.quarantined_tests;
    assert.equal(row?.status, 'FLAKY');
    assert.equal(row?.parent, null);
    assert.equal(row?.classname, null);
    assert.equal(row?.file, 'test/connection.test.ts');
  });

  it('never changes the answer itself', () => {
    const operation = operationOf('getQueue');
    const before = structuredClone(operation.example.reply);
    trunkDialect.translatorFor(operation)(operation.example.reply);
    assert.deepEqual(operation.example.reply, before);
  });

  it('a queue that is not empty cannot be deleted: 400 there, 409 here [H26] [Q2]', () => {
    const statusOf = (dialect: Dialect, name: string) => dialect.statusOf('QUEUE_NOT_EMPTY', operationOf(name));
    assert.equal(statusOf(trunkDialect, 'deleteQueue'), 400);
    assert.equal(statusOf(trunkDialect, 'updateQueue'), 409);
    assert.equal(statusOf(sluiceDialect, 'deleteQueue'), 409);
  });
});
