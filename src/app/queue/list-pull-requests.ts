import type { ReplyOf } from '../../contract/operation.ts';
import type * as pullRequestsContract from '../../contract/pull-requests.ts';
import type { EntryState } from '../../engine/queue.ts';
import type { Instant } from '../../lib/clock.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findQueue, type QueueRef } from '../core/find-queue.ts';
import { decodeShownEntry } from '../core/queue-codec.ts';
import { isRefusal, type Refusal, refuseField } from '../core/refusal.ts';
import { viewListEntry } from './entry-view.ts';

export interface ListPullRequests extends QueueRef {
  readonly state: EntryState | undefined;
  /** Bounds of the instant at which a pull request left the queue, both inclusive. */
  readonly since: Instant | undefined;
  readonly until: Instant | undefined;
  readonly cursor: string | undefined;
  readonly take: number;
}

export async function listPullRequests(
  app: App,
  caller: Caller,
  input: ListPullRequests,
): Promise<ReplyOf<typeof pullRequestsContract.listPullRequests> | Refusal> {
  const { since, until, state, cursor, take } = input;
  if (since !== undefined && until !== undefined && since > until) {
    return refuseField('/since', 'must not be later than until');
  }
  const found = await findQueue(app, caller, input);
  if (isRefusal(found)) return found;
  const rows = await app.store.queues.listEntries({
    queueId: found.id,
    ...(state === undefined ? {} : { state }),
    ...(since === undefined ? {} : { concludedFrom: since }),
    ...(until === undefined ? {} : { concludedUntil: until }),
    ...(cursor === undefined ? {} : { afterId: cursor }),
    limit: take + 1,
  });
  const page = rows.slice(0, take);
  const last = page.at(-1);
  return {
    pullRequests: page.map((row) => viewListEntry(decodeShownEntry(row))),
    ...(rows.length > take && last !== undefined ? { nextCursor: last.id } : {}),
  };
}
