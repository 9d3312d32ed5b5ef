import { pause } from '../../lib/clock.ts';
import { Fault } from '../../lib/fault.ts';
import type { Upload } from '../../storage/uploads.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { type UploadView, viewUpload } from './upload-view.ts';

export interface IgnoreUpload extends TestScope {
  readonly uploadId: string;
  readonly reason: string;
}

/** Results are stored up to 20 times a second: nearly every try finds a gap between two commits. */
const MAX_TRIES = 50;
const PAUSE_MS = 5;

/** Removes an upload from the evidence. Its runs stay; statuses that depended on it are corrected a moment later. */
export async function ignoreUpload(
  app: App,
  caller: Caller,
  input: IgnoreUpload,
): Promise<{ readonly upload: UploadView } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { uploads, testIngest } = app.store;
  const id = input.uploadId.toLowerCase();
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const upload = await uploads.find(id);
    if (upload === undefined || upload.repositoryId !== repository.id || upload.status === 'PENDING') {
      return refuse('UPLOAD_NOT_FOUND', `This repository has no upload with the id ${input.uploadId}.`);
    }
    if (upload.ignored !== null || upload.status === 'FAILED') return { upload: viewUpload(upload) };
    if (upload.status === 'ACCEPTED') {
      return refuse('UPLOAD_NOT_PROCESSED', 'This upload still waits to be processed. Try again when it is.');
    }
    const { seq: expectedSeq } = await testIngest.load(repository.id, []);
    const at = app.clock.now();
    const ignore = { uploadId: id, at, actor: caller.name, reason: input.reason };
    const change = { repositoryId: repository.id, expectedSeq, ...NOTHING, ignore };
    if ((await testIngest.commit(change, at)) !== undefined) {
      app.ingest.wake();
      return { upload: viewUpload((await uploads.find(id)) as Upload) };
    }
    await pause(app.clock, PAUSE_MS * (1 + Math.random()));
  }
  throw new Fault('STORE_UNAVAILABLE', 'Results arrive too fast for this change. Try again.');
}

const NOTHING = { tests: [], memories: [], failures: [], events: [] };
