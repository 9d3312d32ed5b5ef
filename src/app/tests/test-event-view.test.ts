import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { viewTestEvent } from './test-event-view.ts';

const NAMES = new Map([['m-1', 'Often red']]);

function textOf(kind: string, detail: object): string {
  const row = { testId: 't-1', at: 0, actor: null, kind, detail: JSON.stringify(detail) };
  return viewTestEvent(row, NAMES).text;
}

describe('the evidence of a retry [F88]', () => {
  const [failed, passed] = [
    { uploadId: 'u-1', sha: 'c1', candidateId: 'test-run-1' },
    { uploadId: 'u-2', sha: 'c2', candidateId: null },
  ];
  const run = { at: 0, sha: 'c2', branch: 'main', job: 'unit', prNumber: null, uploadId: 'u-2' };

  it('names the tree and, of both outcomes, the upload, the commit and the test run', () => {
    const detail = { reason: 'why', evidence: { runs: [{ ...run, tree: 't1', failed, passed }, run], figures: {} } };
    const row = { testId: 't-1', at: 0, actor: null, kind: 'monitor_activated', detail: JSON.stringify(detail) };
    const [retry, other] = viewTestEvent(row, NAMES).evidence?.runs ?? [];
    assert.deepEqual([retry?.sha, retry?.tree], ['c2', 't1']);
    assert.deepEqual(retry?.failed, { sha: 'c1', upload_id: 'u-1', test_run_id: 'test-run-1' });
    assert.deepEqual(retry?.passed, { sha: 'c2', upload_id: 'u-2' });
    assert.deepEqual(Object.keys(other ?? {}), ['at', 'sha', 'branch', 'upload_id', 'job'], 'as of 0.2.0');
  });
});

describe('the history text of a monitor [F30]', () => {
  const resolved = { monitorId: 'gone', type: 'failure_rate', cause: 'deleted' };

  it('has the present name of a monitor that is there', () => {
    const text = textOf('monitor_resolved', { ...resolved, monitorId: 'm-1', monitorName: 'Red' });
    assert.equal(text, 'The monitor "Often red" no longer detects it: deleted.');
  });

  it('has the former name of a monitor that is gone', () => {
    const text = textOf('monitor_resolved', { ...resolved, monitorName: 'Red' });
    assert.equal(text, 'The monitor "Red" no longer detects it: deleted.');
    const label = { label: 'x', source: { kind: 'monitor', id: 'gone' }, monitorName: 'Red' };
    assert.equal(textOf('label_removed', label), 'The monitor "Red" took the label "x" away.');
  });

  it('names the type where the event has no name', () => {
    assert.equal(textOf('monitor_resolved', resolved), 'The monitor "failure_rate" no longer detects it: deleted.');
    assert.equal(
      textOf('monitor_unmuted', { monitorId: 'gone', hasExpired: true }),
      'The mute of a monitor that is gone ended.',
    );
    const label = { label: 'x', source: { kind: 'monitor', id: 'gone' } };
    assert.equal(textOf('label_added', label), 'A monitor that is gone put the label "x" on.');
  });
});
