import type { Command } from 'commander';
import type { Static } from 'typebox';
import type { listUploads } from '../../contract/uploads.ts';
import { addExamples } from '../core/arguments.ts';
import { withContext } from '../core/context.ts';
import { formatRows } from '../core/table.ts';
import { formatTime, paint, type Style } from '../core/terminal.ts';
import { formatIssue } from '../upload/upload-record.ts';
import {
  addPageOptions,
  addScopeOptions,
  chooseScope,
  formatMore,
  type PageOptions,
  pageQuery,
  type ScopeOptions,
  scopedCommand,
} from './scope.ts';

type UploadView = Static<typeof listUploads.reply>['uploads'][number];

interface ListOptions extends ScopeOptions, PageOptions {
  readonly issues?: true;
}

const STYLES: Readonly<Record<string, Style>> = {
  ACCEPTED: 'cyan',
  PROCESSED: 'green',
  SKIPPED: 'yellow',
  'NO EVIDENCE': 'yellow',
  FAILED: 'red',
};

export function defineUploads(tests: Command): void {
  const uploads = tests.command('uploads').description('List uploads of test results, the latest first.');
  addExamples(uploads, ['sluice tests uploads', 'sluice tests uploads --issues --limit 1']);
  const description = 'List uploads of test results, the latest first; the word list may be left out.';
  const list = addPageOptions(scopedCommand(uploads, 'list', description, { isDefault: true }))
    .option('--issues', 'Show what is wrong with each.')
    .action(
      withContext(async (context, options: ListOptions) => {
        const scope = await chooseScope(context, options);
        const reply = await context.call('listUploads', { ...scope, page_query: pageQuery(options) });
        context.show(reply, () => formatUploads(reply.uploads, options.issues === true) + formatMore(reply.page));
      }),
    );
  addExamples(list, ['sluice tests uploads', 'sluice tests uploads --issues --limit 1']);
  defineAgain(uploads);
  defineIgnore(uploads);
}

function defineIgnore(uploads: Command): void {
  const command = addScopeOptions(
    uploads
      .command('ignore')
      .description('Ignore an upload as evidence, such as one from an outage. Its runs stay listed.')
      .argument('<id>', 'The id of the upload.')
      .requiredOption('--reason <text>', 'Why, for the history.'),
  ).action(
    withContext(async (context, id: string, options: ScopeOptions & { readonly reason: string }) => {
      const { reason, ...named } = options;
      const scope = await chooseScope(context, named);
      const reply = await context.call('ignoreUpload', { ...scope, upload_id: id, reason });
      context.show(reply, () => `Upload ${id} is evidence for nothing. The tests in it follow in some seconds.`);
    }),
  );
  addExamples(command, [
    'sluice tests uploads ignore 7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11 --reason "The database of CI was down."',
  ]);
}

function defineAgain(uploads: Command): void {
  const description = 'Process an upload again, from its files, which are kept for some days.';
  const command = scopedCommand(uploads, 'again', description)
    .argument('<id>', 'The id of the upload.')
    .action(
      withContext(async (context, id: string, options: ScopeOptions) => {
        const scope = await chooseScope(context, options);
        const reply = await context.call('processUploadAgain', { ...scope, upload_id: id });
        context.show(reply, () => `Upload ${id} is ${reply.upload.status}.`);
      }),
    );
  addExamples(command, ['sluice tests uploads again 7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11']);
}

function formatUploads(uploads: readonly UploadView[], withIssues: boolean): string {
  if (uploads.length === 0) return 'No uploads yet. Make one: sluice upload --help\n';
  const list = formatList(uploads);
  return withIssues ? `${list}\n${formatIssues(uploads)}` : list;
}

function formatIssues(uploads: readonly UploadView[]): string {
  const blocks = uploads
    .filter(({ issues }) => issues.length > 0)
    .map(({ id, issues }) => [id, ...issues.flatMap((issue) => formatIssue(issue, paint))].join('\n'));
  return blocks.length === 0 ? 'Nothing is wrong with them.\n' : `${blocks.join('\n\n')}\n`;
}

function formatList(uploads: readonly UploadView[]): string {
  return formatRows(uploads, [
    { title: 'STATUS', style: (cell) => STYLES[cell.trimEnd()], cell: statusOf },
    { title: 'CAME', cell: (upload) => formatTime(upload.received_at) },
    { title: 'COMMIT', cell: (upload) => upload.sha?.slice(0, 9) ?? '-' },
    { title: 'BRANCH', shrinks: true, cell: ({ branch, fork }) => `${branch ?? '-'}${fork === true ? ' (fork)' : ''}` },
    { title: 'JOB', shrinks: true, cell: jobOf },
    { title: 'FILES', align: 'right', cell: (upload) => String(upload.files) },
    { title: 'RUNS', align: 'right', cell: (upload) => String(upload.test_runs) },
    { title: 'ISSUES', align: 'right', cell: (upload) => String(upload.issues.length) },
    { title: 'ID', keeps: true, cell: (upload) => upload.id },
  ]);
}

function statusOf({ status, no_evidence_because: flaw }: UploadView): string {
  return status === 'PROCESSED' && flaw !== null ? 'NO EVIDENCE' : status;
}

function jobOf({ job_name: name, job_attempt: attempt }: UploadView): string {
  return `${name ?? '-'}${(attempt ?? 1) > 1 ? ` (try ${attempt})` : ''}`;
}
