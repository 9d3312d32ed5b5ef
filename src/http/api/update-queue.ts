import { updateQueue as update } from '../../app/queue/update-queue.ts';
import { updateQueue } from '../../contract/queues.ts';
import { queueChanges } from '../core/parse.ts';
import { route } from '../core/route.ts';

export const updateQueueRoute = route(updateQueue, ({ app, caller, dialect }, body) => {
  const { settings, state } = queueChanges(body);
  const cleared = body.deleteRequiredStatuses === true ? { requiredStatuses: null } : {};
  return update(app, caller, {
    repo: body.repo,
    targetBranch: body.targetBranch,
    settings: { ...settings, ...cleared },
    state,
    keepsUnnamedSettings: dialect.keepsUnnamedSettings,
  });
});
