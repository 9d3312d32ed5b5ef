import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { aReportingQueue, caseOf, FAILURE, processed, reportOf, submitFiles, upload } from './quarantine-world.ts';
import { type ServerWorld, type TestQueue, useServer } from './test-queue.ts';

const quarantineItself = ({ api, repo }: TestQueue) =>
  api.ok('flaky-tests/update-settings', { repo, org_url_slug: 'default', auto_quarantine: true });

/** How many tests are quarantined now. */
async function quarantined({ api, repo }: TestQueue): Promise<number> {
  const body = { repo, org_url_slug: 'default', page_query: {} };
  const found = await api.ok<{ quarantined_tests: unknown[] }>('flaky-tests/list-quarantined-tests', body);
  return found.quarantined_tests.length;
}

function repetitionsOf({ timeline = [] }: EntryView): readonly string[] {
  return timeline.filter(({ reason }) => reason === 'TEST_RUN_REPEATED').map(({ text }) => text);
}

function jobOf({ testBranchSha: sha, testBranch: branch }: CandidateView, name = 'test') {
  return { sha, branch, job_name: name };
}

describe('forged flakiness', () => {
  const world = useServer();

  it('of a pull request that is removed lets no later one land red [V56] [V5]', async () => {
    const queue = await aReportingQueue(world, ['a', 'b', 'c'], { honorQuarantine: 'ON' });
    await quarantineItself(queue);
    assert.equal((await submitFiles(queue)).state, 'MERGED');
    const poison = await submitFiles(queue, { 'poison.txt': 'x\n', 'break-z.txt': 'x\n' });
    assert.equal(poison.state, 'FAILED');
    await processed(queue);
    assert.equal(await quarantined(queue), 3, 'uploaders are told so');
    const guilty = await submitFiles(queue, { 'break-a.txt': 'x\n', 'break-b.txt': 'x\n' });
    assert.equal(guilty.state, 'FAILED');
    assert.equal(repetitionsOf(guilty).length, 2);
    assert.match(JSON.stringify(guilty.explanation), /It is flaky, and passed in none of 3 runs of this tree/);
  });

  it('lands nothing through a job that has another name than the check [V55] [U64]', async () => {
    const { queue, attacker } = await aForgedQueue(world);
    const guilty = await queue.submitOne();
    const tested = await queue.ci.runOf(guilty);
    await upload(attacker, queue, jobOf(tested, 'CI / unit'), reportOf(caseOf('a', FAILURE), caseOf('b')));
    await queue.ci.pass(guilty);
    const repeated = await queue.ci.untilOtherRun(guilty, tested.testRunId);
    await queue.ci.report(repeated, 'SUCCESS', { name: 'nightly' });
    await upload(attacker, queue, jobOf(repeated, 'CI / nightly'), reportOf(caseOf('a', FAILURE)));
    await upload(attacker, queue, jobOf(repeated, 'CI / unit'), reportOf(caseOf('a'), caseOf('b')));
    await queue.ci.pass(guilty);
    await queue.ci.untilState(guilty, 'MERGED');
  });

  it('is not proven by results of a run that never was [V56]', async () => {
    const { queue, attacker } = await aForgedQueue(world);
    const guilty = await queue.submitOne();
    const tested = await queue.ci.runOf(guilty);
    const twin = await queue.openPullRequest({});
    await queue.submit(twin);
    await upload(attacker, queue, jobOf(await queue.ci.runOf(twin)), reportOf(caseOf('a'), caseOf('b')));
    await upload(attacker, queue, jobOf(tested), reportOf(caseOf('a', FAILURE), caseOf('b')));
    await queue.ci.pass(guilty);
    await queue.ci.untilOtherRun(guilty, tested.testRunId);
  });
});

/** Anybody with a token has made the test a flaky, by two results for the head of the branch. */
async function aForgedQueue(world: ServerWorld) {
  const queue = await world.aQueue({});
  await quarantineItself(queue);
  const first = await queue.submitOne();
  const attacker = await queue.api.withScopes('upload');
  await upload(attacker, queue, jobOf(await queue.ci.runOf(first)), reportOf(caseOf('a'), caseOf('b')));
  await queue.ci.pass(first);
  await queue.ci.untilState(first, 'MERGED');
  const head = await queue.git.git(['rev-parse', 'main']);
  for (const [attempt, inside] of [FAILURE, ''].entries()) {
    const fields = { sha: head, branch: 'main', job_name: 'forged', job_attempt: String(attempt + 1) };
    await upload(attacker, queue, fields, reportOf(caseOf('a', inside)));
  }
  await processed(queue);
  assert.equal(await quarantined(queue), 1);
  return { queue, attacker };
}
