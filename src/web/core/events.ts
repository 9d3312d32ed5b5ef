import { call, type Reply } from './api.ts';

export type Event = Reply<'listEvents'>['events'][number];

export interface EventList {
  readonly events: readonly Event[];
  /** There are more than were read. */
  readonly isWhole: boolean;
}

/** Reads events of a time, newest first, up to this many. */
export async function readEvents(org: string, filter: object, most: number, signal: AbortSignal): Promise<EventList> {
  const events: Event[] = [];
  let cursor: string | undefined;
  do {
    const body = { ...filter, limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const page = await call(org, 'listEvents', body, { signal });
    events.push(...page.events);
    cursor = page.nextCursor;
  } while (cursor !== undefined && events.length < most);
  return { events, isWhole: cursor === undefined };
}
