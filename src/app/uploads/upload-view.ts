import { type EvidenceFlaw, type EvidenceWorth, worthOf } from '../../flaky/core/evidence.ts';
import { formatInstant } from '../../lib/clock.ts';
import type { Upload, UploadIssue, UploadStatus } from '../../storage/uploads.ts';

export type ListedStatus = Exclude<UploadStatus, 'PENDING'>;

export interface UploadView {
  readonly id: string;
  readonly status: ListedStatus;
  readonly received_at: string;
  readonly processed_at: string | null;
  readonly branch: string | null;
  readonly sha: string | null;
  readonly pr_number: number | null;
  readonly job_name: string | null;
  readonly job_url: string | null;
  readonly variant: string;
  readonly test_run_id: string | null;
  readonly check: string | null;
  /** Null: unknown so far. */
  readonly fork: boolean | null;
  readonly job_attempt: number | null;
  readonly evidence: EvidenceWorth;
  readonly no_evidence_because: EvidenceFlaw | null;
  readonly ignored?: { readonly at: string; readonly actor: string; readonly reason: string };
  readonly files: number;
  readonly size_bytes: number;
  readonly test_runs: number;
  readonly issues: readonly UploadIssue[];
}

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
export function listedStatus({ status }: Upload): ListedStatus {
  return status === 'PENDING' ? 'ACCEPTED' : status;
}

function viewTrouble(trouble: string): UploadIssue {
  return { level: 'warning', file: null, line: null, message: trouble, hint: 'It is tried again by itself.' };
}
