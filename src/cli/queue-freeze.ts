import { formatLocalTime, isTimeZone, type LocalTime, localTimeAt, parseLocalTime } from '../lib/local-time.ts';
import { present } from '../lib/present.ts';
import { formatRepo } from './core/arguments.ts';
import { type Given, type Row, row } from './core/command.ts';
import type { Context } from './core/context.ts';
import { usageError } from './core/exit.ts';
import type { AnswerOf } from './core/operations.ts';
import { type Place, QUEUE } from './core/place.ts';
import { formatRows } from './core/table.ts';
import { clean } from './core/terminal.ts';
import { formatFrozen } from './format-queue.ts';

type Freeze = AnswerOf<'getQueue'>['freezes'][number];

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

const WHEN = "2026-12-24T18:00, 'fri 17:00' or 17:00, in the time zone";

const ADD_OPTIONS = {
  '--name <name>': { text: 'Its name. Explanations and comments show it.', isRequired: true },
  '--from <when>': { text: `When it begins: ${WHEN}.`, isRequired: true },
  '--until <when>': { text: `When it ends: ${WHEN}.`, isRequired: true },
  '--time-zone <name>': 'Such as Europe/Berlin. Default: that of this computer.',
  '--weekly': 'In every week, at the same local times. Otherwise once.',
  '--allow-urgent': 'Urgent pull requests land nevertheless.',
} as const;

const add = row({
  on: QUEUE,
  text: 'Add a freeze, or replace the one of this name.',
  takes: ADD_OPTIONS,
  examples: [
    'sluice queue freeze add --name holidays --from 2026-12-24T12:00 --until 2027-01-02T08:00 --allow-urgent',
    "sluice queue freeze add local/acme/app main --name weekend --from 'fri 17:00' --until 'mon 08:00' --weekly",
  ],
  run: async (context, { repo, targetBranch, ...options }) => {
    const place = { repo, targetBranch };
    const addFreeze = toFreeze(options, Date.now());
    show(context, place, await context.act('updateQueue', { ...place, addFreeze }));
  },
});

const list = row({
  on: QUEUE,
  text: 'List the freezes of a queue.',
  examples: ['sluice queue freeze list', 'sluice queue freeze list local/acme/app main'],
  run: async (context, place) => show(context, place, await context.call('getQueue', place)),
});

const remove = row({
  on: QUEUE,
  text: 'Remove a freeze. If it holds, it ends.',
  takes: { '--name <name>': { text: 'The name of the freeze.', isRequired: true } },
  examples: ['sluice queue freeze remove --name weekend'],
  run: async (context, { name: removeFreeze, ...place }) =>
    show(context, place, await context.act('updateQueue', { ...place, removeFreeze })),
});

// SPEC Q24
export const FREEZE: Row = {
  text: 'Keep a queue from landing at certain times. Tests go on.',
  examples: [
    "sluice queue freeze add --name weekend --from 'fri 17:00' --until 'mon 08:00' --weekly --time-zone Europe/Berlin",
    'sluice queue freeze list',
  ],
  rows: { add, list, remove },
};

type Frozen = Pick<AnswerOf<'updateQueue'>, 'freezes' | 'frozen'>;

function show(context: Context, { repo, targetBranch }: Place, { freezes, frozen }: Frozen): void {
  context.show({ freezes, ...present({ frozen }) }, () =>
    freezes.length === 0
      ? `${formatRepo(repo)} ${targetBranch} has no freezes.`
      : `${formatFreezes(freezes)}${formatFrozen(frozen)}`,
  );
}

function formatFreezes(freezes: readonly Freeze[]): string {
  return formatRows(freezes, [
    { title: 'NAME', shrinks: true, cell: ({ name }) => clean(name) },
    { title: 'WHEN', wraps: true, cell: describeFreeze },
    { title: 'URGENT', cell: ({ allowUrgent }) => (allowUrgent ? 'land' : 'wait') },
  ]);
}

/** `every week Fri 17:00 to Mon 08:00 (Europe/Berlin)` */
export function describeFreeze({ from, until, timeZone, repeat }: Freeze): string {
  const shown = (text: string) => (repeat === 'WEEKLY' ? dayAndTime(text) : text.replace('T', ' '));
  return `${repeat === 'WEEKLY' ? 'every week ' : ''}${shown(from)} to ${shown(until)} (${clean(timeZone)})`;
}

function dayAndTime(text: string): string {
  return `${DAYS[dayOf(parseLocalTime(text) ?? 0)]} ${text.slice(11)}`;
}

/** The first of January 1970 was a Thursday. */
function dayOf(local: LocalTime): number {
  return (Math.floor(local / DAY_MS) + 4) % 7;
}

/** Days of the week and times of the day mean the next ones, or for a weekly freeze the last ones: it may hold now. */
export function toFreeze(options: Given<typeof ADD_OPTIONS>, now: number): Freeze {
  const timeZone = options.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (!isTimeZone(timeZone)) throw usageError(`There is no time zone ${timeZone}. Write a name such as Europe/Berlin.`);
  const present = localTimeAt(timeZone, now);
  const from = readWhen(options.from, options.weekly ? present - WEEK_MS : present);
  return {
    name: options.name,
    from: formatLocalTime(from),
    until: formatLocalTime(readWhen(options.until, from)),
    timeZone,
    repeat: options.weekly ? 'WEEKLY' : 'NONE',
    allowUrgent: options.allowUrgent ?? false,
  };
}

/** The given local time, or the first one after `after` that has the given day of the week and time of the day. */
function readWhen(text: string, after: LocalTime): LocalTime {
  const exact = parseLocalTime(text.trim().replace(' ', 'T'));
  if (exact !== undefined) return exact;
  const [, day, hour = '', minute = ''] = /^(?:([a-z]{3})[a-z]* +)?(\d{1,2}):(\d{2})$/i.exec(text.trim()) ?? [];
  const weekday = day === undefined ? undefined : DAYS.findIndex((name) => name.toLowerCase() === day.toLowerCase());
  if (hour === '' || Number(hour) > 23 || Number(minute) > 59 || weekday === -1)
    throw usageError(`${text} is no time: write 2026-12-24T18:00, 'fri 17:00' or 17:00.`);
  const midnight = Math.floor(after / DAY_MS) * DAY_MS;
  const days = Array.from({ length: 9 }, (_, index) => midnight + index * DAY_MS);
  const times = days.filter((each) => weekday === undefined || dayOf(each) === weekday);
  const ms = Number(hour) * 3_600_000 + Number(minute) * 60_000;
  return times.map((each) => each + ms).find((local) => local > after) ?? after;
}
