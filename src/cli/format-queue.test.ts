import assert from 'node:assert/strict';
import { it } from 'node:test';
import { formatAdvice } from './format-queue.ts';

it('shows a line for each replay, and the advice [K29]', () => {
  const replays = [
    { runsPerDecided: 1.1, ciHours: 2, p50Minutes: 12.52, p95Minutes: 34 },
    { runCost: 0.25, runsPerDecided: 0.4, ciHours: 1 },
  ];
  assert.equal(
    formatAdvice({ decided: 42, text: 'Keep it.', replays }),
    'present\t1.10\t12.5\t34.0\nrunCost 0.25\t0.40\t-\t-\n\nReplayed: the last 42 decided pull requests.\nKeep it.\n',
  );
  assert.equal(formatAdvice({ decided: 1, text: 'Too few.', replays: [] }), 'Too few.\n');
});
