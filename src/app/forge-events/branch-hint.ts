import { loadQueues } from '../queue/list-queues.ts';
import { readTargetBranch } from '../queue/read-target-branch.ts';
import type { HintOf, HintOutcome, HintRun } from './hint-run.ts';

/** Pushes to other branches than a queue's target branch do not matter. */
export async function readPushedBranch({ app, repository }: HintRun, hint: HintOf<'branch'>): Promise<HintOutcome> {
  for (const found of await loadQueues(app, [repository])) {
    if (found.queue.branch === hint.branch) await readTargetBranch(app, found);
  }
  return 'done';
}
