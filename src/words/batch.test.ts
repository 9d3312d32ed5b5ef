import assert from 'node:assert/strict';
import { test } from 'node:test';
import { batchText } from './batch.ts';

test('a message about a batch is one sentence about all its pull requests [X54]', () => {
  const say = (word: string, more: object = {}) => batchText({ word, prNumbers: [4, 5, 6], branch: 'main', ...more });
  const checks = ['test', 'lint'];
  assert.deepEqual(
    [
      say('submitted'),
      say('testing'),
      say('merged'),
      say('pending_failure', { checks }),
      say('queued', { checks, reason: 'BISECTION_REQUIRED' }),
      say('queued', { reason: 'TESTS_RESTARTED_BY_USER' }),
      say('failed', { checks: ['test'] }),
      say('failed'),
      say('canceled', { prNumbers: [4, 5] }),
    ],
    [
      '#4, #5, #6 form a batch.',
      '#4, #5, #6 are tested together.',
      '#4, #5, #6 landed on main together.',
      'The batch of #4, #5, #6 failed test, lint. Not known yet which of them caused it.',
      'The batch of #4, #5, #6 failed test, lint. Sluice splits it to find the pull request that caused it.',
      '#4, #5, #6 are in the queue for main again.',
      '#4, #5, #6 were removed from the queue for main: their batch failed test.',
      '#4, #5, #6 were removed from the queue for main: their batch failed.',
      '#4, #5 were removed from the queue for main.',
    ],
  );
});
