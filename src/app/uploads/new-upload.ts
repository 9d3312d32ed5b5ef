import { randomUUID } from 'node:crypto';
import type { Instant } from '../../lib/clock.ts';
import type { Upload } from '../../storage/uploads.ts';

type Given = Pick<Upload, 'repositoryId' | 'kind' | 'fields'> & {
  readonly at: Instant;
  /** Absent where it has not arrived yet. */
  readonly body?: Pick<Upload, 'bodyId' | 'files' | 'sizeBytes'>;
  readonly digest?: string;
  readonly clientVersion?: string | undefined;
};

export function newUpload({ at, body, digest, clientVersion, ...given }: Given): Upload {
  return {
    ...given,
    id: randomUUID(),
    status: body === undefined ? 'PENDING' : 'ACCEPTED',
    receivedAt: at,
    processedAt: null,
    bodyId: body?.bodyId ?? null,
    files: body?.files ?? [],
    sizeBytes: body?.sizeBytes ?? 0,
    partsDone: 0,
    testRuns: 0,
    issues: [],
    digest: digest ?? null,
    clientVersion: clientVersion ?? null,
    attempts: 0,
    trouble: null,
    flaw: null,
    counts: null,
    ignored: null,
  };
}
