import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as uploadsContract from '../../contract/uploads.ts';
import { formatInstant, optionalInstant } from '../../lib/clock.ts';
import type { Upload } from '../../storage/uploads.ts';
import type { App } from '../core/app.ts';
import { betweenResults } from '../core/between-results.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage } from '../core/list-page.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';

export type UploadPage = ReplyOf<typeof uploadsContract.listUploads>;
export type UploadView = UploadPage['uploads'][number];

// SPEC U21
export async function listUploads(
  app: App,
  caller: Caller,
  input: RequestOf<typeof uploadsContract.listUploads>,
): Answer<UploadPage> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { uploads } = app.store;
  const of = {
    repository,
    asked: ['uploads'],
    page: input.page_query,
    getWatermark: () => uploads.getWatermark(repository.id),
  };
  const read = await listPage(app, of, (query) => uploads.list(query));
  return isRefusal(read) ? read : { uploads: read.list.uploads.map(viewUpload), page: read.page };
}

// SPEC U67
export async function processUploadAgain(
  app: App,
  caller: Caller,
  input: UploadRef,
): Answer<{ readonly upload: UploadView }> {
  const upload = await findUpload(app, caller, input);
  if (isRefusal(upload)) return upload;
  if (upload.status === 'ACCEPTED') return { upload: viewUpload(upload) };
  if (!(await app.store.uploads.processAgain(upload.id))) {
    return refuse('UPLOAD_NOT_KEPT', 'The files of this upload are kept no longer. Upload them again.');
  }
  return changed(app, upload);
}

const NOTHING = { tests: [], memories: [], failures: [], events: [] };

/** Removes an upload from the evidence. Its runs stay; statuses that depended on it are corrected a moment later. */
// SPEC U48
export async function ignoreUpload(
  app: App,
  caller: Caller,
  input: RequestOf<typeof uploadsContract.ignoreUpload>,
): Answer<{ readonly upload: UploadView }> {
  const { testIngest } = app.store;
  return betweenResults(app, async () => {
    const upload = await findUpload(app, caller, input);
    if (isRefusal(upload)) return upload;
    if (upload.ignored !== null || upload.status === 'FAILED') return { upload: viewUpload(upload) };
    if (upload.status === 'ACCEPTED') {
      return refuse('UPLOAD_NOT_PROCESSED', 'This upload still waits to be processed. Try again when it is.');
    }
    const { id: uploadId, repositoryId } = upload;
    const { seq: expectedSeq } = await testIngest.load(repositoryId, []);
    const at = app.clock.now();
    const ignore = { uploadId, at, actor: caller.name, reason: input.reason };
    const change = { repositoryId, expectedSeq, ...NOTHING, ignore };
    return (await testIngest.commit(change, at)) === undefined ? undefined : changed(app, upload);
  });
}

type UploadRef = RequestOf<typeof uploadsContract.processUploadAgain>;

async function findUpload(app: App, caller: Caller, input: UploadRef): Answer<Upload> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { upload_id: id } = input;
  const upload = await app.store.uploads.find(id);
  if (upload?.repositoryId === repository.id && upload.status !== 'PENDING') return upload;
  return refuse('UPLOAD_NOT_FOUND', `This repository has no upload with the id ${id}.`);
}

async function changed(app: App, { id }: Upload): Promise<{ readonly upload: UploadView }> {
  app.ingest.wake();
  return { upload: viewUpload((await app.store.uploads.find(id)) as Upload) };
}

// SPEC U47
function viewUpload(upload: Upload): UploadView {
  const { fields } = upload;
  return {
    id: upload.id,
    status: listedStatus(upload),
    received_at: formatInstant(upload.receivedAt),
    processed_at: optionalInstant(upload.processedAt),
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
    evidence: upload.flaw === null ? ('STATUSES' as const) : ('NOTHING' as const),
    no_evidence_because: upload.flaw,
    ...(upload.ignored !== null && { ignored: { ...upload.ignored, at: formatInstant(upload.ignored.at) } }),
    files: upload.files.filter(({ role }) => role === undefined).length,
    size_bytes: upload.sizeBytes,
    test_runs: upload.testRuns,
    issues: upload.issues.concat(upload.trouble === null ? [] : { ...TROUBLE, message: upload.trouble }),
  };
}

/** A pending upload is not listed; only the client with its address sees it, as accepted. */
export function listedStatus({ status }: Upload): UploadView['status'] {
  return status === 'PENDING' ? 'ACCEPTED' : status;
}

const TROUBLE = { level: 'warning', file: null, line: null, hint: 'Sluice tries again automatically.' } as const;
