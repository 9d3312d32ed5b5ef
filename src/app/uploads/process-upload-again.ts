import type { Upload } from '../../storage/uploads.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import { type UploadView, viewUpload } from './upload-view.ts';

export interface ProcessUploadAgain extends TestScope {
  readonly uploadId: string;
}

/** For uploads that a fixed parser should read again. An upload that still waits stays as it is. */
export async function processUploadAgain(
  app: App,
  caller: Caller,
  input: ProcessUploadAgain,
): Promise<{ readonly upload: UploadView } | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { uploads } = app.store;
  const id = input.uploadId.toLowerCase();
  const upload = await uploads.find(id);
  if (upload === undefined || upload.repositoryId !== repository.id || upload.status === 'PENDING') {
    return refuse('UPLOAD_NOT_FOUND', `This repository has no upload with the id ${input.uploadId}.`);
  }
  if (upload.status !== 'ACCEPTED') {
    if (!(await uploads.processAgain(id))) {
      return refuse('UPLOAD_NOT_KEPT', 'The files of this upload are kept no longer. Upload them again.');
    }
    app.ingest.wake();
  }
  return { upload: viewUpload((await uploads.find(id)) as Upload) };
}
