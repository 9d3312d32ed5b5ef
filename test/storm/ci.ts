import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CandidateView } from '../../src/app/queue/candidate-view.ts';
import { queueOf, type StormClient } from './client.ts';
import { pause } from './pause.ts';
import type { Line, Plan } from './plan.ts';
import { rulesOf } from './project.ts';

const run = promisify(execFile);
const AGAIN_MS = 40;

export interface Ci {
  stop(): Promise<void>;
}

/** A CI besides Sluice: it tests the commits of test runs in clones of its own, and reports to any server that is up. */
export function startCi(of: {
  readonly client: StormClient;
  readonly plan: Plan;
  readonly repository: string;
  /** It records there which trees passed. */
  readonly folder: string;
}): Ci {
  let isOver = false;
  const work = of.plan.lines.map(async (line) => {
    const clone = await mkdtemp(join(tmpdir(), 'sluice-storm-ci-'));
    try {
      await run('git', ['clone', '--quiet', '--shared', '--no-checkout', of.repository, clone]);
      const done = new Set<string>();
      while (!isOver) {
        for (const each of await readRuns(of.client, line)) {
          if (done.has(each.testRunId) || isOver) continue;
          done.add(each.testRunId);
          await test(each, { ...of, line, clone });
        }
        await pause(AGAIN_MS);
      }
    } finally {
      await rm(clone, { recursive: true, force: true });
    }
  });
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(work);
    },
  };
}

async function readRuns(client: StormClient, line: Line): Promise<readonly CandidateView[]> {
  const body = queueOf(line);
  const { testRuns } = await client.call<{ testRuns: readonly CandidateView[] }>('getMergeQueueTestingDetails', body);
  return testRuns.filter(({ testBranchSha }) => testBranchSha !== '');
}

async function test(
  { testRunId, testBranchSha }: CandidateView,
  { client, line, clone, folder }: { client: StormClient; line: Line; clone: string; folder: string },
): Promise<void> {
  const isThere = await run('git', ['-C', clone, 'checkout', '--quiet', '--force', '--detach', testBranchSha]).then(
    () => true,
    () => false,
  );
  // The run was given up, and git has removed its commit.
  if (!isThere) return;
  await run('git', ['-C', clone, 'clean', '--quiet', '-fdx']);
  for (const { name, command } of rulesOf(folder)) {
    const passes = run('sh', ['-c', command], { cwd: clone }).then(
      () => 'SUCCESS',
      () => 'FAILURE',
    );
    const { repo } = queueOf(line);
    await client.call('reportCheck', { repo, testRunId, name, status: 'COMPLETED', conclusion: await passes });
  }
}
