import { listEvents } from '../../app/feed/list-events.ts';
import * as eventsContract from '../../contract/events.ts';
import { upper } from '../../contract/schema.ts';
import { present } from '../../lib/present.ts';
import { instant, prNumber } from '../core/parse.ts';
import { type Route, route } from '../core/route.ts';

export const EVENTS_ROUTES: readonly Route[] = [
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
