// Probes of the built-in runner: real suites, of which only the tests run that failed.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { aCheckedQueue, logOf, untilLeft } from './checks.ts';
import { until } from './harness.ts';
import { type TestQueue, useServer } from './test-queue.ts';

const HOSTILE = '$(touch owned) `touch owned` "; touch owned; -k [*] größe';
const SUITE = {
  'figure.mjs': 'export const figure = 1;\n',
  'names.test.mjs': `import { appendFileSync } from 'node:fs';
import { test } from 'node:test';
import assert from 'node:assert/strict';
import { figure } from './figure.mjs';
const count = (name) => appendFileSync('executed', 'EXECUTED ' + name + '\\n');
for (let index = 0; index < 20; index += 1) test('case ' + index, () => count('case'));
test(${JSON.stringify(HOSTILE)}, () => {
  count('hostile');
  assert.equal(figure, 1);
});
`,
};
const RUN = `${process.execPath} --test --test-reporter=junit --test-reporter-destination=report.xml`;
const TELL = 'code=$?; ls; cat executed; exit $code';

describe('a probe of the built-in runner', () => {
  const world = useServer();

  async function aQueueThatRuns(command: string): Promise<TestQueue> {
    const checks = [{ name: 'unit', command, selects: 'node' }];
    const settings = { confirmFailures: 'AUTO' };
    const queue = await aCheckedQueue(world, checks, { settings, repository: { junit: ['report.xml'] } });
    await queue.git.commit('main', { files: SUITE });
    assert.equal((await untilLeft(queue, await queue.submitOne())).state, 'MERGED');
    return queue;
  }

  /** The log of its first probe. */
  async function failWith(queue: TestQueue): Promise<{ readonly probe: string; readonly number: number }> {
    const number = await queue.submitOne({ 'figure.mjs': 'export const figure = 2;\n' });
    const run = await until('there is a probe', 60_000, async () =>
      (await queue.ci.runs()).find(({ testBranch }: CandidateView) => testBranch.includes('/probe/')),
    );
    assert.equal((await untilLeft(queue, number)).state, 'FAILED');
    return { probe: await logOf(queue, run.testRunId, 'unit (probe)'), number };
  }

  it('runs the test that failed alone, also if its name is hostile [R102] [B16]', async () => {
    const { probe } = await failWith(await aQueueThatRuns(`${RUN} "$@"; ${TELL}`));
    assert.match(
      probe,
      /^\[Sluice\] Only tests that failed before run\. "\$@" is "--test-name-pattern=.*" "\.\/names\.test\.mjs"$/m,
    );
    assert.equal(probe.match(/EXECUTED hostile/g)?.length, 1, probe);
    assert.doesNotMatch(probe, /EXECUTED case|^owned$/m);
  });

  it('is answered as well by a command that ignores the question [B18]', async () => {
    const { probe } = await failWith(await aQueueThatRuns(`: "$@"; ${RUN}; ${TELL}`));
    assert.equal(probe.match(/EXECUTED case/g)?.length, 20, probe);
  });
});
