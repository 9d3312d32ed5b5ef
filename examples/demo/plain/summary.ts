import { formatRepo } from '../../../src/cli/core/arguments.ts';
import { formatTable } from '../../../src/cli/core/table.ts';
import { paint } from '../../../src/cli/core/terminal.ts';
import type { EntryRecord } from '../../../src/contract/entry.ts';
import { SLUICE } from '../../../src/lib/sluice-command.ts';
import { shellWord } from '../../../src/lib/text.ts';
import { STORY } from '../story.ts';
import { BRANCH, REPO } from './play.ts';
import { findRecord } from './verdict.ts';

const QUEUE_WORDS = `${formatRepo(REPO)} ${BRANCH}`;

const OUTCOMES: Readonly<Record<string, string>> = { MERGED: 'landed', FAILED: 'removed', CANCELLED: 'cancelled' };

/** A line for each pull request: its outcome, the reason, and the time it took. */
export function formatOutcomes(records: readonly EntryRecord[], width: number | undefined): string {
  const columns = [
    { title: 'PR', align: 'right' as const },
    { title: 'TITLE', shrinks: true as const },
    { title: 'OUTCOME', style: (cell: string) => (cell === 'landed' ? 'green' : 'red') as 'green' | 'red' },
    { title: 'TOOK', align: 'right' as const },
    { title: 'WHY', shrinks: true as const },
  ];
  const rows = STORY.map((pullRequest) => {
    const record = findRecord(records, pullRequest);
    const outcome = record === undefined ? 'not submitted' : (OUTCOMES[record.state ?? ''] ?? record.state ?? '-');
    return [`#${pullRequest.number}`, pullRequest.title, outcome, formatDuration(record), formatReason(record)];
  });
  return formatTable(columns, rows, width);
}

function formatDuration(record: EntryRecord | undefined): string {
  const [newest, oldest] = [record?.timeline?.[0], record?.timeline?.at(-1)];
  if (newest === undefined || oldest === undefined) return '-';
  return `${((Date.parse(newest.at) - Date.parse(oldest.at)) / 1000).toFixed(1)} s`;
}

function formatReason(record: EntryRecord | undefined): string {
  const landed = record?.landed;
  if (landed === undefined) return firstSentence(record?.timeline?.[0]?.text ?? '');
  if (landed.composedWith.length === 0) return 'Exactly as tested.';
  return `As tested; in parallel with ${listNumbers(landed.composedWith)} (no shared targets).`;
}

/** The sentences after the first are advice. */
function firstSentence(text: string): string {
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text;
}

function listNumbers(numbers: readonly number[]): string {
  const names = numbers.map((number) => `#${number}`);
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** The lesson of each story; if the repository is kept, with the command that shows it. */
export function formatLessons(records: readonly EntryRecord[], repository: string | undefined): string {
  const lessons = lessonsOf(records, repository ?? '').map(({ text, command }) =>
    repository === undefined ? `- ${text}` : `- ${text}\n    ${paint('cyan', command)}`,
  );
  return `${paint('bold', 'What happened:')}\n${lessons.join('\n')}\n`;
}

interface Lesson {
  readonly text: string;
  readonly command: string;
}

function lessonsOf(records: readonly EntryRecord[], repository: string): readonly Lesson[] {
  const landed = records.filter(({ state }) => state === 'MERGED').sort(byLanding);
  const status = (number: number): string => `${SLUICE} pr status ${QUEUE_WORDS} ${number}`;
  const logs = (number: number): string => {
    const run = records.find(({ prNumber }) => prNumber === number)?.timeline?.find(isFailure)?.testRunId;
    return run === undefined ? status(number) : `${SLUICE} logs ${run}`;
  };
  return [
    {
      text: `What landed is what was tested: ${listNumbers(landed.map(({ prNumber }) => prNumber))}, in this order, and nothing else.`,
      command: `git -C ${shellWord(repository)} log --first-parent --oneline main`,
    },
    {
      text: '#4 broke a test. #5 had been tested on top of it, was not blamed, and was tested again without it.',
      command: status(5),
    },
    {
      text: '#7 passes alone, and so does #6; together they break. It was tested on top of #6, and never reached main.',
      command: logs(7),
    },
    {
      text: '#2 changes the same line as #1. It waited for #1, and had to leave when that had landed.',
      command: status(2),
    },
    { text: describeUrgent(records), command: status(9) },
    {
      text: '#10 failed in a flaky test. It was repeated apart from the line, passed, and landed: nobody had to submit it again.',
      command: logs(10),
    },
    {
      text: `Cart, tax, shipping, currency and report have nothing to do with each other: they were tested side by side${describeComposed(landed)}.`,
      command: `${SLUICE} pr list ${QUEUE_WORDS}`,
    },
  ];
}

function isFailure({ state }: { readonly state: string }): boolean {
  return state === 'FAILED' || state === 'PENDING_FAILURE';
}

function byLanding(a: EntryRecord, b: EntryRecord): number {
  return Date.parse(a.landed?.at ?? '') - Date.parse(b.landed?.at ?? '');
}

function describeUrgent(records: readonly EntryRecord[]): string {
  const interrupted = records.filter(({ timeline = [] }) =>
    timeline.some(({ reason }) => reason === 'SKIP_THE_LINE_INTERRUPTED'),
  );
  const numbers = listNumbers(interrupted.map(({ prNumber }) => prNumber));
  return numbers === ''
    ? '#9 was urgent; nobody stood in its way by the time it came.'
    : `#9 was urgent and went ahead of ${numbers}, which ${interrupted.length === 1 ? 'was' : 'were'} tested again on top of it.`;
}

function describeComposed(landed: readonly EntryRecord[]): string {
  const count = landed.filter((record) => record.landed?.kind === 'COMPOSED').length;
  return count === 0 ? '' : `, and ${count} pull requests landed beside others without another test`;
}
