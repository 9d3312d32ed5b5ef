import type { EntryRecord } from '../../contract/entry.ts';
import { clean, cleanTitle } from '../core/terminal.ts';
import { formatEnd, wrapLine } from './format-entry.ts';

const SHOWN_LINES = 40;

type Result = NonNullable<EntryRecord['result']>;

/** The end of a stay in words, with what failed and how to get it. The log only where no test says what failed. */
export function formatResult(record: EntryRecord): string {
  const { failing = [], failingCount = 0, log, conflict, repro } = record.result ?? {};
  const more = failingCount > failing.length ? [`  - and ${failingCount - failing.length} more`] : [];
  const other = conflict?.prNumber === undefined ? 'the target branch' : `#${conflict.prNumber}`;
  const parts = [
    formatEnd(record),
    section('Failed tests:', [...failing.flatMap(formatTest), ...more]),
    section(`What ${log?.check} printed:`, failing.length > 0 ? [] : excerpt(log?.untrusted.text)),
    section(`Both sides, ${other} above, this one below:`, excerpt(conflict?.untrusted.hunks)),
    section(
      'The exact commit that failed:',
      repro === undefined ? [] : [`  $ ${repro.fetch}`, `  $ ${repro.checkout}`],
    ),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function formatTest({ known, untrusted }: NonNullable<Result['failing']>[number]): readonly string[] {
  const { name, frame, message = '' } = untrusted;
  const where = frame === undefined ? '' : ` at ${clean(frame)}`;
  const text = `${cleanTitle(name)}${where}${known === 'NEW' ? '' : ` (${known.toLowerCase()})`}`;
  const why = cleanTitle(message.trimStart().split('\n', 1)[0] ?? '');
  return [wrapLine('  - ', text), ...(why === '' ? [] : [wrapLine('    ', why)])];
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${[clean(title), ...lines].join('\n')}\n`;
}

function excerpt(text = ''): readonly string[] {
  if (text.trim() === '') return [];
  const lines = text.trimEnd().split('\n');
  const shown = lines.slice(0, SHOWN_LINES).map((line) => `  ${clean(line)}`);
  return lines.length > SHOWN_LINES ? [...shown, `  … ${lines.length - SHOWN_LINES} more lines, with --json`] : shown;
}
