import { EVENT_TYPES, type listEvents as listEventsContract } from '../../contract/events.ts';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import { nearest } from '../../lib/nearest.ts';
import { present } from '../../lib/present.ts';
import type { FeedQuery } from '../../storage/feed.ts';
import type { RepositoryId, RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { viewEvent } from '../core/feed-event.ts';
import { findRepository } from '../core/find-queue.ts';
import { type Answer, isRefusal, type Refusal, refuse, refuseField } from '../core/refusal.ts';

export interface FeedFilter extends Pick<FeedQuery, 'targetBranch' | 'prNumber' | 'testId' | 'types'> {
  readonly repo?: RepositoryRef;
}

// SPEC X3
export async function listEvents(
  app: App,
  caller: Caller,
  input: RequestOf<typeof listEventsContract>,
): Answer<ReplyOf<typeof listEventsContract>> {
  // A part of the records would look as if others had been removed.
  const { order = 'DESC', limit = 50, cursor, after, before, audit: isAudit = false } = input;
  if (isAudit && (!hasScope(caller, 'admin') || caller.repositoryIds !== null)) {
    return refuse('INSUFFICIENT_SCOPE', 'The audit is for tokens of all repositories with the scope "admin".');
  }
  const reach = await findReach(app, caller, input);
  if (isRefusal(reach)) return reach;
  // An event that was just stored has no place before this.
  await app.feed.sequence();
  const window = present({ from: after, until: before, afterSeq: cursor });
  const rows = await app.store.feed.list({ ...reach, ...window, isAuditOnly: isAudit, order, limit: limit + 1 });
  const page = rows.slice(0, limit);
  const last = page.at(-1)?.seq ?? (await knownPlace(app, caller, cursor));
  const hasNext = rows.length > limit || (order === 'ASC' && last !== undefined);
  return {
    events: page.map((row) => ({ ...viewEvent(row), ...(isAudit ? present({ digest: row.digest }) : {}) })),
    ...(hasNext ? { nextCursor: `${last}` } : order === 'ASC' ? { nextCursor: '0' } : {}),
  };
}

// SPEC X50
async function knownPlace({ store }: App, { organization }: Caller, cursor: number | undefined) {
  if (cursor === undefined) return undefined;
  const { lastSeq } = await store.feed.getHead(organization.id);
  return Math.min(cursor, lastSeq);
}

export type Reach = Omit<FeedQuery, 'order' | 'limit' | 'from' | 'until' | 'afterSeq' | 'isAuditOnly'>;

/** Events of these families are about access. */
const GUARDED = EVENT_TYPES.filter((type) => /^(?:organization|token|session|webhook)\./.test(type));

// SPEC X4
export async function findReach(app: App, caller: Caller, filter: FeedFilter): Answer<Reach> {
  const { repo, targetBranch, prNumber, testId } = filter;
  const types = filter.types && expandTypes(filter.types);
  if (types !== undefined && isRefusal(types)) return types;
  const repository = repo && (await findRepository(app, caller, repo));
  if (repository !== undefined && isRefusal(repository)) return repository;
  if (repository === undefined && (prNumber !== undefined || targetBranch !== undefined || testId !== undefined)) {
    return refuseField('/repo', 'must be given with targetBranch, prNumber or testId');
  }
  const seen = caller.repositoryIds === null ? null : ([...caller.repositoryIds] as RepositoryId[]);
  return {
    organizationId: caller.organization.id,
    repositoryIds: repository === undefined ? seen : [repository.id],
    ...present({ targetBranch, prNumber, testId, types }),
    ...(hasScope(caller, 'admin') ? {} : { hiddenTypes: GUARDED }),
  };
}

/** Exact names, for names and families such as `queue.*`. */
export function expandTypes(
  given: readonly string[],
  known: readonly string[] = EVENT_TYPES,
): readonly string[] | Refusal {
  const types = new Set<string>();
  for (const [index, name] of given.entries()) {
    const family = name.endsWith('.*') ? name.slice(0, -1) : undefined;
    const found = known.filter((type) => (family === undefined ? type === name : type.startsWith(family)));
    if (found.length === 0) {
      const meant = nearest(name, known);
      const hint = meant === undefined ? '' : `. Did you mean ${meant}?`;
      return refuseField(`/types/${index}`, `"${name}" is not a type of event${hint}`);
    }
    for (const type of found) types.add(type);
  }
  return [...types];
}
