import assert from 'node:assert/strict';
import { test } from 'node:test';
import { answerOf } from './push.ts';

const rejected = (summary: string, stderr = '') =>
  answerOf(`To example.test:app\n!\t${'a'.repeat(40)}:refs/heads/main\t${summary}\nDone\n`, stderr);

test('the slower of two pushes looks again', () => {
  for (const summary of [
    '[rejected] (stale info)',
    '[rejected] (fetch first)',
    '[remote rejected] (failed to update ref)',
    '[remote rejected] (incorrect old value provided)',
    "[remote rejected] (cannot lock ref 'refs/heads/main')",
  ]) {
    assert.deepEqual(rejected(summary), { kind: 'stale' });
  }
});

test('a refusal of the remote is passed on in its words', () => {
  for (const summary of ['[remote rejected] (pre-receive hook declined)', '[remote rejected] (protected branch)']) {
    assert.deepEqual(rejected(summary), { kind: 'refused', detail: `Git could not push to the remote: ${summary}.` });
  }
  const rule = 'remote: error: GH013: Repository rule violations found for refs/heads/x.\nremote: \nremote: - No.\n';
  assert.deepEqual(rejected('[remote rejected] (push declined due to blocked words)', rule), {
    kind: 'refused',
    detail:
      'Git could not push to the remote: [remote rejected] (push declined due to blocked words): GH013: Repository rule violations found for refs/heads/x.: - No.',
  });
  const stderr = "remote: error: cannot lock ref 'x/y': 'x' exists; cannot create 'x/y'";
  assert.equal(rejected('[remote rejected] (failed to update ref)', stderr).kind, 'refused');
});

test('a push without an answer about the ref is a fault, neither landed nor refused', () => {
  const stderr = 'fatal: Could not read from remote repository.\n';
  assert.throws(() => answerOf('', stderr), /FORGE_UNAVAILABLE: .*Could not read from remote repository\.$/);
  assert.throws(() => rejected('[remote failure] (remote failed to report status)', stderr), /FORGE_UNAVAILABLE/);
});
