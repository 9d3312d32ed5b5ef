import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { viewTestEvent } from './test-event-view.ts';

const NAMES = new Map([['m-1', 'Often red']]);

function textOf(kind: string, detail: object): string {
  const row = { testId: 't-1', at: 0, actor: null, kind, detail: JSON.stringify(detail) };
  return viewTestEvent(row, NAMES).text;
}

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
