import { listEvents } from '../../app/feed/list-events.ts';
import { streamEvents } from '../../app/feed/stream-events.ts';
import * as eventsContract from '../../contract/events.ts';
import { invalidField } from '../core/problem.ts';
import { type Route, route, streamRoute } from '../core/route.ts';

export const EVENTS_ROUTES: readonly Route[] = [
  streamRoute(eventsContract.streamEvents, (app, caller, filter, context) => {
    const { lastEventId } = context;
    if (lastEventId !== undefined && !/^[0-9]{1,15}$/.test(lastEventId)) {
      throw invalidField('/Last-Event-ID', 'must be the id of an event');
    }
    return streamEvents(app, caller, {
      ...filter,
      lastId: lastEventId === undefined ? undefined : Number(lastEventId),
      isAdmitted: () => context.isAdmitted(),
    });
  }),
  route(eventsContract.listEvents, listEvents),
];
