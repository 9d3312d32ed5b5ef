import type { EntryRecord } from '../../contract/entry.ts';
import { clean } from '../core/terminal.ts';
import { formatEnd } from './format-entry.ts';

const SHOWN_LINES = 40;

/** The end of a stay in words, with what failed and how to get it. */
export function formatResult(record: EntryRecord): string {
  const { failing = [], failingCount = 0, log, conflict, repro } = record.result ?? {};
  const tests = failing.map(({ known, untrusted: { name, frame } }) => {
    const where = frame === undefined ? '' : ` at ${frame}`;
    return `  - ${name}${where}${known === 'NEW' ? '' : ` (${known.toLowerCase()})`}`;
  });
  const more = failingCount > failing.length ? [`  - and ${failingCount - failing.length} more`] : [];
  const parts = [
    formatEnd(record),
    section('Failed tests:', [...tests, ...more]),
    section(`What ${log?.check} printed:`, excerpt(log?.untrusted.text)),
    section('Both sides:', excerpt(conflict?.untrusted.hunks)),
    section(
      'The exact commit that failed:',
      repro === undefined ? [] : [`  $ ${repro.fetch}`, `  $ ${repro.checkout}`],
    ),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `${[title, ...lines].map(clean).join('\n')}\n`;
}

function excerpt(text = ''): readonly string[] {
  if (text.trim() === '') return [];
  const lines = text.trimEnd().split('\n');
  const shown = lines.slice(0, SHOWN_LINES).map((line) => `  ${line}`);
  return lines.length > SHOWN_LINES ? [...shown, `  … ${lines.length - SHOWN_LINES} more lines, with --json`] : shown;
}
