import type { Command } from 'commander';
import type { ReplyOf } from '../contract/operation.ts';
import type { getQueue } from '../contract/queues.ts';
import { formatLocalTime, isTimeZone, type LocalTime, localTimeAt, parseLocalTime } from '../lib/local-time.ts';
import { addExamples, formatRepo } from './core/arguments.ts';
import type { Context } from './core/context.ts';
import { usageError } from './core/exit.ts';
import { addQueueArguments, type Place, withQueue } from './core/place.ts';
import { formatRows } from './core/table.ts';
import { clean } from './core/terminal.ts';
import { formatFrozen } from './format-queue.ts';

type Freeze = ReplyOf<typeof getQueue>['freezes'][number];

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;
const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

// SPEC Q24
export function defineFreeze(queue: Command): void {
  const freeze = queue.command('freeze').description('Keep a queue from landing at certain times. Tests go on.');
  addExamples(freeze, [
    "sluice queue freeze add --name weekend --from 'fri 17:00' --until 'mon 08:00' --weekly --time-zone Europe/Berlin",
    'sluice queue freeze list',
  ]);
  defineAdd(freeze);
  defineList(freeze);
  defineRemove(freeze);
}

interface AddOptions {
  readonly name: string;
  readonly from: string;
  readonly until: string;
  readonly timeZone?: string;
  readonly weekly?: true;
  readonly allowUrgent?: true;
}

function defineAdd(freeze: Command): void {
  const when = "2026-12-24T18:00, 'fri 17:00' or 17:00, in the time zone";
  const command = addQueueArguments(freeze.command('add').description('Add a freeze, or replace the one of this name.'))
    .requiredOption('--name <name>', 'Its name. Explanations and comments show it.')
    .requiredOption('--from <when>', `When it begins: ${when}.`)
    .requiredOption('--until <when>', `When it ends: ${when}.`)
    .option('--time-zone <name>', 'Such as Europe/Berlin. Default: that of this computer.')
    .option('--weekly', 'In every week, at the same local times. Otherwise once.')
    .option('--allow-urgent', 'Urgent pull requests land nevertheless.')
    .action(
      withQueue(async (context, place, options: AddOptions) => {
        const addFreeze = toFreeze(options, Date.now());
        show(context, place, await context.call('updateQueue', { ...place, addFreeze }));
      }),
    );
  addExamples(command, [
    'sluice queue freeze add --name holidays --from 2026-12-24T12:00 --until 2027-01-02T08:00 --allow-urgent',
    "sluice queue freeze add local/acme/app main --name weekend --from 'fri 17:00' --until 'mon 08:00' --weekly",
  ]);
}

function defineList(freeze: Command): void {
  const command = addQueueArguments(freeze.command('list').description('List the freezes of a queue.')).action(
    withQueue(async (context, place) => {
      const reply = await context.call('getQueue', place);
      show(context, place, reply);
    }),
  );
  addExamples(command, ['sluice queue freeze list', 'sluice queue freeze list local/acme/app main']);
}

function defineRemove(freeze: Command): void {
  const command = addQueueArguments(freeze.command('remove').description('Remove a freeze. If it holds, it ends.'))
    .requiredOption('--name <name>', 'The name of the freeze.')
    .action(
      withQueue(async (context, place, { name }: { name: string }) => {
        show(context, place, await context.call('updateQueue', { ...place, removeFreeze: name }));
      }),
    );
  addExamples(command, ['sluice queue freeze remove --name weekend']);
}

interface Frozen {
  readonly freezes: readonly Freeze[];
  readonly frozen?: { readonly text: string };
}

function show(context: Context, { repo, targetBranch }: Place, { freezes, frozen }: Frozen): void {
  context.show({ freezes, ...(frozen === undefined ? {} : { frozen }) }, () =>
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
export function toFreeze(options: AddOptions, now: number): Freeze {
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
