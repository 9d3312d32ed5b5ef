import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from './config.ts';

const problemsOf = (environment: Record<string, string>) => {
  const parsed = parseConfig(environment);
  return 'problems' in parsed ? parsed.problems : [];
};

describe('the configuration of the runner', () => {
  it('protects by default, and trusts no repository [R25] [R29]', () => {
    const parsed = parseConfig({});
    assert.ok('config' in parsed);
    const { wanted, trustsAll, uids, caches } = parsed.config.runner;
    assert.deepEqual([wanted, trustsAll, caches], [undefined, false, []]);
    assert.deepEqual(uids, { first: 60_600, last: 61_099 });
  });

  it('refuses users that are not for checks alone [R42]', () => {
    for (const range of [
      '0-0',
      '1-999',
      '999-2000',
      '2000-1000',
      '65530-65540',
      '65534-65534',
      'nobody',
      '1000',
      '5-x',
    ]) {
      assert.equal(problemsOf({ SLUICE_RUNNER_UIDS: range }).length, 1, range);
    }
    assert.deepEqual(problemsOf({ SLUICE_RUNNER_UIDS: '200000-200063' }), []);
  });

  it('refuses folders that are not absolute, and other words than it knows [R25]', () => {
    assert.equal(problemsOf({ SLUICE_RUNNER_CACHES: '/a:b' }).length, 1);
    assert.equal(problemsOf({ SLUICE_RUNNER_TOOLS: '~/x' }).length, 1);
    assert.equal(problemsOf({ SLUICE_RUNNER_TRUST: 'yes' }).length, 1);
    assert.equal(problemsOf({ SLUICE_RUNNER_PROTECTION: 'docker' }).length, 1);
  });

  it('takes limits for a check, and none by default [R99]', () => {
    const limitsOf = (environment: Record<string, string>) => {
      const parsed = parseConfig(environment);
      return 'config' in parsed ? parsed.config.runner.limits : undefined;
    };
    assert.deepEqual(limitsOf({}), { memory: undefined, cpus: undefined });
    const limits = limitsOf({ SLUICE_RUNNER_MEMORY: '4G', SLUICE_RUNNER_CPUS: '0.5' });
    assert.deepEqual(limits, { memory: '4G', cpus: 0.5 });
    for (const memory of ['4', '0G', '4 G', '4GB', '-1G', 'max'])
      assert.equal(problemsOf({ SLUICE_RUNNER_MEMORY: memory }).length, 1, memory);
    for (const cpus of ['0', '0.00', '-1', '2.', '1e3', 'max', '50%'])
      assert.equal(problemsOf({ SLUICE_RUNNER_CPUS: cpus }).length, 1, cpus);
  });

  it('says what became of the user for all checks [R41]', () => {
    const [problem = ''] = problemsOf({ SLUICE_RUNNER_USER: 'nobody' });
    assert.match(problem, /^SLUICE_RUNNER_USER is not read any more.*SLUICE_RUNNER_UIDS/);
  });
});
