import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { listen } from '../helpers/listen.ts';
import { makeFolder } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { HAS_TERMINAL, runOnTerminal } from './run-sluice.ts';
import { useServer } from './test-queue.ts';

const REPO = { host: 'github.com', owner: 'acme', name: 'widgets' };
const SCOPE = { repo: REPO, org_url_slug: 'default' };

/** A report of these tests; `!` before a name: it fails. */
function report(...names: string[]): string {
  const cases = names.map((name) =>
    name.startsWith('!')
      ? `<testcase name="${name.slice(1)}" classname="math" file="src/math.test.ts" time="0.1"><failure message="expected 1 of ${name.slice(1)}">at math.ts:1</failure></testcase>`
      : `<testcase name="${name}" classname="math" file="src/math.test.ts" time="0.1"/>`,
  );
  return `<testsuites><testsuite name="math suite">${cases.join('')}</testsuite></testsuites>`;
}

describe('sluice upload [W5] [W6]', () => {
  const world = useServer();
  let folder: string;
  let env: Readonly<Record<string, string>>;
  let sha = '';

  before(async () => {
    folder = await makeFolder();
    env = world.server.env;
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=dev', '-c', 'user.email=dev@acme.test', ...args], {
        cwd: folder,
        encoding: 'utf8',
      }).trim();
    git('init', '-q', '-b', 'main');
    git('remote', 'add', 'origin', 'git@github.com:acme/widgets.git');
    git('commit', '-q', '--allow-empty', '-m', 'init');
    sha = git('rev-parse', 'HEAD');
    mkdirSync(join(folder, 'reports'));
  });

  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  const upload = (args: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    sluice(['upload', ...args, '--retries', '0'], { env: { ...env, ...more }, cwd: folder });

  interface Document {
    readonly upload: Readonly<Record<string, unknown>> | null;
    readonly failing: readonly { readonly id: string; readonly name: string; readonly quarantined?: boolean }[];
    readonly quarantine: string;
    readonly tests: number;
    readonly exitCode: number;
  }

  it('uploads the reports of a folder with commit and branch, and waits until they are processed', async () => {
    write('reports/a.xml', report('adds', 'divides'));
    write('reports/large.xml', report(...Array.from({ length: 2_000 }, (_, index) => `test ${index}`)));
    const { code, out, err } = await upload(['reports', '--wait', '--json']);
    assert.equal(code, 0, err);
    const { upload: record, tests } = JSON.parse(out) as Document;
    assert.equal(tests, 2_002);
    assert.deepEqual(
      [record?.['status'], record?.['branch'], record?.['sha'], record?.['files'], record?.['test_runs']],
      ['PROCESSED', 'main', sha, 2, 2_002],
    );
    assert.match(err, /^2 files, 2002 tests: 2002 passed, 0 failed\.$/m);
    assert.match(err, /^It has been processed\. 2 files, 2002 runs of tests\.$/m);
    assert.match(err, /^Exit code 0: no test fails\.$/m);
  });

  it('exits with 1 for a failing test until it is quarantined', async () => {
    write('red.xml', report('!subtracts', 'adds'));
    const red = await upload(['red.xml', '--wait']);
    assert.equal(red.code, 1, red.err);
    assert.match(red.err, /failed math suite > subtracts \(src\/math\.test\.ts\): expected 1 of subtracts/);
    assert.match(red.err, /^Exit code 1: 1 failing test is not quarantined\.$/m);
    const document = JSON.parse((await upload(['red.xml', '--dry-run', '--json'])).out) as Document;
    const [test] = document.failing;
    assert.deepEqual([document.upload, document.quarantine, test?.quarantined], [null, 'KNOWN', false]);

    await world.server.api.ok('flaky-tests/set-quarantine', {
      ...SCOPE,
      test_id: test?.id,
      setting: 'ALWAYS_QUARANTINE',
      reason: 'Known.',
    });
    const held = await upload(['red.xml', '--exit-code', '3']);
    assert.equal(held.code, 0, held.err);
    assert.match(held.err, /quarantined math suite > subtracts/);
    assert.match(held.err, /^Exit code 0: every failing test is quarantined\.$/m);

    write('both.xml', report('!subtracts', '!multiplies'));
    assert.equal((await upload(['both.xml', '--exit-code', '3'])).code, 3);
    assert.equal((await upload(['both.xml', '--no-quarantine'])).code, 0);
  });

  it('asks nothing of quarantine where it is switched off', async () => {
    write('off.xml', report('!powers'));
    await world.server.api.ok('flaky-tests/update-settings', { ...SCOPE, quarantine_enabled: false });
    const off = await upload(['off.xml']);
    assert.equal(off.code, 0, off.err);
    assert.match(off.err, /quarantine is switched off/);
    assert.equal((await upload(['off.xml', '--exit-code', '5'])).code, 5);
    await world.server.api.ok('flaky-tests/update-settings', { ...SCOPE, quarantine_enabled: true });
  });

  it('says what CI says of the run', async () => {
    write('ci.xml', report('adds'));
    const ci = {
      CUSTOM: 'true',
      COMMIT_BRANCH: 'topic',
      PR_NUMBER: '7',
      JOB_NAME: 'unit',
      JOB_URL: 'http://ci.test/1',
    };
    const args = ['ci.xml', '--wait', '--json', '--variant', 'arm'];
    const { upload: record } = JSON.parse((await upload(args, ci)).out) as Document;
    assert.deepEqual(
      [record?.['branch'], record?.['pr_number'], record?.['job_url'], record?.['variant']],
      ['topic', 7, 'http://ci.test/1', 'arm'],
    );
    assert.match(String(record?.['job_name']), /^unit on /);
  });

  it('names the error in a report', async () => {
    write('half.xml', report('adds', '!breaks').slice(0, -40));
    const { code, err } = await upload(['half.xml', '--wait']);
    assert.equal(code, 1, err);
    assert.match(err, /! half\.xml: .*ends in the middle/);
    assert.match(err, /error half\.xml:\d+: /);
  });

  it('needs no more of a token than to upload; only to wait it must read', async () => {
    write('scoped.xml', report('!subtracts', 'adds'));
    const { token = '' } = await world.server.api.withScopes('upload');
    const { code, err } = await upload(['scoped.xml', '--exit-code', '2', '--wait'], { SLUICE_TOKEN: token });
    assert.equal(code, 0, err);
    assert.match(err, /Uploaded as [\s\S]*Whether the upload has been processed could not be seen\. .*scope/);
  });

  it('exits with 70 where the server refuses, and where there must be a report and is none [W16]', async () => {
    write('green.xml', report('adds'));
    const wrong = await upload(['green.xml'], { SLUICE_TOKEN: 'not-a-token-of-this-server' });
    assert.equal(wrong.code, 70, wrong.err);
    assert.match(wrong.err, /not uploaded[\s\S]*SLUICE_TOKEN[\s\S]*Exit code 70/);
    const other = await upload(['green.xml', '--org', 'nobody']);
    assert.equal(other.code, 70, other.err);
    assert.match(other.err, /Check --org \(or SLUICE_ORG\)\./);
    assert.equal((await upload(['nothing/*.xml'])).code, 0);
    assert.equal((await upload(['nothing/*.xml', '--exit-code', '4'])).code, 4);
    const empty = await upload(['nothing/*.xml', '--no-allow-empty']);
    assert.deepEqual(
      [empty.code, empty.err],
      [70, 'sluice: No file fits nothing/*.xml.\nExit code 70: there must be a report.\n'],
    );
  });

  it('has the exit code of the tests where no server answers, and says so [W17]', async () => {
    write('away.xml', report('!falls'));
    const away = { SLUICE_URL: await closedUrl() };
    const red = await upload(['away.xml'], away);
    assert.equal(red.code, 1, red.err);
    assert.match(red.err, /not uploaded\. No server answers at/);
    assert.equal((await upload(['away.xml', '--exit-code', '9'], away)).code, 9);
    write('green.xml', report('adds'));
    assert.equal((await upload(['green.xml'], away)).code, 0);
  });

  it('exits with 2 without a report, and outside of a checkout without a repository', async () => {
    const outside = await makeFolder();
    writeFileSync(join(outside, 'a.xml'), report('adds'));
    const { code, err } = await sluice(['upload', 'a.xml'], { env, cwd: outside });
    assert.deepEqual([code, /-R host\/owner\/name/.test(err)], [2, true], err);
    assert.equal((await upload([])).code, 2);
  });

  it('draws its progress on a terminal only', { skip: !HAS_TERMINAL }, async () => {
    const file = join(folder, 'reports', 'large.xml');
    const args = ['upload', file, '--repo', 'github.com/acme/widgets', '--sha', sha, '--branch', 'main'];
    const { code, out } = await runOnTerminal(args, env).ended;
    assert.equal(code, 0, out);
    assert.match(out, /Uploading 1 file, [\d.]+ kB: 100%/);
  });
});

/** A port without a listener. */
async function closedUrl(): Promise<string> {
  const server = createServer();
  const url = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return url;
}
