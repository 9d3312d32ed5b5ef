import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as queuesContract from '../../contract/queues.ts';
import { formatInstant } from '../../lib/clock.ts';
import { present } from '../../lib/present.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { type Answer, isRefusal, refuseField } from '../core/refusal.ts';
import { findStanding } from './past.ts';

// SPEC Y10
export async function listQueueMoments(
  app: App,
  caller: Caller,
  { repo, targetBranch, after, before, cursor, limit = 50 }: RequestOf<typeof queuesContract.listQueueMoments>,
): Answer<ReplyOf<typeof queuesContract.listQueueMoments>> {
  if (after !== undefined && before !== undefined && after > before) {
    return refuseField('/after', 'must not be later than before');
  }
  const now = app.clock.now();
  const place = await findStanding(app, caller, { repo, targetBranch, at: Math.min(before ?? now, now) });
  if (isRefusal(place)) return place;
  const { queueId } = place;
  const window = present({ from: after, until: before, afterVersion: cursor });
  const moments = await app.store.past.listMoments({ queueId, ...window, limit: limit + 1 });
  const page = moments.slice(0, limit);
  const begin = await app.store.past.findBegin(queueId);
  return {
    moments: page.map(({ at, version }) => ({ at: formatInstant(at), version })),
    ...present({ since: begin && formatInstant(begin.at) }),
    ...(moments.length > limit ? { nextCursor: `${page.at(-1)?.version}` } : {}),
  };
}
