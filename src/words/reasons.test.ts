import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Timeout } from '../engine/model/candidate.ts';
import { REASON_CODES } from '../engine/model/reason.ts';
import { changeText } from './reasons.ts';

const LEFT = REASON_CODES.slice(REASON_CODES.indexOf('TEST_RUN_REQUIRED_STATUS_FAILED'));
const REMOVED = [...LEFT.filter((code) => !/MERGE_GRAPH|MANUAL_MERGE/.test(code)), 'USER_REQUESTED'] as const;

test('the sentence of a removal ends with its code, and a page says what to do about it [E61]', () => {
  const index = readFileSync(new URL('../../docs/troubleshooting.md', import.meta.url), 'utf8');
  for (const reason of REMOVED) {
    assert.match(changeText({ to: 'FAILED', branch: 'main', because: { reason } }), new RegExp(` \\[${reason}\\]$`));
    assert.ok(index.includes(`\`${reason}\``), reason);
  }
  assert.doesNotMatch(changeText({ to: 'PENDING', branch: 'main', because: { reason: 'TARGET_BRANCH_RED' } }), /\[/);
});

test('the sentence of a timeout says how long the limit was, and whether it followed the queue [V78]', () => {
  const told = (timeout: Timeout) =>
    changeText({ to: 'FAILED', branch: 'main', because: { reason: 'TEST_RUN_TIMEOUT', checks: ['ci'], timeout } });
  const isBegun = true;
  assert.match(
    told({ minutes: 20, isBegun, isAutomatic: true }),
    /^The check ci did not finish within 20 minutes \(testingTimeoutMinutes is unset and follows the queue\)\./,
  );
  assert.match(
    told({ minutes: 60, isBegun }),
    /^The check ci did not finish within 60 minutes \(testingTimeoutMinutes\)\./,
  );
});
