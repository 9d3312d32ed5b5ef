import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testBranch } from '../../forge/candidate/candidate-refs.ts';
import type { PrNumber } from './pull-request.ts';
import { askedIn, checkOfProbe, type Question, requiredOfProbe } from './question.ts';
import { areSameChecks, requiredChecks } from './required.ts';
import { DEFAULT_SETTINGS } from './settings.ts';

const tests = [{ id: 'a', name: 'test_a' }];
const question: Question = [{ check: 'unit', tests }];

function required(probeStatuses: readonly string[], selecting?: readonly string[]) {
  const protection = ['lint', { name: 'unit', app: 'github-actions' }];
  const sources = {
    file: undefined,
    fileProblem: undefined,
    protection,
    commands: '',
    ...(selecting && { selecting }),
  };
  const checks = requiredChecks({ ...DEFAULT_SETTINGS, probeStatuses }, sources, []);
  assert.ok(typeof checks !== 'string');
  return checks;
}

describe('a probe', () => {
  it('reports under a name of its own, so that its pass is no pass of a required check [B16]', () => {
    const whole = required(['unit']);
    const probe = requiredOfProbe(whole, question);
    assert.deepEqual(probe.names, ['unit (probe)']);
    assert.deepEqual(probe.apps, { 'unit (probe)': 'github-actions' });
    assert.deepEqual(probe.stray, ['lint', 'unit']);
    assert.equal(areSameChecks(whole, probe), false);
    assert.deepEqual([checkOfProbe('unit (probe)'), checkOfProbe('unit')], ['unit', 'unit']);
    assert.deepEqual([askedIn(question, 'unit (probe)'), askedIn(question, 'unit')], [tests, []]);
  });

  it('asks the required checks that the file or the queue says can select tests [B16]', () => {
    assert.deepEqual(required(['unit', 'gone'], ['lint']).selecting, ['lint', 'unit']);
    assert.equal(required([]).selecting, undefined);
  });

  it('has a branch that CI can tell from others [B16]', () => {
    const parts = { candidateId: '0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55', prNumber: 7 as PrNumber, isBisection: true };
    const name = 'pr-7/0f6fd6c4-5b1f-8d0e-8c0b-7b9f2f0a1c55-bisection';
    assert.equal(testBranch('sluice', parts), `sluice/${name}`);
    assert.equal(testBranch('sluice', { ...parts, isProbe: true }), `sluice/probe/${name}`);
  });
});
