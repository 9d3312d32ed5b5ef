// Checks that the built-in runner runs, and their traces: logs, results, work folders and processes.
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { CheckRunView } from '../../src/app/queue/candidate-view.ts';
import type { EntryView } from '../../src/app/queue/entry-view.ts';
import { findRunnerFolder } from '../../src/check-runner/local/local-runner.ts';
import { listJobs } from '../../src/check-runner/local/work-folder.ts';
import { findMarked } from '../../src/lib/marked-processes.ts';
import { type TestServer, until } from './harness.ts';
import type { ServerWorld, TestQueue } from './test-queue.ts';

interface Check {
  readonly name: string;
  readonly command: string;
}

/** A queue that asks for these checks and no other. */
export async function aCheckedQueue(
  world: Pick<ServerWorld, 'aQueue'>,
  checks: readonly Check[],
  { settings = {}, repository = {} } = {},
): Promise<TestQueue> {
  const queue = await world.aQueue({ requiredStatuses: null, ...settings });
  await queue.api.ok('registerRepository', { repo: queue.repo, checks, ...repository });
  return queue;
}

export async function untilLeft(queue: TestQueue, number: number): Promise<EntryView> {
  await until(`#${number} has left the queue`, 400_000, async () => {
    const { isCurrentlySubmittedToQueue } = await queue.get(number);
    return !isCurrentlySubmittedToQueue || undefined;
  });
  return queue.get(number, { includeExplanation: true, includeTimeline: true });
}

/** The test run that its timeline names last. */
export function testRunOf(queue: TestQueue, number: number): Promise<string> {
  return until(`#${number} has a test run`, 15_000, async () => {
    const { timeline } = await queue.get(number, { includeTimeline: true });
    return timeline?.find(({ testRunId }) => testRunId !== undefined)?.testRunId;
  });
}

export async function logOf({ api, ref }: TestQueue, testRunId: string, check = 'test'): Promise<string> {
  return (await api.ok<{ text: string }>('getCandidateLog', { ...ref, testRunId, check })).text;
}

export async function checkOf(queue: TestQueue, testRunId: string, name = 'test'): Promise<CheckRunView | undefined> {
  const { checkSuites } = await queue.ci.read(testRunId);
  return checkSuites.flatMap(({ checkRuns }) => checkRuns).find((run) => run.name === name);
}

/** No process of a check, and no folder of one. */
export async function assertNothingLeft({ dataFolder }: TestServer): Promise<void> {
  const folder = findRunnerFolder(dataFolder, undefined);
  await until('nothing of a check is left', 15_000, async () => {
    const [mark = ''] = await readdir(folder);
    const [jobs, pids] = await Promise.all([listJobs(join(folder, mark)), findMarked(mark)]);
    return jobs.length === 0 && pids.length === 0 ? true : undefined;
  });
}
