import { choice, commandFor } from '../core/command.ts';
import { type AnswerOf, CHOICES } from '../core/operations.ts';
import { formatRows } from '../core/table.ts';
import { clean, formatTime, type Style } from '../core/terminal.ts';
import { formatMore, PAGE, paged, TEST } from './scope.ts';

type RunView = AnswerOf<'listTestRuns'>['test_runs'][number];
type EventView = AnswerOf<'listTestEvents'>['events'][number];

const STYLES: Readonly<Record<string, Style>> = { SUCCESS: 'green', FAILURE: 'red', SKIPPED: 'gray' };

export const runs = commandFor(
  'listTestRuns',
  {
    on: TEST,
    text: 'List the runs of a test, the latest first.',
    takes: {
      ...PAGE,
      '--branch <branch>': 'Only those of this branch.',
      '--conclusion <conclusion>': choice(
        'Only those that ended so.',
        CHOICES.conclusion as readonly RunView['conclusion'][],
      ),
    },
    examples: [
      'sluice tests runs d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11',
      'sluice tests runs d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11 --conclusion failure --branch main --limit 100',
    ],
    show: (reply) => formatRuns(reply.test_runs) + formatMore(reply.page),
  },
  paged,
);

function formatRuns(runs: readonly RunView[]): string {
  if (runs.length === 0) return 'No runs.\n';
  return formatRows(runs, [
    { title: 'WHEN', cell: (run) => formatTime(run.started_at) },
    { title: 'ENDED', style: (cell) => STYLES[cell.trimEnd()], cell: (run) => run.conclusion },
    { title: 'TOOK', align: 'right', cell: (run) => formatDuration(run.duration_ms) },
    { title: 'COMMIT', cell: (run) => run.sha.slice(0, 9) },
    { title: 'BRANCH', shrinks: true, cell: (run) => run.branch },
    { title: 'PR', align: 'right', cell: (run) => (run.pr_number === undefined ? '-' : `#${run.pr_number}`) },
    { title: 'JOB', shrinks: true, cell: (run) => run.job_name ?? '-' },
    { title: 'FAILURE', shrinks: true, cell: (run) => `${notesOf(run)}${run.failure_summary ?? ''}` || '-' },
  ]);
}

function notesOf({ quarantined, no_evidence_because: flaw }: RunView): string {
  const notes = [...(quarantined ? ['quarantined'] : []), ...(flaw === undefined ? [] : [flaw.toLowerCase()])];
  return notes.length === 0 ? '' : `(${notes.join(', ').replaceAll('_', ' ')}) `;
}

export function formatDuration(ms: number | null): string {
  if (ms === null) return '-';
  if (ms < 1_000) return `${Number(ms.toPrecision(3))} ms`;
  return ms < 120_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min`;
}

export const events = commandFor(
  'listTestEvents',
  {
    on: TEST,
    text: 'List what happened to a test, the latest first: its status, detections, and what people decided.',
    takes: PAGE,
    examples: ['sluice tests events d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11'],
    show: (reply) => formatEvents(reply.events) + formatMore(reply.page),
  },
  paged,
);

function formatEvents(events: readonly EventView[]): string {
  if (events.length === 0) return 'Nothing happened to it yet.\n';
  return events
    .map(({ at, text, actor, reason, until }) => {
      const by = actor === undefined || text.startsWith(`${actor} `) ? '' : ` By ${clean(actor)}.`;
      const end = until === undefined ? '' : ` It ends ${formatTime(until)}.`;
      const why = reason === undefined || text.includes(reason) ? '' : `\n    ${clean(reason)}`;
      return `${formatTime(at)}  ${clean(text)}${by}${end}${why}\n`;
    })
    .join('');
}
