import type { WebhookHint } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { hasWaiting, isWaitedFor } from './checks-hint.ts';
import { isEnqueueingLabel } from './commands/label-command.ts';

/**
 * Whether a queue goes by it. Most of what happens at a busy repository is about commits, branches and labels that no
 * queue has anything to do with: to store it, and to look, would be most of the work. Of a candidate a queue knows before
 * anybody outside can speak of it. A head may be heard of here after its checks: then the next look around sees them.
 */
export async function isRelevant(app: App, repository: Repository, hint: WebhookHint): Promise<boolean> {
  switch (hint.kind) {
    case 'checks':
      return (await loadQueues(app, [repository])).some(
        (found) => isWaitedFor(found, hint) || (hint.check === undefined && hasWaiting(found)),
      );
    case 'branch':
      return (await loadQueues(app, [repository])).some(({ queue }) => queue.branch === hint.branch);
    case 'label':
      return isEnqueueingLabel(app, repository, hint.label);
    default:
      return true;
  }
}
