import type { Static } from 'typebox';
import type { listQuarantinedTests } from '../../contract/flaky-tests.ts';
import { formatTable } from '../core/table.ts';
import { formatTime, terminalWidth } from '../core/terminal.ts';
import { formatName, styleOfStatus } from './test-words.ts';

export type QuarantinedView = Static<typeof listQuarantinedTests.reply>['quarantined_tests'][number];

const REVIEWS = { ALWAYS_PASSES: 'only passes', NEVER_RUNS: 'no longer runs' } as const;

export function formatQuarantined(tests: readonly QuarantinedView[], none: string): string {
  if (tests.length === 0) return `${none}\n`;
  const columns = [
    { title: 'STATUS', style: styleOfStatus },
    { title: 'QUARANTINED' },
    { title: 'BY' },
    { title: 'REVIEW' },
    { title: 'ID', keeps: true as const },
    { title: 'TEST', shrinks: true as const },
  ];
  const rows = tests.map((test) => [
    test.status,
    formatTime(test.quarantined_at),
    test.quarantine_setting === 'ALWAYS_QUARANTINE' ? 'somebody' : 'its status',
    test.review === undefined ? '-' : REVIEWS[test.review],
    test.test_case_id,
    formatName({ ...test, file_path: test.file ?? null }),
  ]);
  return formatTable(columns, rows, terminalWidth());
}
