import type { Selectable } from 'kysely';
import type { RepositoryId } from '../repositories.ts';
import type { Upload, UploadFields, UploadFile, UploadIgnored, UploadIssue } from '../uploads.ts';
import type { UploadsTable } from './schema.ts';

export function toUpload(row: Selectable<UploadsTable>): Upload {
  return {
    id: row.id,
    repositoryId: row.repository_id as RepositoryId,
    kind: row.kind,
    status: row.status,
    receivedAt: row.received_at,
    processedAt: row.processed_at,
    fields: row.fields === null ? null : (JSON.parse(row.fields) as UploadFields),
    bodyId: row.body_id,
    files: JSON.parse(row.files) as UploadFile[],
    sizeBytes: row.size_bytes,
    partsDone: row.parts_done,
    testRuns: row.test_runs,
    issues: JSON.parse(row.issues) as UploadIssue[],
    digest: row.digest,
    clientVersion: row.client_version,
    attempts: row.attempts,
    trouble: row.trouble,
    isProven: Boolean(row.is_proven),
    flaw: row.flaw,
    counts: row.tests_ran === null ? null : { ran: row.tests_ran, failed: row.tests_failed ?? 0 },
    ignored: row.ignored === null ? null : (JSON.parse(row.ignored) as UploadIgnored),
  };
}

export function fromUpload(upload: Upload, no: number | null): UploadsTable {
  const { fields } = upload;
  return {
    id: upload.id,
    repository_id: upload.repositoryId,
    no,
    kind: upload.kind,
    status: upload.status,
    received_at: upload.receivedAt,
    processed_at: upload.processedAt,
    fields: fields && JSON.stringify(fields),
    candidate_id: fields?.candidateId ?? null,
    check_name: fields?.check ?? null,
    body_id: upload.bodyId,
    files: JSON.stringify(upload.files),
    size_bytes: upload.sizeBytes,
    parts_done: upload.partsDone,
    test_runs: upload.testRuns,
    issues: JSON.stringify(upload.issues),
    digest: upload.digest,
    client_version: upload.clientVersion,
    attempts: upload.attempts,
    trouble: upload.trouble,
    retry_at: null,
    is_proven: upload.isProven,
    flaw: upload.flaw,
    tests_ran: upload.counts?.ran ?? null,
    tests_failed: upload.counts?.failed ?? null,
    ignored: upload.ignored && JSON.stringify(upload.ignored),
    is_to_recount: false,
  };
}
