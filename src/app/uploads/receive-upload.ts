import { createHash, randomUUID } from 'node:crypto';
import type { RequestOf } from '../../contract/operation.ts';
import type { uploadResults } from '../../contract/uploads.ts';
import { cleanBranch } from '../../flaky/identity/branch.ts';
import { cutVariant } from '../../flaky/identity/test-id.ts';
import type { Instant } from '../../lib/clock.ts';
import type { Repository, RepositoryRef } from '../../storage/repositories.ts';
import type { Upload, UploadFields } from '../../storage/uploads.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { organizationNotFound } from '../core/list-page.ts';
import { type Answer, isRefusal, type Refusal } from '../core/refusal.ts';
import { candidateNotFound, parseCandidateId } from '../queue/get-merge-queue-testing-details.ts';
import { ensureRepository, findRepositoryForUpload } from '../repositories/ensure-repository.ts';
import type { ReceivedBody } from './upload-body.ts';

/** Identical results within this time are one upload. */
const SAME_MS = 24 * 3_600_000;

export interface UploadInput {
  readonly repo: RepositoryRef;
  readonly orgUrlSlug: string;
  readonly fields: UploadFields;
}

export async function checkUpload(app: App, caller: Caller, input: UploadInput): Promise<Refusal | undefined> {
  if (input.orgUrlSlug !== caller.organization.slug) return organizationNotFound(input.orgUrlSlug);
  const repository = await findRepositoryForUpload(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const { candidateId } = input.fields;
  return candidateId === null ? undefined : checkCandidate(app, repository, candidateId);
}

/** Stores an upload whose body has arrived. It is listed from now on, and processed later. */
export async function receiveUpload(app: App, caller: Caller, input: UploadInput, body: ReceivedBody): Answer<Upload> {
  const problem = await checkUpload(app, caller, input);
  if (problem !== undefined) return problem;
  const repository = await ensureRepository(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const { fields } = input;
  const digest = digestOf(fields, body);
  const upload = newUpload({ repositoryId: repository.id, kind: 'reports', fields, at: app.clock.now(), body, digest });
  const stored = await app.store.uploads.create(upload, upload.receivedAt - SAME_MS);
  app.ingest.wake();
  return stored;
}

async function checkCandidate(
  app: App,
  repository: Repository | undefined,
  candidateId: string,
): Promise<Refusal | undefined> {
  const queueIds = repository === undefined ? [] : await app.directory.listQueueIds(repository.id);
  const row = await app.store.queueRecords.findCandidateById(candidateId);
  const isHere = row !== undefined && queueIds.includes(row.queueId);
  return isHere ? undefined : candidateNotFound(candidateId);
}

// SPEC U16
function digestOf(fields: UploadFields, body: ReceivedBody): string {
  const { sha, branch, prNumber, jobName, jobUrl, variant, candidateId, check, isFork, jobAttempt, checkoutRoot } =
    fields;
  // In a fixed order: that of an object's keys must not matter.
  const of = [sha, branch, prNumber, jobName, jobUrl, variant, candidateId, check, isFork, jobAttempt, checkoutRoot];
  return createHash('sha256').update(JSON.stringify(of)).update(body.digest).digest('hex');
}

/** Normalizes the fields for storage and comparison. */
// SPEC U38
export function makeUploadInput(given: RequestOf<typeof uploadResults>): UploadInput {
  return {
    repo: { host: given.repo_host, owner: given.repo_owner, name: given.repo_name },
    orgUrlSlug: given.org_url_slug,
    fields: {
      sha: given.sha.toLowerCase(),
      // A branch may be named like a prefix that is stripped, such as "origin/".
      branch: cleanBranch(given.branch) || given.branch,
      prNumber: given.pr_number ?? null,
      jobName: given.job_name ?? null,
      jobUrl: given.job_url ?? null,
      variant: cutVariant(given.variant),
      candidateId: given.test_run_id === undefined ? null : parseCandidateId(given.test_run_id),
      check: given.check ?? null,
      isFork: given.fork ?? false,
      jobAttempt: given.job_attempt ?? null,
      ...(given.checkout_root !== undefined && { checkoutRoot: given.checkout_root }),
    },
  };
}

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
