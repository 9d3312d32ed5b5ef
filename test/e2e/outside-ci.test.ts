// An administrator follows docs/first-week.md with a CI of their own, from the first day to the fourth.
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { makeFolder } from './harness.ts';
import { sluice } from './kept-sluice.ts';
import { caseOf, FAILURE, processed, reportOf } from './quarantine-world.ts';
import { useServer } from './test-queue.ts';

describe('an outside CI', () => {
  const world = useServer();

  it('lands what its reports prove, with one token and one command at its end [V55] [V56] [V57] [F84]', async () => {
    const queue = await world.aQueue({});
    const { host, owner, name } = queue.repo;
    const [repo, branch] = [`${host}/${owner}/${name}`, 'main'];
    const admin = async (...args: readonly string[]) => {
      const { code, out, err } = await sluice(args, { env: world.server.env });
      assert.equal(code, 0, `${args.join(' ')}: ${err}${out}`);
      return out;
    };
    const folder = await makeFolder();
    mkdirSync(join(folder, 'reports'));

    // Day 1: a token that can do nothing but upload.
    const made = JSON.parse(await admin('token', 'create', '--name', 'ci', '--scope', 'upload', '--json'));
    const env = { ...world.server.env, SLUICE_TOKEN: made.token as string };

    /** The end of CI's job: uploads the report, and reports the exit code as the result of the check. */
    const ciEnds = async (prNumber: number, report: string, code: number, after = ''): Promise<CandidateView> => {
      const run = after === '' ? await queue.ci.runOf(prNumber) : await queue.ci.untilOtherRun(prNumber, after);
      writeFileSync(join(folder, 'reports/unit.xml'), report);
      const place = ['--repo', repo, '--sha', run.testBranchSha, '--branch', run.testBranch, '--job', 'test'];
      const args = ['upload', 'reports/*.xml', ...place, '--exit-code', String(code)];
      const ended = await sluice(args, { env, cwd: folder });
      await queue.ci.report(run, ended.code === 0 ? 'SUCCESS' : 'FAILURE');
      return run;
    };
    const land = async (report: string, code = 0) => {
      const prNumber = await queue.submitOne();
      await ciEnds(prNumber, report, code);
      return queue.ci.untilState(prNumber, 'MERGED');
    };

    // Day 2 and 3: the queue works, and flaky is a figure.
    const green = reportOf(caseOf('a'), caseOf('b'), caseOf('c'));
    assert.deepEqual((await land(green)).landed?.excused, []);
    const flaky = reportOf(caseOf('a'), caseOf('b', '<flakyFailure message="no"/>'), caseOf('c'));
    await land(flaky);
    await processed(queue);
    assert.match(await admin('tests', 'list', '--repo', repo), /flaky/i);

    // Day 4: a person decides about one test, and the rest is automatic.
    await admin('tests', 'quarantine', 'a', '--repo', repo, '--reason', 'See NET-12', '--until', '14d');
    await admin('tests', 'settings', 'set', 'auto_quarantine=true', '--repo', repo);
    await admin('queue', 'update', repo, branch, '--honor-quarantine', 'on');
    const setup = await admin('forge', 'check', repo, branch);
    assert.match(setup, /Test results of test come with its runs/);

    const decided = await land(reportOf(caseOf('a', FAILURE), caseOf('b'), caseOf('c')), 1);
    const [excused] = decided.landed?.excused ?? [];
    assert.deepEqual([excused?.tests[0]?.name, excused?.tests[0]?.excusedBy], ['a', 'PERSON']);

    const unlucky = await queue.submitOne();
    const red = reportOf(caseOf('a'), caseOf('b', FAILURE), caseOf('c'));
    const first = await ciEnds(unlucky, red, 1);
    await ciEnds(unlucky, green, 0, first.testRunId);
    await queue.ci.untilState(unlucky, 'MERGED');

    const guilty = await queue.submitOne();
    let { testRunId } = await ciEnds(guilty, red, 1);
    for (let run = 2; run <= 3; run += 1) ({ testRunId } = await ciEnds(guilty, red, 1, testRunId));
    const removed = await queue.ci.untilState(guilty, 'FAILED');
    assert.match(JSON.stringify(removed.explanation), /passed in none of 3 runs of this tree/);
  });
});
