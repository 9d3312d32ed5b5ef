import type { App } from '../core/app.ts';
import { type Refusal, refuse } from '../core/refusal.ts';
import type { ReceivedBody } from './upload-body.ts';
import { type UploadPass, UploadPasses } from './upload-url.ts';

/** `open`: the bundle has not arrived yet; `again`: one arrived before. */
export async function findBundlePlace(
  app: App,
  uploadId: string,
  pass: UploadPass,
): Promise<'open' | 'again' | Refusal> {
  const answer = new UploadPasses(app.store.signingKey).check(uploadId, pass, app.clock.now());
  if (answer === 'forged') {
    return refuse('UPLOAD_URL_REFUSED', 'This address was not given out so. Use the url of createBundleUpload whole.');
  }
  if (answer === 'expired') {
    return refuse('UPLOAD_URL_REFUSED', 'This address is good for an hour, which is over. Ask for another one.');
  }
  const upload = await app.store.uploads.find(uploadId);
  if (upload === undefined) return refuse('UPLOAD_NOT_FOUND', 'This upload is gone. Ask for another one.');
  return upload.status === 'PENDING' ? 'open' : 'again';
}

/** The first complete bundle becomes the upload. False: another one was first. */
export async function acceptBundle(app: App, uploadId: string, body: ReceivedBody): Promise<boolean> {
  const { bodyId, files, sizeBytes } = body;
  const isFirst = await app.store.uploads.accept(uploadId, { bodyId, files, sizeBytes, at: app.clock.now() });
  if (isFirst) app.ingest.wake();
  return isFirst;
}
