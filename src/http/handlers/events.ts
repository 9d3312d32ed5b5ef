import { listEvents } from '../../app/feed/list-events.ts';
import { streamEvents } from '../../app/feed/stream-events.ts';
import * as eventsContract from '../../contract/events.ts';
import { upper } from '../../contract/schema.ts';
import { present } from '../../lib/present.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import { instant, prNumber } from '../core/parse.ts';
import { invalidField } from '../core/problem.ts';
import { type Route, route, streamRoute } from '../core/route.ts';

export const EVENTS_ROUTES: readonly Route[] = [
  streamRoute(eventsContract.streamEvents, (context, { repo, targetBranch, testId, types, prNumber: number }) => {
    const { app, caller, lastEventId } = context;
    if (lastEventId !== undefined && !/^[0-9]{1,15}$/.test(lastEventId)) {
      throw invalidField('/Last-Event-ID', 'must be the id of an event');
    }
    return streamEvents(app, caller, {
      ...present({ repo: repo === undefined ? undefined : parseRepo(repo), targetBranch }),
      ...present({ testId: testId?.toLowerCase(), prNumber: number === undefined ? undefined : prNumber(number) }),
      ...present({ types: types?.split(',').map((type) => type.trim()) }),
      lastId: lastEventId === undefined ? undefined : Number(lastEventId),
      isAdmitted: () => context.isAdmitted(),
    });
  }),
  route(eventsContract.listEvents, ({ app, caller }, body) => {
    const {
      repo,
      targetBranch,
      testId,
      types,
      after,
      before,
      cursor,
      audit = false,
      order = 'DESC',
      limit = 50,
    } = body;
    return listEvents(app, caller, {
      ...present({ repo, targetBranch, testId: testId?.toLowerCase(), types }),
      ...present({ prNumber: body.prNumber === undefined ? undefined : prNumber(body.prNumber) }),
      ...present({ after: after === undefined ? undefined : instant('/after', after) }),
      ...present({ before: before === undefined ? undefined : instant('/before', before) }),
      ...present({ cursor: cursor === undefined ? undefined : Number(cursor) }),
      isAudit: audit,
      order: upper(order),
      limit,
    });
  }),
];

/** Groups may be nested, so the owner is everything between the first and the last slash. */
function parseRepo(given: string): RepositoryRef {
  const [host = '', ...rest] = given.split('/');
  return { host, owner: rest.slice(0, -1).join('/'), name: rest.at(-1) ?? '' };
}
