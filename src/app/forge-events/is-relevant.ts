import type { WebhookHint } from '../../forge/hosting.ts';
import type { Repository } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { loadQueues } from '../queue/list-queues.ts';
import { hasWaiting, isWaitedFor } from './checks-hint.ts';
import { isEnqueueingLabel } from './commands/label-command.ts';

/**
 * Whether a queue depends on the hint. Most webhooks of a busy repository are about commits, branches and labels that
 * no
 * queue has: storing and handling them would be most of the work. A queue knows a candidate before CI can report on it.
 * Checks of a head may arrive before the head itself; the next poll then reads them.
 */
// SPEC G86
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
