import { parseInstant } from '../core/arguments.ts';
import { commandFor } from '../core/command.ts';
import { usageError } from '../core/exit.ts';
import type { AnswerOf } from '../core/operations.ts';
import { formatRows } from '../core/table.ts';
import { clean, paint, terminalWidth } from '../core/terminal.ts';
import { wrapWords } from '../core/text-width.ts';
import { styleOfStatus } from './format-test.ts';
import { TESTS_OF_REPO } from './scope.ts';

const DAY_MS = 86_400_000;
const MAX_RANGE_MS = 92 * DAY_MS;

export const cost = commandFor(
  'costOfFlakes',
  {
    on: TESTS_OF_REPO,
    text: 'Show what flaky tests cost the queues: pull requests removed or tested again, waiting, CI time.',
    takes: {
      '--since <when>': [
        'Since 30d (also m, h, w) ago, or an instant; at most 92 days. (default: 30d)',
        parseInstant('past'),
      ],
    },
    examples: ['sluice tests cost', 'sluice tests cost --since 7d --json'],
    show: (reply) => formatCost(reply),
  },
  ({ since, ...scope }) => {
    const now = Date.now();
    const start = since === undefined ? now - 30 * DAY_MS : Date.parse(since);
    // A minute of tolerance: `92d` was resolved a moment ago, and must still be accepted.
    if (start < now - MAX_RANGE_MS - 60_000) throw usageError('--since reaches back 92 days at most.');
    return {
      ...scope,
      start_time: new Date(start).toISOString(),
      end_time: new Date(Math.min(now, start + MAX_RANGE_MS)).toISOString(),
    };
  },
);

type Reply = AnswerOf<'costOfFlakes'>;
type Cost = Reply['total'];

/** In pipes and files only the rows of tests. */
export function formatCost(reply: Reply, width = terminalWidth()): string {
  const { total, tests, owners, saved_by_honoring: shadow, advice } = reply;
  if (total.test_runs === 0) return 'No test run of a queue failed in flaky tests only.\n';
  const columns = costColumns<Reply['tests'][number]>();
  const byTest = formatRows(
    tests,
    [
      { title: 'STATUS', style: styleOfStatus, cell: ({ status }) => status },
      ...columns,
      { title: 'TEST', wraps: true, cell: ({ name }) => name },
    ],
    width,
  );
  if (width === undefined) return byTest;
  const say = (text: string) => `${wrapWords(text.split(' '), width).join('\n')}\n`;
  const byOwner = formatRows(
    owners,
    [...costColumns<Reply['owners'][number]>(), { title: 'OWNER', shrinks: true, cell: ({ owner }) => owner }],
    width,
  );
  return [
    say(describeCost(total)),
    byTest,
    ...(owners.length === 0 ? [] : [byOwner]),
    ...(shadow.test_runs === 0 ? [] : [say(`With honorQuarantine ON: ${describeSaved(shadow)} saved.`)]),
    ...(advice === undefined ? [] : [paint('bold', say(clean(advice.text)).trimEnd()).concat('\n')]),
  ].join('\n');
}

function costColumns<Row extends Cost>() {
  return [
    { title: 'REMOVED', align: 'right', cell: (row: Row) => String(row.entries_removed) },
    { title: 'RETESTED', align: 'right', cell: (row: Row) => String(row.entries_retested) },
    { title: 'WAITED', align: 'right', cell: (row: Row) => formatHours(row.hours_waited) },
    { title: 'CI', align: 'right', cell: (row: Row) => formatHours(row.ci_minutes / 60) },
  ] as const;
}

function describeCost(cost: Cost): string {
  const { test_runs, entries_removed, entries_retested } = cost;
  const runs = test_runs === 1 ? '1 test run' : `${test_runs} test runs`;
  const removed = `removed ${entries_removed} and delayed ${entries_retested} pull requests`;
  return `${runs} failed in flaky tests only: ${removed}. Cost: ${describeSaved(cost)}.`;
}

function describeSaved({ hours_waited, ci_minutes }: Cost): string {
  return `${formatHours(hours_waited)} of waiting, ${formatHours(ci_minutes / 60)} of CI`;
}

function formatHours(hours: number): string {
  if (hours * 60 < 90) return `${Math.round(hours * 60)} min`;
  return hours < 10 ? `${hours.toFixed(1)} h` : `${Math.round(hours)} h`;
}
