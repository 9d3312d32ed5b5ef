import type { AnswerOf } from '../core/operations.ts';
import { formatRows } from '../core/table.ts';
import { formatTime, terminalWidth } from '../core/terminal.ts';
import { formatName, formatRate, styleOfStatus } from './format-test.ts';
import { formatDuration } from './history.ts';
import { formatDays, isUnicodeTerminal } from './sparkline.ts';

type ListedTest = AnswerOf<'listTests'>['tests'][number];

/** Names of the figures that people know, and those of the API. */
export const SORTS = {
  impact: 'PULL_REQUESTS',
  failures: 'FAILURES',
  rate: 'FAILURE_RATE',
  duration: 'DURATION',
  'last-failure': 'LAST_FAILURE',
} as const;

/** Narrower terminals show fewer columns; pipes have all but the drawn one. */
const WIDE = 120;
const WIDE_ENOUGH_TO_DRAW = 160;

type Columns = Parameters<typeof formatRows<ListedTest>>[1];

// SPEC F65
export function formatRanked(tests: readonly ListedTest[], width = terminalWidth()): string {
  if (tests.length === 0) return 'No test fits.\n';
  const isWide = width === undefined || width >= WIDE;
  const draws = width !== undefined && width >= WIDE_ENOUGH_TO_DRAW && isUnicodeTerminal(process.env);
  const columns: Columns = [
    { title: 'STATUS', style: styleOfStatus, cell: (test) => test.status.value },
    { title: 'PRS', align: 'right', cell: (test) => String(test.pull_requests_impacted_last_30d) },
    { title: 'FAILS', align: 'right', cell: (test) => String(test.failures_last_30d) },
    { title: 'RATE', align: 'right', cell: (test) => formatRate(test.failure_rate_last_30d) },
    ...(isWide ? WIDE_COLUMNS : []),
    ...(draws ? DRAWN_COLUMNS : []),
    { title: 'ID', keeps: true, cell: (test) => test.id },
    { title: 'TEST', wraps: true, cell: formatName },
  ];
  return formatRows(tests, columns, width);
}

const WIDE_COLUMNS: Columns = [
  { title: 'TOOK', align: 'right', cell: ({ average_duration_ms: ms }) => formatDuration(ms ?? null) },
  { title: 'FAILED', cell: (test) => formatTime(test.last_failure_at) },
  { title: 'QUAR.', cell: (test) => (test.quarantined ? 'yes' : '-') },
  { title: 'OWNER', shrinks: true, cell: (test) => test.codeowners.join(' ') || '-' },
];

const DRAWN_COLUMNS: Columns = [
  { title: 'LAST 30 DAYS', keeps: true, cell: ({ daily }) => formatDays(daily.runs, daily.failures) },
];
