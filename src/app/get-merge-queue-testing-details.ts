import type { App } from './app.ts';
import type { Caller } from './caller.ts';
import { findQueue, type QueueRef } from './find-queue.ts';
import { isRefusal, type Refusal, refuse } from './refusal.ts';

export interface GetTestingDetails extends QueueRef {
  readonly testRunId: string | undefined;
}

/** The engine builds no candidates yet: no test run is in progress, and none can be found. */
export async function getMergeQueueTestingDetails(
  app: App,
  caller: Caller,
  input: GetTestingDetails,
): Promise<{ readonly testRuns: never[] } | Refusal> {
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  if (input.testRunId === undefined) return { testRuns: [] };
  return refuse(
    'TEST_RUN_NOT_FOUND',
    `The queue for branch "${input.targetBranch}" has no test run ${input.testRunId}.`,
  );
}
