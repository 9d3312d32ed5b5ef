import { clean, paintNote } from '../core/terminal.ts';
import type { UploadEnd } from './exit-code.ts';
import type { FailingTest } from './failing-tests.ts';
import { formatFiles } from './progress.ts';
import type { ReadReports } from './read-reports.ts';

/** More say nothing that `sluice tests list --failing` does not say better. */
const MAX_LISTED = 20;

/** What was in the reports: counts, and the tests that fail. */
export function formatReports(files: number, reports: ReadReports, quarantined: ReadonlySet<string>): string[] {
  const { tests, failing, skipped } = reports;
  const skippedWords = skipped === 0 ? '' : `, ${skipped} skipped`;
  return [
    `${formatFiles(files)}, ${formatTests(tests + skipped)}: ${tests - failing.length} passed, ${failing.length} failed${skippedWords}.`,
    ...reports.troubled.slice(0, MAX_LISTED).map(({ name, problem }) => {
      const mark = paintNote('yellow', '!');
      return `  ${mark} ${clean(name)}: ${clean(problem)}`;
    }),
    ...sortByQuarantine(failing, quarantined)
      .slice(0, MAX_LISTED)
      .map((test) => formatFailing(test, quarantined.has(test.id))),
    ...(failing.length > MAX_LISTED ? [`  and ${failing.length - MAX_LISTED} more`] : []),
  ];
}

/** What stands in somebody's way comes first. */
function sortByQuarantine(failing: readonly FailingTest[], quarantined: ReadonlySet<string>): readonly FailingTest[] {
  const [open, held] = [false, true].map((is) => failing.filter(({ id }) => quarantined.has(id) === is));
  return [...(open ?? []), ...(held ?? [])];
}

function formatFailing({ id, names, message }: FailingTest, isQuarantined: boolean): string {
  const mark = isQuarantined ? paintNote('gray', 'quarantined') : paintNote('red', 'failed');
  const name = [names.parent, names.name].filter((part) => part !== '').join(' > ');
  const file = names.file === '' ? '' : ` (${names.file})`;
  const why = message === '' ? '' : `: ${message.slice(0, 160)}`;
  return `  ${mark} ${clean(`${name}${file}${why}`)}\n    ${paintNote('gray', id)}`;
}

/** Why the command ends with this code. */
export function explainExit(end: UploadEnd, code: number): string {
  const isOwn = code === end.given && end.sent !== 'refused';
  return `Exit code ${code}${isOwn ? ', that of the test process' : ''}: ${explain(end)}`;
}

function explain({ sent, files, isEmptyAllowed, failing, unaccounted, isWhole, quarantine }: UploadEnd): string {
  if (sent === 'refused') return 'the upload was refused, and trying again would not help.';
  if (files === 0) return isEmptyAllowed ? 'no report was found.' : 'there must be a report.';
  if (unaccounted > 0) return 'a report tells of a failure that belongs to no failing test.';
  if (failing === 0) return 'no test fails.';
  switch (quarantine.kind) {
    case 'not_asked':
      return 'what is quarantined was not asked.';
    case 'switched_off':
      return 'quarantine is switched off for this repository.';
    case 'unknown':
      return 'which tests are quarantined could not be found out, so that none counts as quarantined.';
    case 'known': {
      const open = failing - quarantine.ids.size;
      if (open === 0 && isWhole) return 'every failing test is quarantined.';
      if (open === 0) return 'the failing tests are quarantined, but a report is broken, and more may have failed.';
      return open === 1 ? '1 failing test is not quarantined.' : `${open} failing tests are not quarantined.`;
    }
  }
}

function formatTests(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}
