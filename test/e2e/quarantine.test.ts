import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateView, CheckRunView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView, ExplanationReasonView } from '../../src/app/queue/entry-view.ts';
import { startHere, type TestServer, until } from './harness.ts';
import { createQueue, type TestQueue } from './test-queue.ts';

/** Two tests, each of which fails if the commit says so, and a report of both. */
const COMMAND = `
mkdir -p reports
code=0
run() {
  if [ -f "break-$1.txt" ]; then
    code=1; echo "<testcase name=\\"$1\\" classname=\\"math\\" time=\\"0.1\\"><failure message=\\"no\\">no</failure></testcase>"
  else
    echo "<testcase name=\\"$1\\" classname=\\"math\\" time=\\"0.1\\"/>"
  fi
}
{ echo '<testsuite name="math">'; run solid; run flaky; echo '</testsuite>'; } > reports/unit.xml
# What the braces set is known here: they are no subshell.
exit $code`;

interface Scene {
  readonly server: TestServer;
  readonly queue: TestQueue;
}

/** A queue whose check leaves a report, and on which one pull request has landed. `flaky` is quarantined since then. */
async function withQueue(settings: object, use: (scene: Scene) => Promise<void>): Promise<void> {
  const server = await startHere();
  const queue = await createQueue(server.api, { requiredStatuses: null, ...settings });
  try {
    const checks = [{ name: 'test', command: COMMAND }];
    await server.api.ok('registerRepository', { repo: queue.repo, checks, junit: ['reports/*.xml'] });
    assert.equal((await submit(queue, {})).state, 'MERGED');
    await quarantine(queue);
    await use({ server, queue });
  } finally {
    await server.stop();
    await queue.close();
  }
}

async function submit(queue: TestQueue, files: Readonly<Record<string, string>>): Promise<EntryView> {
  const number = await queue.submitOne({ [`change-${Math.random()}.txt`]: 'x\n', ...files });
  await queue.untilEntry(number, ({ isCurrentlySubmittedToQueue }) => !isCurrentlySubmittedToQueue);
  return queue.get(number, { includeExplanation: true, includeTimeline: true });
}

async function quarantine({ api, repo }: TestQueue): Promise<void> {
  const scope = { repo, org_url_slug: 'default' };
  const found = await until('the tests are known', 15_000, async () => {
    const { tests } = await api.ok<{ tests: { id: string; name: string }[] }>('flaky-tests/search-tests', {
      ...scope,
      query: 'flaky',
    });
    return tests.find(({ name }) => name === 'flaky');
  });
  const body = { ...scope, test_id: found.id, setting: 'ALWAYS_QUARANTINE', reason: 'It is known.' };
  await api.ok('flaky-tests/set-quarantine', body);
}

async function checkOf(queue: TestQueue, { timeline }: EntryView): Promise<CheckRunView | undefined> {
  const testRunId = timeline?.find((step) => step.testRunId !== undefined)?.testRunId;
  const details = await queue.api.ok<CandidateView>('getMergeQueueTestingDetails', { ...queue.ref, testRunId });
  return details.checkSuites[0]?.checkRuns[0];
}

function codesOf(reasons: readonly ExplanationReasonView[] = []): string[] {
  return reasons.flatMap(({ code, reasons: inner }) => [code, ...codesOf(inner)]);
}

/** Acts as an outside CI after its report: uploads the results, and names their candidate. */
async function upload({ api, repo }: TestQueue, run: CandidateView, report: string): Promise<void> {
  const fields = new URLSearchParams({
    org_url_slug: 'default',
    repo_host: repo.host,
    repo_owner: repo.owner,
    repo_name: repo.name,
    sha: run.testBranchSha,
    branch: run.testBranch,
    test_run_id: run.testRunId,
    check: 'test',
  });
  const init = { method: 'POST', headers: { 'content-type': 'application/xml' }, body: report };
  const { status, text } = await api.send(`flaky-tests/upload-results?${fields}`, init);
  assert.equal(status, 202, text);
}

function reportOf(...cases: readonly string[]): string {
  return `<testsuite name="math">${cases.join('')}</testsuite>`;
}

const caseOf = (name: string, inside = '') =>
  `<testcase name="${name}" classname="math" time="0.1">${inside}</testcase>`;

describe('quarantine and the queue', () => {
  it('[V12] [V15] waits for what another CI uploads after it has reported', async () => {
    const server = await startHere();
    const queue = await createQueue(server.api, { honorQuarantine: 'ON' });
    try {
      const first = await queue.submitOne();
      await upload(queue, await queue.ci.runOf(first), reportOf(caseOf('solid'), caseOf('flaky')));
      await queue.ci.pass(first);
      await queue.ci.untilState(first, 'MERGED');
      await quarantine(queue);
      const second = await queue.submitOne();
      const run = await queue.ci.fail(second);
      assert.equal(run.checkSuites[0]?.checkRuns[0]?.quarantine?.verdict, 'PENDING');
      assert.equal((await queue.get(second)).state, 'TESTING');
      await upload(queue, run, reportOf(caseOf('solid'), caseOf('flaky', '<failure message="no">no</failure>')));
      const { landed } = await queue.ci.untilState(second, 'MERGED');
      assert.deepEqual(
        landed?.waived.map(({ check, tests }) => [check, tests.map(({ name }) => name)]),
        [['test', ['flaky']]],
      );
    } finally {
      await server.stop();
      await queue.close();
    }
  });

  it('[V12] [V13] [V15] [R23] [R24] lands what fails in quarantined tests only, and nothing else', () =>
    withQueue({ honorQuarantine: 'ON' }, async ({ queue }) => {
      const excused = await submit(queue, { 'break-flaky.txt': 'x\n' });
      assert.equal(excused.state, 'MERGED');
      const [waived] = excused.landed?.waived ?? [];
      assert.deepEqual([waived?.check, waived?.tests.map(({ name }) => name)], ['test', ['flaky']]);
      assert.ok(excused.timeline?.some(({ text }) => text.includes('Waived: test failed only in quarantined tests')));
      const check = await checkOf(queue, excused);
      assert.deepEqual([check?.conclusion, check?.quarantine?.verdict], ['FAILURE', 'WAIVED']);

      const guilty = await submit(queue, { 'break-solid.txt': 'x\n' });
      assert.equal(guilty.state, 'FAILED');
      const denied = (await checkOf(queue, guilty))?.quarantine;
      assert.deepEqual(
        denied?.failedTests.map(({ name, isExcused, reason }) => [name, isExcused, reason]),
        [
          ['solid', false, 'It is not quarantined.'],
          ['flaky', true, undefined],
        ],
      );
      assert.ok(codesOf(guilty.explanation?.reasons).includes('NOT_WAIVED'));
    }));

  it('[V14] only says what would have been waived, unless told otherwise', () =>
    withQueue({}, async ({ queue }) => {
      const failed = await submit(queue, { 'break-flaky.txt': 'x\n' });
      assert.equal(failed.state, 'FAILED');
      const check = await until('it is judged', 15_000, async () => {
        const found = await checkOf(queue, failed);
        return found?.quarantine === undefined ? undefined : found;
      });
      assert.equal(check.quarantine?.verdict, 'WOULD_BE_WAIVED');
      const { explanation } = await queue.get(failed.prNumber, { includeExplanation: true });
      assert.ok(codesOf(explanation?.reasons).includes('WOULD_BE_WAIVED'));
    }));
});
