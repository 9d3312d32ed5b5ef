import { formatRepo } from './arguments.ts';
import type { Context } from './context.ts';
import type { AnswerOf, BodyOf } from './operations.ts';
import { formatRows } from './table.ts';
import { clean, formatTime, paint, terminalWidth, write } from './terminal.ts';
import { wrap } from './text-width.ts';

type Event = AnswerOf<'listEvents'>['events'][number];

type Filters = Pick<BodyOf<'listEvents'>, 'repo' | 'targetBranch' | 'prNumber' | 'types' | 'after' | 'before'>;

/** The first call prints the latest events, each other one those that came since. Answers how many came. */
export function followEvents(context: Context, asked: Filters, limit: number): () => Promise<number> {
  let cursor: string | undefined;
  return async () => {
    if (cursor === undefined) {
      const { events } = await context.call('listEvents', { ...asked, limit });
      print(context, events.toReversed());
      cursor = (events[0] ?? (await context.call('listEvents', { limit: 1 })).events[0])?.id ?? '0';
      return 0;
    }
    const page = await context.call('listEvents', { ...asked, order: 'ASC', cursor, limit: 200 });
    print(context, page.events);
    cursor = page.nextCursor ?? cursor;
    return page.events.length;
  };
}

/** One JSON document for each event, because the list has no end. */
function print(context: Context, events: readonly Event[]): void {
  if (events.length === 0) return;
  write(
    context.isJson
      ? events.map((event) => `${JSON.stringify(context.pick(event, 'listEvents'))}\n`).join('')
      : formatEvents(events),
  );
}

/** Narrower, a table leaves no room for the sentences. */
const TABLE_WIDTH = 120;

export function formatEvents(events: readonly Event[], width = terminalWidth()): string {
  if (events.length === 0) return 'No events.\n';
  if (width !== undefined && width < TABLE_WIDTH) return events.map((event) => formatLines(event, width)).join('');
  return formatRows(
    events,
    [
      { title: 'WHEN', cell: ({ at }) => formatTime(at) },
      { title: 'TYPE', cell: ({ type }) => type },
      { title: 'WHERE', shrinks: true, cell: formatPlace },
      { title: 'WHAT', wraps: true, cell: ({ text }) => text },
    ],
    width,
  );
}

/** The sentence below its time, type and place. */
function formatLines(event: Event, width: number): string {
  const head = clean([formatTime(event.at), event.type, formatPlace(event)].join('  '));
  const sentence = wrap(clean(event.text), width - 2).map((line) => `  ${line}`);
  return [...wrap(head, width).map((line) => paint('gray', line)), ...sentence].map((line) => `${line}\n`).join('');
}

function formatPlace({ repo, targetBranch }: Event): string {
  if (repo === undefined) return '-';
  return targetBranch === undefined ? formatRepo(repo) : `${formatRepo(repo)} ${targetBranch}`;
}
