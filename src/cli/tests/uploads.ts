import { commandFor, type Row } from '../core/command.ts';
import type { AnswerOf } from '../core/operations.ts';
import { formatRows } from '../core/table.ts';
import { formatTime, paint, type Style } from '../core/terminal.ts';
import { formatIssue } from '../upload/upload-record.ts';
import { formatMore, PAGE, paged, TESTS_OF_REPO } from './scope.ts';

type UploadView = AnswerOf<'listUploads'>['uploads'][number];

const STYLES: Readonly<Record<string, Style>> = {
  ACCEPTED: 'cyan',
  PROCESSED: 'green',
  SKIPPED: 'yellow',
  'NO EVIDENCE': 'yellow',
  FAILED: 'red',
};

const list = commandFor(
  'listUploads',
  {
    isDefault: true,
    on: TESTS_OF_REPO,
    text: 'List uploads of test results, the latest first; the word list may be left out.',
    takes: { ...PAGE, '--issues': 'Show what is wrong with each.' },
    examples: ['sluice tests uploads', 'sluice tests uploads --issues --limit 1'],
    show: (reply, { issues }) => formatUploads(reply.uploads, issues === true) + formatMore(reply.page),
  },
  ({ issues: _, ...asked }) => paged(asked),
);

const again = commandFor(
  'processUploadAgain',
  {
    on: TESTS_OF_REPO,
    text: 'Process an upload again, from its files, which are kept for some days.',
    takes: { '<id>': 'The id of the upload.' },
    examples: ['sluice tests uploads again 7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11'],
    show: ({ upload }, { id }) => `Upload ${id} is ${upload.status}.`,
  },
  ({ id: upload_id, ...scope }) => ({ ...scope, upload_id }),
);

const ignore = commandFor(
  'ignoreUpload',
  {
    on: TESTS_OF_REPO,
    text: 'Ignore an upload as evidence, such as one from an outage. Its runs stay listed.',
    takes: {
      '<id>': 'The id of the upload.',
      '--reason <text>': { text: 'Why, for the history.', isRequired: true },
    },
    examples: [
      'sluice tests uploads ignore 7f3c9a52-1f0b-4a86-9c55-0d6c1b7f2a11 --reason "The database of CI was down."',
    ],
    show: (_reply, { id }) => `Upload ${id} is evidence for nothing. The tests in it follow in some seconds.`,
  },
  ({ id: upload_id, ...given }) => ({ ...given, upload_id }),
);

export const UPLOADS: Row = {
  text: 'List uploads of test results, the latest first.',
  examples: ['sluice tests uploads', 'sluice tests uploads --issues --limit 1'],
  rows: { list, again, ignore },
};

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
