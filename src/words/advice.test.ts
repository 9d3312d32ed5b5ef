import assert from 'node:assert/strict';
import { it } from 'node:test';
import { adviceText, tooFewText } from './advice.ts';

const replay = (runCost: number | undefined, runsPerDecided: number, p50Minutes: number, p95Minutes: number) => ({
  ...{ runCost, runsPerDecided, ciHours: 1, p50Minutes, p95Minutes },
});

it('advice names settings that are better in one respect and worse in none, else to keep the present ones [K27]', () => {
  const present = replay(undefined, 1.1, 10, 30);
  const slower = replay(16, 0.3, 10, 40);
  const good = replay(4, 0.8, 10, 29);
  const best = replay(2, 0.5, 8, 9.25);
  assert.match(adviceText(present, [slower]), /^Keep the present settings: /);
  assert.match(adviceText(present, [replay(1, 1.08, 10, 30)]), /^Keep/, 'a difference within noise');
  assert.match(adviceText(present, [{ ...good, p50Minutes: undefined, p95Minutes: undefined }]), /^Keep/);
  assert.equal(
    adviceText(present, [slower, good, best]),
    'ADAPTIVE with runCost 2 (balanced) needs 0.50 CI runs per pull request instead of 1.10 and lands 95 of 100 within 9.3 minutes instead of 30.',
  );
  assert.match(tooFewText(1), /^A test has decided 1 pull request of this queue\. Advice needs 30 /);
});
