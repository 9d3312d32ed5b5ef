import { loadQueues } from '../queue/list-queues.ts';
import { lookAtTarget } from '../queue/read-target-branch.ts';
import type { NoticeAnswer, NoticeOf, NoticeRun } from './hint-run.ts';

/** Somebody pushed: to the target of a queue, or to a branch that is none of ours. */
export async function lookAtBranch({ app, repository }: NoticeRun, notice: NoticeOf<'branch'>): Promise<NoticeAnswer> {
  for (const found of await loadQueues(app, [repository])) {
    if (found.queue.branch === notice.branch) await lookAtTarget(app, found);
  }
  return 'done';
}
