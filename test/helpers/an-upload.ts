import { randomUUID } from 'node:crypto';
import type { RepositoryId } from '../../src/storage/repositories.ts';
import type { Upload, UploadFields } from '../../src/storage/uploads.ts';
import { NOON } from './store-rows.ts';

export function someFields(values: Partial<UploadFields> = {}): UploadFields {
  return {
    sha: 'a'.repeat(40),
    branch: 'main',
    prNumber: null,
    jobName: 'unit',
    jobUrl: null,
    variant: '',
    candidateId: null,
    check: null,
    isFork: false,
    jobAttempt: null,
    ...values,
  };
}

export function anUpload(repositoryId: RepositoryId, values: Partial<Upload> = {}): Upload {
  return {
    id: randomUUID(),
    repositoryId,
    kind: 'reports',
    status: 'ACCEPTED',
    receivedAt: NOON,
    processedAt: null,
    fields: someFields(),
    bodyId: randomUUID(),
    files: [{ name: 'junit.xml', encoding: 'gzip', sizeBytes: 12 }],
    sizeBytes: 12,
    partsDone: 0,
    testRuns: 0,
    issues: [],
    digest: null,
    clientVersion: null,
    attempts: 0,
    trouble: null,
    flaw: null,
    counts: null,
    ignored: null,
    ...values,
  };
}
