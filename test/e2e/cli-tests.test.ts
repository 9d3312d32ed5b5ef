import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { pluck } from '../helpers/pluck.ts';
import { makeFolder } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { useServer } from './test-queue.ts';

const REPO = 'local/acme/app';
const SHA = '2f1c7d0e5b6a49388c1d2e3f4a5b6c7d8e9f0a1b';

function testCase(name: string, at: string, isFailing = false): string {
  const attributes = `name="${name}" classname="net" file="test/net.test.ts" time="0.25" timestamp="${at}"`;
  return isFailing
    ? `<testcase ${attributes}><failure message="Timed out after 5000 ms">at net.ts:7</failure></testcase>`
    : `<testcase ${attributes}/>`;
}

const TIME = new Date(Date.now() - 60_000).toISOString();

describe('sluice tests [W7] [W8]', () => {
  const world = useServer();
  let folder: string;
  let env: Readonly<Record<string, string>>;
  let flakyId = '';

  const run = (args: readonly string[]) => sluice(['tests', ...args, '--repo', REPO], { env, cwd: folder });
  async function words(...args: string[]): Promise<string> {
    const { code, out, err } = await run(args);
    assert.equal(code, 0, err);
    return out;
  }
  async function document<T = Record<string, unknown>>(...args: string[]): Promise<T> {
    return JSON.parse(await words(...args, '--json')) as T;
  }

  before(async () => {
    folder = await makeFolder();
    env = world.server.env;
    // One test fails and passes on the same commit in the same job.
    const now = Date.now();
    const at = (minutesAgo: number): string => new Date(now - minutesAgo * 60_000).toISOString();
    const uploads = [
      [testCase('closes early', at(9), true), testCase('closes late', at(9)), testCase('opens', at(9))],
      [testCase('closes early', at(5)), testCase('closes late', at(5)), testCase('opens', at(5))],
    ];
    for (const [index, cases] of uploads.entries()) {
      writeFileSync(join(folder, `${index}.xml`), `<testsuite name="net">${cases.join('')}</testsuite>`);
      const args = ['upload', `${index}.xml`, '--repo', REPO, '--sha', SHA, '--branch', 'main', '--job', 'unit'];
      const { err } = await sluice([...args, '--wait', '--exit-code', '0'], { env, cwd: folder });
      assert.match(err, /It has been processed/);
    }
  });

  it('lists those that are flaky, failing, or found by name', async () => {
    const { flaky } = await document<{ flaky: { tests: { id: string; name: string }[] } }>('list');
    assert.deepEqual(pluck(flaky.tests, 'name'), ['closes early']);
    flakyId = flaky.tests[0]?.id ?? '';
    assert.match(await words('list'), new RegExp(`FLAKY\\t.*${flakyId}\\t.*net > closes early \\(test/net.test.ts\\)`));
    assert.match(await words('list', '--failing', '--since', '7d'), /closes early/);
    assert.equal(await words('list', '--broken'), 'No test is broken.\n');
    assert.match(await words('list', '--name', 'CLOSES'), /closes early[\s\S]*closes late/);
    assert.equal((await run(['list', '--flaky', '--broken'])).code, 2);
    assert.equal((await run(['list', '--failing', '--since', '8d'])).code, 2);
    const page = await words('list', '--name', 'closes', '--limit', '1');
    assert.equal(page.trim().split('\n').length, 1);
  });

  it('proposes the name of a test that nearly matches [W35]', async () => {
    const { code, err } = await run(['show', 'clsoes early']);
    assert.equal(code, 1);
    assert.match(err, /No test has "clsoes early" .*suite\. Did you mean closes early\?\n$/);
  });

  it('shows a test by a part of its name, with its history', async () => {
    const text = await words('show', 'closes early');
    assert.match(text, /^net > closes early\n/);
    assert.match(text, /Status +FLAKY, since/);
    assert.match(text, /Monitors\n {2}Pass on retry \(pass_on_retry\) active/);
    assert.match(text, /Most common failures\n {2}1x, last .*Timed out after/);
    assert.match(text, /a column a day: 2 runs, 1 failed\n {2}runs {4}\S{30}\n {2}failed {2}\S{30}\n/);
    const { test } = await document<{ test: { id: string } }>('show', flakyId);
    assert.equal(test.id, flakyId);
  });

  it('lists several tests that a name means, and says which is none [W19]', async () => {
    const several = await run(['show', 'closes']);
    assert.equal(several.code, 1);
    assert.match(several.err, new RegExp(`Say which by its id:\\n {2}${flakyId} {2}net > closes early`));
    const none = await run(['show', 'nothing']);
    assert.deepEqual([none.code, none.err], [1, 'sluice: No test has "nothing" in its name, class, file or suite.\n']);
  });

  it('quarantines, says who did and why, and ends it', async () => {
    assert.equal((await run(['quarantine', flakyId])).code, 2, 'a reason is needed');
    const done = await words('quarantine', flakyId, '--reason', 'See NET-12', '--until', '7d');
    assert.match(done, /quarantined, since .*\(always in net, by .*: See NET-12; ends /);
    assert.match(await words('list', '--quarantined'), new RegExp(`somebody\\t.*${flakyId}`));
    assert.equal(await words('list', '--review'), 'No quarantined test is to be reviewed.\n');
    assert.match(await words('quarantine', flakyId, '--never', '--reason', 'No'), /not quarantined \(never/);
    assert.match(await words('quarantine', flakyId, '--clear', '--reason', 'Fixed'), /: not quarantined\.\n$/);
    assert.match(await words('events', flakyId), /See NET-12/);
  });

  it('flags, mutes, labels and links', async () => {
    assert.match(await words('flag', 'opens', '--reason', 'Mondays'), /opens.* is FLAKY: .*Mondays/);
    assert.match(await words('flag', 'opens', '--remove'), /opens.* is HEALTHY/);
    assert.match(
      await words('mute', flakyId, 'pass-on-retry', '--for', '24h'),
      /muted for this test, which ends .*HEALTHY/,
    );
    assert.match(await words('mute', flakyId, 'Pass on retry', '--remove'), /counts again\. .* is FLAKY/);
    assert.match((await run(['mute', flakyId, 'nobody'])).err, /No monitor is called "nobody"\. There are:/);
    assert.match(await words('label', flakyId, 'network'), /Labels: .*network/);
    assert.doesNotMatch(await words('label', flakyId, 'network', '--remove'), /network\./);
    assert.match(await words('ticket', flakyId, 'https://t.test/NET-12'), /Its ticket is https:\/\/t\.test\/NET-12/);
    assert.match(await words('ticket', flakyId, '--remove'), /It has no ticket/);
    assert.equal((await run(['ticket', flakyId])).code, 2);
  });

  it('lists runs and uploads', async () => {
    const runs = await words('runs', flakyId);
    assert.match(runs, /SUCCESS\t250 ms\t2f1c7d0e5\tmain\t[\s\S]*FAILURE\t.*\tTimed out/);
    assert.doesNotMatch(await words('runs', flakyId, '--conclusion', 'failure'), /SUCCESS/);
    assert.match(await words('uploads'), /PROCESSED\t.*\t2f1c7d0e5\tmain\tunit\t1\t3\t/);
    const page = await run(['uploads', '--limit', '1']);
    assert.match(page.err, /^There are more: add --cursor \S+\n$/);
    assert.equal(page.out.trimEnd().split('\n').length, 1, 'beside the rows there is nothing in a pipe');
    const { uploads } = await document<{ uploads: { id: string }[] }>('uploads', 'list');
    assert.equal(uploads.length, 2);
  });

  it('changes settings and monitors', async () => {
    assert.match(await words('settings', 'set', 'auto-quarantine=on', 'retention_days=30'), /auto_quarantine +true/);
    const settings = await document('settings');
    assert.deepEqual([settings['auto_quarantine'], settings['retention_days']], [true, 30]);
    assert.equal((await run(['settings', 'set', 'colour=red'])).code, 2);
    assert.match((await run(['settings', 'set', 'retention_days=0'])).err, /1 to 365/);

    const made = await words(
      ...['monitors', 'set', '--type', 'failure_rate', '--name', 'Often red', '--branches', 'main,release/*'],
      ...['--classify', 'flaky', '--parameter', 'activation_threshold=0.2', '--parameter', 'window_hours=24'],
      ...['--parameter', 'minimum_sample_size=20'],
    );
    assert.match(
      made,
      /It is set[\s\S]*Often red\n[\s\S]*FLAKY\n +Branches +main, release\/\*\n.*activation_threshold=0\.2/,
    );
    writeFileSync(join(folder, 'monitor.yaml'), 'parameters:\n  window_hours: 48\nbranches: [main]\n');
    const changed = await words('monitors', 'set', 'often red', '--file', 'monitor.yaml');
    assert.match(changed, /FLAKY\n +Branches +main\n.*activation_threshold=0\.2.* window_hours=48/);
    assert.match(await words('monitors', 'set', 'Often red', '--no-enabled'), /Often red \(off\)/);
    assert.match(await words('monitors', 'delete', 'Often red'), /is deleted/);
    assert.doesNotMatch(await words('monitors'), /Often red/);
    assert.equal((await run(['monitors', 'set', 'Pass on retry'])).code, 2);
    const { err } = await run(['monitors', 'set', '--type', 'failure_rate', '--parameter', 'window_hours=0']);
    assert.match(err, /^ {2}--classify or --labels must have exactly one of /m);
    assert.match(err, /^ {2}--parameter window_hours must be /m);
    assert.doesNotMatch(err, /monitor\./);
  });

  it('says what the server refuses in words of the command line', async () => {
    const { code, err } = await sluice(['tests', 'list', '--repo', 'local/acme/nothing'], { env, cwd: folder });
    assert.equal(code, 1);
    assert.match(err, /^sluice: /);
    const stranger = await run(['list', '--org', 'nobody']);
    assert.match(stranger.err, /Check --org \(or SLUICE_ORG\)\./);
    const missing = await sluice(['tests', 'list'], { env, cwd: folder });
    assert.deepEqual([missing.code, /-R host\/owner\/name/.test(missing.err)], [2, true]);
  });

  it('asks in which suites a test is to be quarantined, and refuses where it cannot ask [W70]', async () => {
    const inner = ['old', 'new'].map((name) => `<testsuite name="${name}">${testCase('twice', TIME)}</testsuite>`);
    writeFileSync(join(folder, 'twice.xml'), `<testsuite name="net">${inner.join('')}</testsuite>`);
    const args = ['upload', 'twice.xml', '--repo', REPO, '--sha', SHA, '--branch', 'main', '--job', 'unit', '--wait'];
    assert.match((await sluice(args, { env, cwd: folder })).err, /It has been processed/);
    const decide = ['quarantine', 'twice', '--reason', 'Known'];
    const open = await run(decide);
    assert.equal(open.code, 2);
    assert.match(open.err, /in 2 suites:\n {2}1 {2}net > old\n {2}2 {2}net > new\nSay --suite '\.\.\.' .*--all-suites/);
    assert.equal((await run([...decide, '--suite', 'net > old', '--all-suites'])).code, 2);
    assert.equal((await run([...decide, '--never', '--all-suites'])).code, 2);
    assert.match((await run([...decide, '--suite', 'net'])).err, /there is no "net"\. It has "net > old", "net > new"/);
    assert.match(await words(...decide, '--suite', 'net > new'), /quarantined, since .*\(always in net > new, by/);
    assert.match(await words('list', '--quarantined'), /net > twice.*\tnet > new\n/);
    assert.match(await words(...decide, '--all-suites'), /\(always in net > old, net > new, by/);
    assert.match(await words('show', 'twice'), /Suites +net > old, net > new\n/);
  });
});
