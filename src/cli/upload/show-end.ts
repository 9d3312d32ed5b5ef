import { formatRepo } from '../core/arguments.ts';
import type { Context } from '../core/context.ts';
import { CliError } from '../core/exit.ts';
import { quote } from '../core/quote.ts';
import { clean, paintNote, say, write } from '../core/terminal.ts';
import { exitCodeOf, type UploadEnd } from './exit-code.ts';
import type { ReadReports } from './read-reports.ts';
import type { Sent } from './send-reports.ts';
import { formatRecord } from './upload-record.ts';
import type { UploadRun } from './upload-run.ts';
import { explainExit, formatReports } from './upload-words.ts';
import { type UploadRecord, waitForUpload } from './wait-for-upload.ts';

export interface Ended {
  readonly end: UploadEnd;
  /** Absent where no report was found. */
  readonly run?: UploadRun;
  readonly reports?: ReadReports;
  readonly sent?: Sent;
}

/** Says how it went, to standard error: standard output is for the document that --json asks for. */
export async function showEnd(context: Context, { end, run, reports, sent }: Ended): Promise<void> {
  const code = exitCodeOf(end);
  const ids = end.quarantine.kind === 'known' ? end.quarantine.ids : new Set<string>();
  if (reports !== undefined) for (const line of formatReports(end.files, reports, ids)) say(line);
  const isFailed = sent?.kind === 'refused' || sent?.kind === 'failed';
  // What keeps both from working is said once.
  const isSame = isFailed && end.quarantine.kind === 'unknown' && end.quarantine.reason === sent.reason;
  if (end.quarantine.kind === 'unknown' && !isSame) warn(`Quarantine is not known. ${end.quarantine.reason}`);
  if (isFailed) warn(`The reports were not uploaded. ${sent.reason}`);
  if (sent?.kind === 'sent') sayUploaded(sent.reply.upload_id, run);
  const record = sent?.kind === 'sent' && run?.options.wait ? await waitFor(run, sent.reply.upload_id) : undefined;
  if (record !== undefined) for (const line of formatRecord(record)) say(line);
  say(explainExit(end, code));
  if (context.isJson) write(JSON.stringify(describe({ end, reports, sent, code, record }), null, 2));
  process.exitCode = code;
}

function warn(reason: string): void {
  say(paintNote('yellow', `sluice: ${reason.split('\n').map(clean).join('\n')}`));
}

function sayUploaded(id: string, run: UploadRun | undefined): void {
  const repo = run === undefined ? '' : ` --repo ${quote(formatRepo(run.facts.repo))}`;
  say(`Uploaded as ${id}. What became of it: sluice tests uploads${repo}`);
}

/** A token of CI may upload but not read; the upload is done all the same. */
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
    failing: (reports?.failing ?? []).map(({ id, names, message }) => ({
      id,
      name: names.name,
      parent: names.parent,
      classname: names.classname,
      file: names.file,
      message,
      ...(ids === undefined ? {} : { quarantined: ids.has(id) }),
    })),
    quarantine: end.quarantine.kind.toUpperCase(),
    exitCode: code,
  };
}
