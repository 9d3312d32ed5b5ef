import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseConfig } from './config.ts';

function problemsOf(environment: Record<string, string>): readonly string[] {
  const parsed = parseConfig(environment);
  return 'problems' in parsed ? parsed.problems : [];
}

describe('configuration', () => {
  it('has a default for everything; blank is unset', () => {
    const parsed = parseConfig({ SLUICE_PORT: ' ', PATH: '/bin' });
    assert.ok('config' in parsed);
    assert.equal(parsed.config.port, 8080);
    assert.equal(parsed.config.host, '127.0.0.1');
    assert.equal(parsed.config.publicUrl, undefined);
    assert.deepEqual(parsed.warnings, []);
  });

  it('reports every problem at once, in words, without repeating secrets', () => {
    const problems = problemsOf({
      SLUICE_PORT: '80.5',
      SLUICE_URL: 'sluice.example',
      SLUICE_DATABASE_URL: 'mysql://user:hunter2@host/db',
      SLUICE_ADMIN_TOKEN: 'short secret',
      SLUICE_ORG: 'Not A Slug',
      SLUICE_RATE_LIMIT: '-1',
      SLUICE_LOG_LEVEL: 'loud',
      SLUICE_HOST: 'bad host',
      SLUICE_RUNNER_UIDS: '0-10',
      SLUICE_TEST_BRANCH_PREFIX: 'a..b c',
    });
    assert.equal(problems.length, 10);
    assert.ok(problems.every((problem) => /^SLUICE_\w+ must be /.test(problem)));
    assert.ok(!problems.join().includes('hunter2') && !problems.join().includes('short secret'));
  });

  it('warns of variables it does not know, except the client ones', () => {
    const parsed = parseConfig({ SLUICE_PROT: '1', SLUICE_TOKEN: 'x' });
    assert.ok('config' in parsed);
    assert.equal(parsed.warnings.length, 1);
    assert.match(parsed.warnings[0] ?? '', /SLUICE_PROT/);
  });

  it('takes a schedule of backups as minutes, hours or days [D20]', () => {
    const scheduleOf = (SLUICE_BACKUP_EVERY: string) => {
      const parsed = parseConfig({ SLUICE_BACKUP_EVERY });
      return 'config' in parsed ? parsed.config.backupSchedule : parsed.problems;
    };
    assert.deepEqual(scheduleOf('6h'), { everyMs: 6 * 3_600_000, keep: 7 });
    assert.deepEqual(scheduleOf('30m'), { everyMs: 30 * 60_000, keep: 7 });
    assert.deepEqual(scheduleOf('1d'), { everyMs: 24 * 3_600_000, keep: 7 });
    assert.equal(scheduleOf(''), undefined);
    for (const wrong of ['0h', '6', 'h', '6 h', '1w', '-1d', '1.5h', '99999d']) {
      assert.match(String(scheduleOf(wrong)), /^SLUICE_BACKUP_EVERY must be .* such as 30m, 6h or 1d, not /, wrong);
    }
  });

  it('takes a database with several hosts, and backups of it [D23] [D33]', () => {
    const url = 'postgres://sluice:a%2Fb@db1:5432,db2:5433/sluice?sslmode=require';
    const parsed = parseConfig({ SLUICE_DATABASE_URL: url, SLUICE_BACKUP_EVERY: '1d' });
    assert.ok('config' in parsed, JSON.stringify(parsed));
    assert.equal(parsed.config.databaseUrl, url);
    for (const wrong of ['mysql://db/sluice', 'postgres://db:port/sluice']) {
      assert.match(String(problemsOf({ SLUICE_DATABASE_URL: wrong })), /must be an address/, wrong);
    }
  });

  it('takes public repositories by organization and name, and refuses anything else in words [A41]', () => {
    const of = (SLUICE_PUBLIC_READ: string) => parseConfig({ SLUICE_PUBLIC_READ });
    const parsed = of('acme/github.com/acme/app, acme/git.acme.dev/group/deep/lib');
    assert.deepEqual(
      'config' in parsed && parsed.config.publicRead.map(({ organization, repo }) => [organization, repo]),
      [
        ['acme', { host: 'github.com', owner: 'acme', name: 'app' }],
        ['acme', { host: 'git.acme.dev', owner: 'group/deep', name: 'lib' }],
      ],
    );
    for (const wrong of [
      'acme',
      'github.com/acme/app',
      'Acme/github.com/acme/app',
      'acme//acme/app',
      'acme/h/o/*',
      'login/h/o/n',
    ]) {
      const refused = of(`acme/local/acme/app,${wrong}`);
      assert.ok('problems' in refused && refused.problems[0]?.includes(`not "${wrong}"`), wrong);
    }
  });

  it('takes slashes from the end of the public address', () => {
    const parsed = parseConfig({ SLUICE_URL: 'https://sluice.example/base//' });
    assert.ok('config' in parsed);
    assert.equal(parsed.config.publicUrl, 'https://sluice.example/base');
  });

  it('takes proxies as addresses and ranges, and refuses anything else in words [H33]', () => {
    const of = (SLUICE_TRUSTED_PROXIES: string) => parseConfig({ SLUICE_TRUSTED_PROXIES });
    const parsed = of('10.0.0.5, 10.0.0.0/8 fd00::/8,::1');
    assert.deepEqual('config' in parsed && parsed.config.trustedProxies, ['10.0.0.5', '10.0.0.0/8', 'fd00::/8', '::1']);
    const unset = of(' ');
    assert.deepEqual('config' in unset && unset.config.trustedProxies, []);
    for (const wrong of [
      'proxy.acme.dev',
      '10.0.0.0/33',
      'fd00::/129',
      '10.0.0.0/8/8',
      '10.0.0',
      'fe80::1%eth0',
      '*',
    ]) {
      const refused = of(`127.0.0.1,${wrong}`);
      assert.ok('problems' in refused && refused.problems[0]?.includes(`not "${wrong}"`), wrong);
    }
  });
});
