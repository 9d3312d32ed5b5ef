import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type EntryRecord, EXAMPLE_LANDED_RECORD, type ExplanationReason } from '../../contract/entry.ts';
import { formatRecord } from './format-entry.ts';

const RECORD = EXAMPLE_LANDED_RECORD as EntryRecord & { landed: NonNullable<EntryRecord['landed']> };

function reason(text: string, reasons: ExplanationReason[] = []): ExplanationReason {
  return { code: 'CODE', text, reasons };
}

function explained(summary: string, reasons: ExplanationReason[]): string {
  const { landed: _landed, timeline: _timeline, ...record } = RECORD;
  return formatRecord({
    ...record,
    explanation: { headline: 'Waits', summary, next: 'It goes on.', commands: [], reasons },
  });
}

describe('the words for an entry', () => {
  it('go down the tree of reasons, each further in [E12]', () => {
    const text = explained('It waits.', [reason('For #5.', [reason('For #4.', [reason('test is open.')])])]);
    const tree = ['It waits.', '  - For #5.', '    - For #4.', '      - test is open.', 'Next: It goes on.'];
    assert.ok(text.includes(tree.join('\n')), text);
  });

  it('say nothing twice that the sentence above ends with', () => {
    const text = explained('It waits. For #5.', [reason('For #5.', [reason('For #4.')])]);
    assert.ok(text.includes('It waits. For #5.\n  - For #4.\nNext:'), text);
  });

  it('end with the command that prints what a failed check printed [W3]', () => {
    const { landed: _landed, ...record } = RECORD;
    const testRunId = '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55';
    const failed = { at: RECORD.stateChangedAt, state: 'FAILED' as const, reason: 'REASON', text: 'It failed.' };
    const text = formatRecord({ ...record, timeline: [{ ...failed, testRunId, checks: ['test', 'two words'] }] });
    const command = `What it printed: sluice logs ${testRunId}`;
    assert.ok(text.includes(`${command} test\n${command} 'two words'\n`), text);
    assert.doesNotMatch(formatRecord({ ...record, timeline: [failed] }), /sluice logs/);
  });

  it('show the address of a CI outside, and no log that has nothing [W33]', () => {
    const { landed: _landed, ...record } = RECORD;
    const failed = { at: RECORD.stateChangedAt, state: 'FAILED' as const, reason: 'REASON', text: 'It failed.' };
    const timeline = [{ ...failed, testRunId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', checks: ['test'] }];
    const formatWith = (why: ExplanationReason): string =>
      formatRecord({
        ...record,
        timeline,
        explanation: { headline: 'Failed', summary: 'It failed.', next: 'Fix it.', commands: [], reasons: [why] },
      });
    const outside = formatWith({ ...reason('test failed.'), url: 'https://ci.acme.dev/7' });
    assert.match(outside, / {2}- test failed\. https:\/\/ci\.acme\.dev\/7\n/);
    assert.doesNotMatch(outside, /sluice logs/);
    const repeated = formatWith(
      reason('The check test failed.', [{ ...reason('test failed.'), url: 'https://ci.acme.dev/8' }]),
    );
    assert.match(repeated, /- test failed\. https:\/\/ci\.acme\.dev\/8\n/);
    const inside = formatWith(reason('It failed.', [reason('test failed. Read its output: sluice logs 0f6f')]));
    assert.match(inside, /What it printed: sluice logs \S+ test\n/);
  });

  it('name the commit that landed [L3]', () => {
    assert.match(formatRecord(RECORD), new RegExp(`Landed +${RECORD.landed.sha}\n`));
  });
});
