import { setTimeout as delay } from 'node:timers/promises';
import { shellWord } from '../../lib/text.ts';
import { formatRepo, type RepoRef } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { CliError } from '../core/exit.ts';
import type { AnswerOf } from '../core/operations.ts';
import { createPatience } from '../core/patience.ts';
import { clean, paintNote, say } from '../core/terminal.ts';
import { exitCodeOf, type UploadEnd } from './exit-code.ts';
import type { FailingTest } from './failing-tests.ts';
import { formatFiles } from './progress.ts';
import type { ReadReports } from './read-reports.ts';
import type { Sent, UploadRun } from './send-reports.ts';
import { formatRecord } from './upload-record.ts';

export interface Ended {
  readonly end: UploadEnd;
  /** Absent if no report was found. */
  readonly run?: UploadRun;
  readonly reports?: ReadReports;
  readonly sent?: Sent;
}

/** Reports the result on standard error: standard output is for the --json document. */
export async function showEnd(context: Context, { end, run, reports, sent }: Ended): Promise<void> {
  const code = exitCodeOf(end);
  const ids = end.quarantine.kind === 'known' ? end.quarantine.ids : new Set<string>();
  if (reports !== undefined) for (const line of formatReports(end.files, reports, ids)) say(line);
  const isFailed = sent?.kind === 'refused' || sent?.kind === 'failed';
  // A reason shared by both is printed once.
  const isSame = isFailed && end.quarantine.kind === 'unknown' && end.quarantine.reason === sent.reason;
  if (end.quarantine.kind === 'unknown' && !isSame) warn(`Quarantine is not known. ${end.quarantine.reason}`);
  if (isFailed) warn(`The reports were not uploaded. ${sent.reason}`);
  if (sent?.kind === 'sent') sayUploaded(sent.reply.upload_id, run);
  const record = sent?.kind === 'sent' && run?.options.wait ? await waitFor(run, sent.reply.upload_id) : undefined;
  if (record !== undefined) for (const line of formatRecord(record)) say(line);
  say(explainExit(end, code));
  if (context.isJson) context.show(describe({ end, reports, sent, code, record }), () => '');
  process.exitCode = code;
}

function warn(reason: string): void {
  say(paintNote('yellow', `sluice: ${reason.split('\n').map(clean).join('\n')}`));
}

function sayUploaded(id: string, run: UploadRun | undefined): void {
  const repo = run === undefined ? '' : ` --repo ${shellWord(formatRepo(run.facts.repo))}`;
  say(`Uploaded as ${id}. What became of it: sluice tests uploads${repo}`);
}

/** A CI token may upload but not read; the upload is done all the same. */
async function waitFor({ context, org, facts }: UploadRun, id: string): Promise<UploadRecord | undefined> {
  try {
    const record = await waitForUpload(context, id, { org, repo: facts.repo, say });
    if (record === undefined) warn('Whether the upload has been processed could not be seen.');
    return record;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    warn(`Whether the upload has been processed could not be seen. ${error.message}`);
    return undefined;
  }
}

interface Described {
  readonly end: UploadEnd;
  readonly reports: ReadReports | undefined;
  readonly sent: Sent | undefined;
  readonly record: UploadRecord | undefined;
  readonly code: number;
}

function describe({ end, reports, sent, record, code }: Described) {
  const ids = end.quarantine.kind === 'known' ? end.quarantine.ids : undefined;
  return {
    upload: sent?.kind === 'sent' ? (record ?? sent.reply) : null,
    files: end.files,
    tests: reports?.tests ?? 0,
    skipped: reports?.skipped ?? 0,
    failing: (reports?.failing ?? []).map((test) => ({
      ...describeTest(test),
      ...(ids === undefined ? {} : { quarantined: ids.has(test.id) }),
    })),
    passedWhenRerun: (reports?.rerun ?? []).map(describeTest),
    quarantine: end.quarantine.kind.toUpperCase(),
    exitCode: code,
  };
}

function describeTest({ id, names, message }: FailingTest) {
  const { name, parent, classname, file } = names;
  return { id, name, parent, classname, file, message };
}

type UploadRecord = AnswerOf<'listUploads'>['uploads'][number];

interface WaitOptions {
  readonly org: string;
  readonly repo: RepoRef;
  readonly say: (text: string) => void;
}

const INTERVAL_MS = 500;
const GIVE_UP_MS = 10 * 60_000;

/** The processed upload; undefined if that takes too long, or it is not in the list. */
async function waitForUpload(
  context: Context,
  id: string,
  { org, repo, say }: WaitOptions,
): Promise<UploadRecord | undefined> {
  const patience = createPatience({ failed: say, back: say });
  const deadline = performance.now() + GIVE_UP_MS;
  const body = { repo, org_url_slug: org, page_query: { page_size: 100 } };
  while (performance.now() < deadline) {
    const answer = await patience.ask(() => context.call('listUploads', body));
    const upload = answer?.uploads.find((one) => one.id === id);
    if (upload !== undefined && upload.status !== 'ACCEPTED') return upload;
    // Hundreds of later uploads have pushed it off the list.
    if (answer !== undefined && upload === undefined) return undefined;
    await delay(INTERVAL_MS);
  }
  return undefined;
}

/** For more, `sluice tests list --failing` is better. */
const MAX_LISTED = 20;

function formatReports(files: number, reports: ReadReports, quarantined: ReadonlySet<string>): string[] {
  const { tests, failing, rerun, skipped } = reports;
  const skippedWords = skipped === 0 ? '' : `, ${skipped} skipped`;
  return [
    `${formatFiles(files)}, ${formatTests(tests + skipped)}: ${tests - failing.length} passed, ${failing.length} failed${skippedWords}.`,
    ...reports.troubled.slice(0, MAX_LISTED).map(({ name, problem }) => {
      const mark = paintNote('yellow', '!');
      return `  ${mark} ${clean(name)}: ${clean(problem)}`;
    }),
    ...sortByQuarantine(failing, quarantined)
      .slice(0, MAX_LISTED)
      .map((test) => formatFailing(test, quarantined.has(test.id) ? QUARANTINED : FAILED)),
    ...(failing.length > MAX_LISTED ? [`  and ${failing.length - MAX_LISTED} more`] : []),
    ...rerun.slice(0, MAX_LISTED).map((test) => formatFailing(test, RERUN)),
    ...(rerun.length > MAX_LISTED ? [`  and ${rerun.length - MAX_LISTED} more that passed when run again`] : []),
  ];
}

/** Tests that block the merge come first. */
function sortByQuarantine(failing: readonly FailingTest[], quarantined: ReadonlySet<string>): readonly FailingTest[] {
  const [open, held] = [false, true].map((is) => failing.filter(({ id }) => quarantined.has(id) === is));
  return [...(open ?? []), ...(held ?? [])];
}

type Mark = readonly [color: Parameters<typeof paintNote>[0], word: string];
const FAILED: Mark = ['red', 'failed'];
const QUARANTINED: Mark = ['gray', 'quarantined'];
const RERUN: Mark = ['gray', 'passed when run again'];

function formatFailing({ id, names, message }: FailingTest, mark: Mark): string {
  const name = [names.parent, names.name].filter((part) => part !== '').join(' > ');
  const file = names.file === '' ? '' : ` (${names.file})`;
  const why = message === '' ? '' : `: ${message.slice(0, 160)}`;
  return `  ${paintNote(...mark)} ${clean(`${name}${file}${why}`)}\n    ${paintNote('gray', id)}`;
}

function explainExit(end: UploadEnd, code: number): string {
  const isOwn = code === end.given && end.sent !== 'refused';
  return `Exit code ${code}${isOwn ? ', that of the test process' : ''}: ${explain(end)}`;
}

function explain(end: UploadEnd): string {
  const { sent, files, isEmptyAllowed, failing, unaccounted, isWhole, quarantine } = end;
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
      if (open === 0 && isWhole) {
        return (end.given ?? 0) === 0 || end.openReruns === 0
          ? 'every failing test is quarantined.'
          : 'the failing tests are quarantined, but one that passed when run again is not, and may be the reason.';
      }
      if (open === 0) return 'the failing tests are quarantined, but a report is broken, and more may have failed.';
      return open === 1 ? '1 failing test is not quarantined.' : `${open} failing tests are not quarantined.`;
    }
  }
}

function formatTests(count: number): string {
  return count === 1 ? '1 test' : `${count} tests`;
}
