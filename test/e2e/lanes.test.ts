// Lanes by the rules of the repository's own file, with a real server, real git and the real command.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from './harness.ts';
import { runSluice } from './run-sluice.ts';
import { type TestQueue, useServer } from './test-queue.ts';

const RULES = `targets:
  paths: { web: ["web/**"], api: ["api/**", "proto/**"], docs: docs/** }
  workspaces: auto
  barriers: [".github/**", "package-lock.json"]
`;

const BASE = {
  '.sluice.yaml': RULES,
  'package.json': '{ "private": true, "workspaces": ["packages/*"] }',
  'packages/lib/package.json': '{ "name": "@acme/lib" }',
  'packages/lib/index.js': 'export const one = 1;\n'.repeat(20),
  'packages/app/package.json': '{ "name": "@acme/app", "dependencies": { "@acme/lib": "*" } }',
  'packages/tool/package.json': '{ "name": "@acme/tool" }',
};

interface Explained {
  readonly source: string;
  readonly impactsAll: boolean;
  readonly targets: readonly string[];
  readonly text: string;
  readonly files: readonly { readonly path: string; readonly targets: readonly string[]; readonly text: string }[];
}

describe('lanes by rules of the repository', () => {
  const world = useServer();

  async function aQueueWith(files: Readonly<Record<string, string>> = BASE, settings: object = {}): Promise<TestQueue> {
    const queue = await world.aQueue({ mode: 'PARALLEL', concurrency: 8, batch: false, ...settings });
    await queue.git.commit('main', { files });
    return queue;
  }

  const explain = (queue: TestQueue, prNumber: number) =>
    queue.api.ok<Explained>('explainImpactedTargets', queue.entry(prNumber));
  const targetsOf = async (queue: TestQueue, prNumber: number) =>
    (await queue.untilEntry(prNumber, ({ impactedTargets }) => impactedTargets !== undefined)).impactedTargets;

  it('[T7] [T10] [T15] test six pull requests side by side by their folders, and land them', async () => {
    const queue = await aQueueWith();
    const folders = ['web', 'api', 'docs', 'packages/tool', 'packages/lib', 'packages/app'];
    for (const folder of folders) await queue.openPullRequest({ [`${folder}/new.txt`]: 'x\n' });
    for (let number = 1; number <= 6; number += 1) {
      await queue.submit(number);
      assert.equal((await targetsOf(queue, number))?.impactsAll, false);
    }
    // app needs lib: it stands behind the change of lib.
    await queue.ci.untilRuns(['1', '2', '3', '4', '5', '6 on 5']);
    for (let number = 6; number >= 1; number -= 1) await queue.ci.pass(number);
    for (let number = 1; number <= 6; number += 1) await queue.ci.untilState(number, 'MERGED');
    const { serialises } = await queue.api.ok<{ serialises: unknown }>('getQueueHealth', queue.ref);
    assert.deepEqual(serialises, [{ kind: 'TARGET', name: '@acme/app', pairs: 1 }]);
  });

  it('[T11] [T15] [T16] let a changed manifest wait for all, and follow its edges once it has landed', async () => {
    const queue = await aQueueWith();
    const edge = '{ "name": "@acme/tool", "dependencies": { "@acme/lib": "*" } }';
    await queue.submitOne({ 'packages/tool/package.json': edge });
    assert.match(
      (await targetsOf(queue, 1))?.note ?? '',
      /Computed as ALL: .* It changes packages\/tool\/package\.json/,
    );
    await queue.submitOne({ 'packages/lib/a.txt': 'x' });
    await targetsOf(queue, 2);
    await queue.submitOne({ 'packages/tool/a.txt': 'x' });
    await queue.ci.untilRuns(['1', '2 on 1', '3 on 1']);
    await queue.ci.pass(1);
    await queue.ci.untilState(1, 'MERGED');
    // tool needs lib now: 3 is tested again behind 2.
    await queue.ci.untilRuns(['2 on 1', '3 on 2']);
    assert.deepEqual((await explain(queue, 2)).targets, ['@acme/app', '@acme/lib', '@acme/tool']);
  });

  it('[T14] count the old and the new name of a renamed file', async () => {
    const queue = await aQueueWith();
    const { stdout } = await renameOn(queue, 'packages/lib/index.js', 'packages/tool/index.js');
    assert.equal(stdout, '');
    await queue.submit(1);
    assert.equal((await targetsOf(queue, 1))?.count, 3);
    assert.deepEqual((await explain(queue, 1)).targets, ['@acme/app', '@acme/lib', '@acme/tool']);
  });

  it('[T15] find the targets of a new head', async () => {
    const queue = await aQueueWith();
    await queue.openPullRequest({ 'web/a': 'x' });
    await queue.api.ok('updateQueue', { ...queue.ref, state: 'DRAINING' });
    await queue.submit(1);
    await targetsOf(queue, 1);
    await queue.push(1, { 'api/a': 'x' });
    await queue.untilEntry(1, ({ impactedTargets }) => impactedTargets?.count === 2);
  });

  it('[T13] tell the problem of malformed rules, and test one after the other meanwhile', async () => {
    const queue = await aQueueWith({ '.sluice.yaml': 'targets: { pathz: {} }' });
    await queue.submitOne();
    await queue.submitOne();
    const note = (await targetsOf(queue, 2))?.note ?? '';
    assert.match(note, /Computed as ALL: .* \.sluice\.yaml: targets\.pathz is unknown; targets has paths/);
    await queue.ci.untilRuns(['1', '2 on 1']);
    // The file on the branch counts, and not the one of a pull request.
    await queue.git.commit('main', { files: { '.sluice.yaml': RULES } });
    await queue.untilEntry(2, ({ impactedTargets }) => impactedTargets?.note.includes('matches change-2.txt') === true);
  });

  it('[T13] tell of a manifest of 50 MB, and go on when it is gone', async () => {
    const manifest = JSON.stringify({ name: 'big', text: 'x'.repeat(50_000_000) });
    const queue = await aQueueWith({ ...BASE, 'packages/big/package.json': manifest });
    await queue.submitOne({ 'packages/lib/a': 'x' });
    assert.match((await targetsOf(queue, 1))?.note ?? '', /packages\/big\/package\.json is too large to be read/);
    await queue.git.commit('main', { files: { 'packages/big/package.json': '{}' } });
    await queue.untilEntry(1, ({ impactedTargets }) => impactedTargets?.count === 2);
  });

  it('[T5] [T18] take names with spaces, line ends and bytes for terminals, and show them in one line', async () => {
    const queue = await aQueueWith();
    const names = ['a b', 'x\ny', '\u001b[31mred'];
    for (const number of [1, 2]) {
      await queue.openPullRequest({ [`web/${number}`]: 'x' });
      await queue.api.ok('setImpactedTargets', { ...queue.entry(number), impactedTargets: names });
      await queue.submit(number);
    }
    await queue.ci.untilRuns(['1', '2 on 1']);
    assert.deepEqual((await explain(queue, 2)).targets.toSorted(), names.toSorted());
    const environment = { SLUICE_URL: world.server.url, SLUICE_TOKEN: world.server.token };
    for (const command of [['status'], ['targets', '--explain']]) {
      const [verb = '', ...options] = command;
      const { code, out } = await runSluice(['pr', verb, queue.name, 'main', '2', ...options], environment).ended;
      assert.equal(code, 0);
      assert.ok(!out.includes('\u001b') && !/^y/m.test(out), out);
    }
  });

  it('[T17] give way to uploaded targets', async () => {
    const queue = await aQueueWith();
    await queue.openPullRequest({ 'web/a': 'x' });
    await queue.api.ok('setImpactedTargets', { ...queue.entry(1), impactedTargets: ['mine'] });
    await queue.submit(1);
    await queue.ci.untilRuns(['1']);
    const { source, targets, text, files } = await explain(queue, 1);
    assert.deepEqual({ source, targets }, { source: 'UPLOADED', targets: ['mine'] });
    assert.match(text, /They count, and not those of the files/);
    assert.deepEqual(files[0]?.targets, ['web']);
  });

  it('[T18] explain each file on the command line, also in a queue with one lane', async () => {
    const queue = await aQueueWith(BASE, { mode: 'SINGLE' });
    await queue.openPullRequest({ 'packages/lib/x.js': 'x', 'docs/a.md': 'x' });
    const run = (...args: string[]) =>
      runSluice(['pr', 'targets', queue.name, 'main', '1', ...args], {
        SLUICE_URL: world.server.url,
        SLUICE_TOKEN: world.server.token,
      }).ended;
    const { code, out, err } = await run('--explain');
    assert.equal(code, 0, err);
    assert.match(out, /^Pull request +#1 at [0-9a-f]{12}\nTargets +@acme\/app, @acme\/lib, docs\n/);
    assert.match(out, /\ndocs\/a\.md\tdocs\tdocs \(by docs\/\*\*\)\n/);
    assert.match(out, /\npackages\/lib\/x\.js\t@acme\/lib\t@acme\/lib \(the package in packages\/lib\)\n/);
    assert.match(out, /\n@acme\/lib\t@acme\/app\n$/);
    const wrong = await run('--explain', '--all');
    assert.equal(wrong.code, 2);
    assert.match(wrong.err, /--explain alone/);
  });

  it('[T18] say that there are no rules', async () => {
    const queue = await aQueueWith({});
    await queue.openPullRequest();
    const { source, text } = await explain(queue, 1);
    assert.equal(source, 'NONE');
    assert.match(text, /has no section targets/);
    await queue.submit(1);
    const told = await until('it waits', 10_000, async () => {
      const { state, explanation } = await queue.get(1, { includeExplanation: true });
      const [reason] = explanation?.reasons ?? [];
      return state === 'NOT_READY' && reason?.text.includes('By hand: sluice pr targets') ? reason : undefined;
    });
    assert.equal(told.code, 'IMPACTED_TARGETS_MISSING');
  });
});

/** Opens pull request 1. */
async function renameOn({ git }: TestQueue, from: string, to: string) {
  const main = await git.git(['rev-parse', 'refs/heads/main']);
  const input = `commit refs/pull/1/head\ncommitter A <a@b> 1 +0000\ndata 1\nx\nfrom ${main}\nR ${from} ${to}\n`;
  return { stdout: await git.git(['fast-import', '--quiet', '--force'], input) };
}
