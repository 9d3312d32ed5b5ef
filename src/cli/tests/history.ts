import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { listTestEvents, listTestRuns } from '../../contract/test-history.ts';
import { present } from '../../lib/present.ts';
import { addExamples, choiceOption } from '../core/arguments.ts';
import { withContext } from '../core/context.ts';
import { CHOICES } from '../core/operations.ts';
import { formatRows } from '../core/table.ts';
import { clean, formatTime, type Style } from '../core/terminal.ts';
import {
  addPageOptions,
  chooseScope,
  findTestId,
  formatMore,
  type PageOptions,
  pageQuery,
  type ScopeOptions,
  testCommand,
} from './scope.ts';

interface RunsOptions extends ScopeOptions, PageOptions {
  readonly branch?: string;
  readonly conclusion?: string;
}

const STYLES: Readonly<Record<string, Style>> = { SUCCESS: 'green', FAILURE: 'red', SKIPPED: 'gray' };

export function defineRuns(tests: Command): void {
  const names = CHOICES.conclusion;
  const command = addPageOptions(testCommand(tests, 'runs', 'List the runs of a test, the latest first.'))
    .option('--branch <branch>', 'Only those of this branch.')
    .addOption(choiceOption('--conclusion <conclusion>', 'Only those that ended so.', names))
    .action(
      withContext(async (context, words: string, options: RunsOptions) => {
        const scope = await chooseScope(context, options);
        const { branch, conclusion } = options;
        const reply = await context.call('listTestRuns', {
          ...scope,
          test_id: await findTestId(context, scope, words),
          page_query: pageQuery(options),
          ...present({ branch, conclusion: conclusion as 'FAILURE' | undefined }),
        });
        context.show(reply, () => formatRuns(reply.test_runs) + formatMore(reply.page));
      }),
    );
  addExamples(command, [
    'sluice tests runs d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11',
    'sluice tests runs d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11 --conclusion failure --branch main --limit 100',
  ]);
}

type RunView = Static<typeof listTestRuns.reply>['test_runs'][number];

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

export function defineEvents(tests: Command): void {
  const description =
    'List what happened to a test, the latest first: its status, detections, and what people decided.';
  const command = addPageOptions(testCommand(tests, 'events', description)).action(
    withContext(async (context, words: string, options: ScopeOptions & PageOptions) => {
      const scope = await chooseScope(context, options);
      const test_id = await findTestId(context, scope, words);
      const reply = await context.call('listTestEvents', { ...scope, test_id, page_query: pageQuery(options) });
      context.show(reply, () => formatEvents(reply.events) + formatMore(reply.page));
    }),
  );
  addExamples(command, ['sluice tests events d8c1d5ba-6c9a-5c0a-8f3e-5a1f5a4c9b11']);
}

type EventView = Static<typeof listTestEvents.reply>['events'][number];

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
