import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ReplyOf, RequestOf } from '../../contract/operation.ts';
import type * as uploaderContract from '../../contract/uploader.ts';
import type { Instant } from '../../lib/clock.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { organizationNotFound } from '../core/list-page.ts';
import { type Answer, isRefusal, refuse } from '../core/refusal.ts';
import { ensureRepository } from '../repositories/ensure-repository.ts';
import { newUpload } from './receive-upload.ts';
import type { ReceivedBody } from './upload-body.ts';

// SPEC U18
export async function createBundleUpload(
  app: App,
  caller: Caller,
  input: RequestOf<typeof uploaderContract.createBundleUpload>,
  { baseUrl }: { readonly baseUrl: string },
): Answer<ReplyOf<typeof uploaderContract.createBundleUpload>> {
  if (input.orgUrlSlug !== caller.organization.slug) return organizationNotFound(input.orgUrlSlug);
  const repository = await ensureRepository(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const now = app.clock.now();
  const upload = newUpload({
    repositoryId: repository.id,
    kind: 'bundle',
    fields: null,
    at: now,
    clientVersion: input.clientVersion?.slice(0, 255),
  });
  await app.store.uploads.create(upload, now);
  const { id } = upload;
  const expiresAt = now + LIFETIME_MS;
  const signature = sign(app, id, expiresAt).toString('base64url');
  app.unusedUploads?.watch({
    uploadId: id,
    expiresAt,
    organization: caller.organization.slug,
    address: baseUrl,
  });
  const url = `${baseUrl}/uploads/${id}?expires=${expiresAt}&signature=${signature}`;
  return { id, idV2: id, url, key: `${caller.organization.slug}/${id}` };
}

/** `open`: the bundle has not arrived yet; `again`: one arrived before. */
export async function findBundlePlace(app: App, uploadId: string, pass: UploadPass): Answer<'open' | 'again'> {
  const given = Buffer.from(pass.signature, 'base64url');
  const expected = sign(app, uploadId, pass.expiresAt);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    return refuse('UPLOAD_URL_REFUSED', 'This address was not given out so. Use the url of createBundleUpload whole.');
  }
  if (app.clock.now() > pass.expiresAt) {
    return refuse('UPLOAD_URL_REFUSED', 'This address is good for an hour, which is over. Ask for another one.');
  }
  const upload = await app.store.uploads.find(uploadId);
  if (upload === undefined) return refuse('UPLOAD_NOT_FOUND', 'This upload is gone. Ask for another one.');
  return upload.status === 'PENDING' ? 'open' : 'again';
}

/** The first complete bundle becomes the upload. False: another one was first. */
// SPEC U59
export async function acceptBundle(app: App, uploadId: string, body: ReceivedBody): Promise<boolean> {
  const { bodyId, files, sizeBytes } = body;
  const isFirst = await app.store.uploads.accept(uploadId, { bodyId, files, sizeBytes, at: app.clock.now() });
  if (isFirst) app.ingest.wake();
  return isFirst;
}

const LIFETIME_MS = 3_600_000;

/** Authorizes an upload without a token. It is part of the query, which is never logged. */
interface UploadPass {
  readonly expiresAt: Instant;
  readonly signature: string;
}

function sign({ store }: App, uploadId: string, expiresAt: Instant): Buffer {
  // The same key signs page tokens: the prefix keeps the two apart.
  return createHmac('sha256', store.signingKey).update(`upload\n${uploadId}\n${expiresAt}`).digest();
}
