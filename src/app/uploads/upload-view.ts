import type { ReplyOf } from '../../contract/operation.ts';
import type { listUploads } from '../../contract/uploads.ts';
import { worthOf } from '../../flaky/core/evidence.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { Upload, UploadIssue } from '../../storage/uploads.ts';

export type UploadView = ReplyOf<typeof listUploads>['uploads'][number];

export function viewUpload(upload: Upload): UploadView {
  const { fields } = upload;
  return {
    id: upload.id,
    status: listedStatus(upload),
    received_at: formatInstant(upload.receivedAt),
    processed_at: upload.processedAt === null ? null : formatInstant(upload.processedAt),
    branch: fields?.branch ?? null,
    sha: fields?.sha ?? null,
    pr_number: fields?.prNumber ?? null,
    job_name: fields?.jobName ?? null,
    job_url: fields?.jobUrl ?? null,
    variant: fields?.variant ?? '',
    test_run_id: fields?.candidateId ?? null,
    check: fields?.check ?? null,
    fork: fields?.isFork ?? null,
    job_attempt: fields?.jobAttempt ?? null,
    evidence: worthOf(upload),
    no_evidence_because: upload.flaw,
    ...(upload.ignored !== null && { ignored: { ...upload.ignored, at: formatInstant(upload.ignored.at) } }),
    files: upload.files.filter(({ role }) => role === undefined).length,
    size_bytes: upload.sizeBytes,
    test_runs: upload.testRuns,
    issues: upload.trouble === null ? upload.issues : [...upload.issues, viewTrouble(upload.trouble)],
  };
}

/** A pending upload is not listed; only the client with its address sees it, as accepted. */
export function listedStatus({ status }: Upload): UploadView['status'] {
  return status === 'PENDING' ? 'ACCEPTED' : status;
}

function viewTrouble(trouble: string): UploadIssue {
  return { level: 'warning', file: null, line: null, message: trouble, hint: 'It is tried again by itself.' };
}
