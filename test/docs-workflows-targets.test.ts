// The workflows that upload impacted targets: their triggers, their findings, and hostile files.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { encodeQueue } from '../src/app/core/queue-codec.ts';
import type { EntryView } from '../src/app/queue/entry-view.ts';
import { createQueue } from '../src/engine/model/queue.ts';
import { DEFAULT_SETTINGS } from '../src/engine/model/settings.ts';
import type { Forge } from '../src/forge/forge.ts';
import type { OrganizationId } from '../src/storage/accounts.ts';
import { FakeForge } from './fake/fake-forge.ts';
import { FakeRepository } from './fake/fake-repository.ts';
import { madeOnce } from './helpers/made.ts';
import { aRepository, storeQueue } from './helpers/store-rows.ts';
import { evaluate, inputsOf, runScript, scriptOf, TARGETS_WORKFLOWS, textOf, workflowOf } from './helpers/workflows.ts';
import { createInProcess, TOKEN } from './worlds/server/in-process.ts';

const PATHS = 'impacted-targets-paths.yml';
const HOST = 'github.test';
const SHA = 'a'.repeat(40);

const missing = ['jq', 'curl'].find((tool) => {
  try {
    execFileSync('bash', ['-c', `command -v ${tool}`], { stdio: 'ignore' });
    return false;
  } catch {
    return true;
  }
});
const skip = missing !== undefined && `${missing} is not here`;

describe('the workflows of impacted targets', () => {
  it('are alike but for how targets are found [G75]', () => {
    const [first, ...others] = TARGETS_WORKFLOWS.map((name) => {
      const text = textOf(name);
      const [head = '', rest = ''] = text
        .slice(text.indexOf('\n'))
        .split('          git checkout --quiet --detach "$merge"\n');
      return [head, rest.slice(rest.indexOf('      - uses: actions/upload-artifact@'))];
    });
    assert.equal(others.length, 3);
    assert.ok(first?.every((part) => part.length > 1000));
    for (const other of others) assert.deepEqual(other, first);
  });

  it('stop where any part of a pipe fails: an empty list would say that nothing is impacted [G75]', () => {
    for (const name of TARGETS_WORKFLOWS) assert.equal(workflowOf(name).defaults?.run?.shell, 'bash');
  });

  it('give the job with the token no rights on GitHub [G75]', () => {
    for (const name of TARGETS_WORKFLOWS) {
      const { permissions, jobs } = workflowOf(name);
      assert.deepEqual(permissions, {});
      assert.deepEqual(Object.keys(jobs), ['find', 'tell']);
      assert.equal(jobs['tell']?.permissions, undefined);
    }
  });

  for (const [what, event, head_ref, isRun, isAlone] of [
    ['a push', { action: 'synchronize', before: 'x' }, 'topic', true, false],
    ['opening', { action: 'opened' }, 'topic', true, false],
    ['reopening', { action: 'reopened' }, 'topic', true, false],
    ['a new target', { action: 'edited', changes: { base: { ref: { from: 'main' } } } }, 'topic', true, false],
    ['a new target and title', { action: 'edited', changes: { base: {}, title: {} } }, 'topic', true, false],
    ['a new title', { action: 'edited', changes: { title: { from: 'x' } } }, 'topic', false, true],
    ['a new text', { action: 'edited', changes: { body: { from: 'x' } } }, 'topic', false, true],
    ['an edit of nothing', { action: 'edited', changes: {} }, 'topic', false, true],
    ['a test branch', { action: 'opened' }, 'sluice/pr-7/1', false, false],
  ] as const) {
    it(`${isRun ? 'run' : 'do nothing'} for ${what}${isAlone ? ', and stop no other run' : ''} [G75]`, () => {
      const github = { event, head_ref, ref: 'refs/pull/7/merge', run_id: '123', event_name: 'pull_request' };
      for (const name of TARGETS_WORKFLOWS) {
        const { on, concurrency, jobs } = workflowOf(name);
        assert.ok(on.pull_request?.types?.includes(event.action));
        assert.equal(concurrency?.['cancel-in-progress'], true);
        const group = evaluate(concurrency?.group ?? '', { github });
        assert.equal(group, isAlone ? 'targets-123' : 'targets-refs/pull/7/merge');
        assert.equal(Boolean(evaluate(jobs['find']?.if ?? '', { github })), isRun);
      }
    });
  }

  it('tell of a find that failed, but not of one that had no reason to run [G75]', () => {
    const condition = workflowOf(PATHS).jobs['tell']?.if ?? '';
    for (const [result, isCancelled, isRun] of [
      ['success', false, true],
      ['failure', false, true],
      ['skipped', false, false],
      ['cancelled', true, false],
    ] as const) {
      const contexts = { needs: { find: { result } }, cancelled: () => isCancelled };
      assert.equal(evaluate(condition, contexts), isRun, result);
    }
  });

  it('merge with the target themselves, from all of the history, where GitHub may not have [G75]', () => {
    for (const name of TARGETS_WORKFLOWS) {
      const { 'fetch-depth': depth, 'persist-credentials': isKept } = inputsOf(name, 'actions/checkout');
      assert.equal(isKept, false);
      const condition = workflowOf(name).jobs['find']?.steps.find((step) => step.name === 'Merge with the target')?.if;
      for (const action of ['opened', 'reopened', 'synchronize', 'edited']) {
        const isOwn = action === 'edited' || action === 'reopened';
        const github = { event: { action } };
        assert.equal(evaluate(String(depth), { github }), isOwn ? '0' : '2');
        assert.equal(evaluate(condition ?? '', { github }), isOwn);
      }
    }
  });
});

describe('detected targets', { skip }, () => {
  let folder: string;
  const run = (script: string, env: Readonly<Record<string, string>> = {}) => runScript(script, { cwd: folder, env });
  const find = async (): Promise<unknown> => {
    await run(scriptOf(PATHS, 'Find the targets'));
    return JSON.parse(await run('cat targets.json'));
  };

  async function commit(files: Readonly<Record<string, string>>): Promise<string> {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(join(folder, name, '..'), { recursive: true });
      await writeFile(join(folder, name), text);
    }
    return await record();
  }

  async function record(): Promise<string> {
    await run('git add --all . && git -c user.name=a -c user.email=a@b commit --quiet -m x');
    return (await run('git rev-parse HEAD')).trim();
  }

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-find-'));
    await run('git init --quiet --initial-branch=main');
    await writeFile(join(folder, '.gitignore'), 'targets.*\n');
    await commit({ 'apps/a/x': '1', 'packages/b/y': '1', 'README.md': '1', Makefile: '1' });
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('are the folders of a pull request [G75]', async () => {
    for (const [files, targets] of [
      [{ 'apps/a/x': '2', 'packages/b/y': '2' }, ['apps/a', 'packages/b']],
      [{ 'README.md': '2' }, []],
      [{ Makefile: '2', 'apps/a/x': '3' }, 'ALL'],
    ] as const) {
      await commit(files);
      assert.deepEqual(await find(), targets);
    }
  });

  it('are both places of what moved [G75]', async () => {
    await run('mkdir --parents apps/c && git mv apps/a/x apps/c/x');
    await record();
    assert.deepEqual(await find(), ['apps/a', 'apps/c']);
  });

  it('are nothing at all where there is no merge to look at [G75]', async () => {
    await assert.rejects(find());
  });

  /** The checkout of a pull request that was made on main, after its base was changed to another branch. */
  async function checkOutRetargeted(
    files: Readonly<Record<string, string>>,
  ): Promise<{ SHA: string; TARGET_BRANCH: string }> {
    await run('git branch release');
    await commit({ 'packages/b/y': '2' });
    await run('git checkout --quiet -b topic');
    const sha = await commit({ 'apps/a/x': '2' });
    await run('git checkout --quiet main && git -c user.name=a -c user.email=a@b merge --quiet --no-ff -m x topic');
    assert.deepEqual(await find(), ['apps/a']);
    await run('git checkout --quiet release');
    await commit(files);
    await run('git update-ref refs/remotes/origin/v1/release release && git checkout --quiet --detach main');
    return { SHA: sha, TARGET_BRANCH: 'v1/release' };
  }

  it('are those on the new target, also while GitHub still has the merge with the former one [G75]', async () => {
    const facts = await checkOutRetargeted({ 'apps/d/x': '1' });
    await run(scriptOf(PATHS, 'Merge with the target'), facts);
    assert.deepEqual(await find(), ['apps/a', 'packages/b']);
    await run('git update-ref refs/remotes/origin/v1/release HEAD');
    await run(scriptOf(PATHS, 'Merge with the target'), facts);
    assert.deepEqual(await find(), [], 'everything of it is there already');
  });

  it('are nothing where it conflicts with the new target, which is said [G75]', async () => {
    const facts = await checkOutRetargeted({ 'apps/a/x': '3' });
    await assert.rejects(run(scriptOf(PATHS, 'Merge with the target'), facts), {
      stdout: /cannot be merged with its target/,
    });
  });
});

describe('a report of targets', { skip }, () => {
  const place = madeOnce(() => createInProcess());
  let folder: string;
  let asked: string[];
  const facts = { NUMBER: '7', SHA, TARGET_BRANCH: 'main', REPO_HOST: HOST, SLUICE_TOKEN: TOKEN };

  before(async () => {
    const findWorkflowRun = async (_repository: unknown, runId: string) => {
      asked.push(runId);
      return { event: 'pull_request', isLive: true, headSha: SHA, prNumbers: [7] };
    };
    const forge = new FakeForge(new FakeRepository(place.clock.now));
    (place.app.forges as Map<string, Forge>).set(HOST, Object.assign(forge, { hosting: { findWorkflowRun } as never }));
    const organization = await place.store.accounts.findOrganization('acme');
    const organizationId = organization?.id as OrganizationId;
    const { id } = await place.store.repositories.save(aRepository({ organizationId, host: HOST, name: 'app' }));
    const body = encodeQueue(createQueue('main', { ...DEFAULT_SETTINGS, mode: 'PARALLEL' }, 'RUNNING'));
    await storeQueue(place.store, { repositoryId: id, branch: 'main', body });
    await place.server.listen({ port: 0, host: '127.0.0.1' });
  });
  beforeEach(async () => {
    asked = [];
    folder = await mkdtemp(join(tmpdir(), 'sluice-tell-'));
    await Promise.all([mkdir(join(folder, 'find')), mkdir(join(folder, 'tell'))]);
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  /** Copies the files as the artifact does between the two machines. */
  async function handOver(name: string): Promise<void> {
    const { path: from } = inputsOf(name, 'actions/upload-artifact');
    const { path: to } = inputsOf(name, 'actions/download-artifact');
    await mkdir(join(folder, 'tell', String(to)), { recursive: true });
    await cp(join(folder, 'find', String(from)), join(folder, 'tell', String(to), String(from)), {
      verbatimSymlinks: true,
    });
  }

  async function tell(name: string, env: Readonly<Record<string, string>> = {}): Promise<EntryView> {
    const { port } = place.server.server.address() as AddressInfo;
    const said = await runScript(scriptOf(name, 'Tell Sluice'), {
      cwd: join(folder, 'tell'),
      env: { ...facts, SLUICE_URL: `http://127.0.0.1:${port}`, ...env },
    });
    return JSON.parse(said) as EntryView;
  }

  /** The script refuses before any request, so there is no server here. */
  async function refuse(pattern: RegExp): Promise<void> {
    await assert.rejects(tell(PATHS, { SLUICE_URL: 'http://127.0.0.1:1' }), ({ code, stdout, stderr }) => {
      assert.deepEqual([code, stderr], [1, '']);
      assert.match(stdout, /^::error::Nothing was sent: [^\n]+\.\n$/);
      assert.match(stdout, pattern);
      return true;
    });
    assert.equal((await runScript('ls', { cwd: join(folder, 'tell') })).trim().replace(/^found$/, ''), '');
  }

  for (const name of TARGETS_WORKFLOWS)
    it(`by ${name} has the detected targets, with a token or, in a fork, with its run [G66, G75]`, async () => {
      for (const [found, impactsAll, count] of [
        ['["apps/a","packages/b"]', false, 2],
        ['[]', false, 0],
        ['"ALL"', true, null],
      ] as const) {
        await writeFile(join(folder, 'find/targets.json'), found);
        await handOver(name);
        const { prNumber, prSha, impactedTargets } = await tell(name);
        assert.deepEqual([prNumber, prSha], [7, SHA]);
        assert.deepEqual([impactedTargets?.impactsAll, impactedTargets?.count ?? null], [impactsAll, count]);
      }
      assert.deepEqual(asked, []);
      // An upload with a token outranks this one: G80.
      assert.equal((await tell(name, { SLUICE_TOKEN: '' })).prSha, SHA);
      assert.deepEqual(asked, ['123']);
    });

  it('has the targets that the script of detection wrote [G75]', async () => {
    const cwd = join(folder, 'find');
    const save = 'git add --all . && git -c user.name=a -c user.email=a@b commit --quiet -m x';
    await runScript(`git init --quiet && mkdir --parents apps/a && echo 1 > apps/a/x && ${save}`, { cwd });
    await runScript(`echo 2 > apps/a/x && ${save}`, { cwd });
    await runScript(scriptOf(PATHS, 'Find the targets'), { cwd });
    await handOver(PATHS);
    assert.equal((await tell(PATHS)).impactedTargets?.count, 1);
  });

  it('keeps every name as it is, also names that a shell would run [G75]', async () => {
    const odd = [
      '$(touch harm)',
      '`touch harm`',
      '"; touch harm; "',
      "'; touch harm #",
      '@/etc/passwd',
      '\n::error::x',
      '-o harm',
      'é💥',
    ];
    await writeFile(join(folder, 'find/targets.json'), JSON.stringify(odd));
    await handOver(PATHS);
    assert.equal((await tell(PATHS)).impactedTargets?.count, odd.length);
    const sent = JSON.parse(await runScript('cat body.json', { cwd: join(folder, 'tell') }));
    assert.deepEqual(sent.impactedTargets, odd);
    assert.equal((await runScript('ls', { cwd: join(folder, 'tell') })).trim(), 'body.json\nfound');
  });

  for (const [what, text] of [
    ['no JSON', '$(touch harm)\n::stop-commands::x'],
    ['nothing', ''],
    ['half of a list', '["a"'],
    ['two lists', '["a"] ["b"]'],
    ['another word', '"EVERYTHING"'],
    ['an object', '{"impactedTargets":["a"]}'],
    ['nested objects', '["a",{"$(touch harm)":[{"b":{}}]}]'],
    ['nested lists', '['.repeat(200_000)],
    ['a number in a list', '["a",1]'],
    ['null', 'null'],
    ['bytes', '\0\0\u0001'],
  ] as const)
    it(`is refused where the file is ${what} [G75]`, async () => {
      await writeFile(join(folder, 'find/targets.json'), text);
      await handOver(PATHS);
      await refuse(/neither "ALL" nor one list of texts/);
    });

  it('is refused where the file has 50 MB [G75]', async () => {
    await writeFile(join(folder, 'find/targets.json'), `["${'a'.repeat(50_000_000)}"]`);
    await handOver(PATHS);
    await refuse(/more than 15 MB/);
  });

  it('is refused where there is no file, or only the name of another one [G75]', async () => {
    await refuse(/no targets\.json from the job "find"/);
    await writeFile(join(folder, 'find/other.json'), '[]');
    await symlink(join(folder, 'find/other.json'), join(folder, 'find/targets.json'));
    await handOver(PATHS);
    await refuse(/no targets\.json from the job "find"/);
    await rm(join(folder, 'tell/found/targets.json'));
    await mkdir(join(folder, 'tell/found/targets.json'));
    await refuse(/no targets\.json from the job "find"/);
  });

  it('ends red, with the problem in the output, where the server refuses [G75]', async () => {
    await writeFile(join(folder, 'find/targets.json'), '["a"]');
    await handOver(PATHS);
    await assert.rejects(tell(PATHS, { TARGET_BRANCH: 'other' }), { code: 22, stdout: /QUEUE_NOT_FOUND/ });
  });
});
