import type { Context } from '../core/context.ts';
import { CliError, EXIT } from '../core/exit.ts';
import type { AnswerOf } from '../core/operations.ts';
import { say } from '../core/terminal.ts';
import type { ReportFile } from './find-reports.ts';
import { createMultipart } from './multipart.ts';
import type { UploadOptions } from './options.ts';
import { createProgress } from './progress.ts';
import { withRetries } from './retry.ts';
import type { UploadFacts } from './upload-facts.ts';

export type Sent =
  | { readonly kind: 'sent'; readonly reply: AnswerOf<'uploadResults'> }
  /** `refused`: a retry does not help. */
  | { readonly kind: 'refused' | 'failed'; readonly reason: string }
  | { readonly kind: 'none' };

/** The same reports sent twice count once, so a retry is safe after any failure. */
export async function sendReports(run: UploadRun): Promise<Sent> {
  const { context, options, files, codeOwners } = run;
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const progress = createProgress({ files: files.length, bytes });
  const body = createMultipart({ fields: fieldsOf(run), files, codeOwners, onRead: progress.onRead });
  try {
    const send = () => context.client.stream('uploadResults', body).finally(progress.end);
    return { kind: 'sent', reply: await withRetries(send, { retries: options.retries, say }) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { kind: isFinal(error) ? 'refused' : 'failed', reason: error.message };
  }
}

function isFinal({ exitCode, status }: CliError): boolean {
  return exitCode === EXIT.unauthorized || status === 404;
}

function fieldsOf({ org, facts, root }: UploadRun): Readonly<Record<string, string>> {
  return {
    org_url_slug: org,
    repo_host: facts.repo.host,
    repo_owner: facts.repo.owner,
    repo_name: facts.repo.name,
    sha: facts.sha,
    branch: facts.branch,
    pr_number: facts.prNumber === null ? '' : String(facts.prNumber),
    job_name: facts.jobName,
    job_url: facts.jobUrl,
    variant: facts.variant,
    test_run_id: facts.testRunId,
    check: facts.check,
    fork: facts.isFork ? 'true' : '',
    checkout_root: root,
    job_attempt: facts.jobAttempt === null ? '' : String(facts.jobAttempt),
  };
}

export interface UploadRun {
  readonly context: Context;
  readonly options: UploadOptions;
  readonly org: string;
  readonly facts: UploadFacts;
  readonly files: readonly ReportFile[];
  readonly codeOwners: ReportFile | undefined;
  /** The root of the work tree: paths in reports are relative to it. */
  readonly root: string;
}
