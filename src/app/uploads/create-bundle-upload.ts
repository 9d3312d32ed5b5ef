import type { ReplyOf } from '../../contract/operation.ts';
import type * as uploaderContract from '../../contract/uploader.ts';
import type { RepositoryRef } from '../../storage/repositories.ts';
import type { App } from '../core/app.ts';
import { type Caller, hasScope } from '../core/caller.ts';
import { organizationNotFound } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { ensureRepository } from '../repositories/ensure-repository.ts';
import { newUpload } from './new-upload.ts';
import { UploadPasses } from './upload-url.ts';

export interface CreateBundleUpload {
  readonly repo: RepositoryRef;
  readonly orgUrlSlug: string;
  readonly clientVersion: string | undefined;
  readonly baseUrl: string;
}

/** Issues an address for one bundle. The upload is listed when the bundle has arrived. */
export async function createBundleUpload(
  app: App,
  caller: Caller,
  input: CreateBundleUpload,
): Promise<ReplyOf<typeof uploaderContract.createBundleUpload> | Refusal> {
  if (input.orgUrlSlug !== caller.organization.slug) return organizationNotFound(input.orgUrlSlug);
  const repository = await ensureRepository(app, caller, input.repo);
  if (isRefusal(repository)) return repository;
  const now = app.clock.now();
  const upload = newUpload({
    repositoryId: repository.id,
    kind: 'bundle',
    isProven: hasScope(caller, 'evidence'),
    fields: null,
    at: now,
    clientVersion: input.clientVersion?.slice(0, 255),
  });
  await app.store.uploads.create(upload, now);
  const { id } = upload;
  const { expiresAt, signature } = new UploadPasses(app.store.signingKey).make(id, now);
  app.unusedUploads?.watch({
    uploadId: id,
    expiresAt,
    organization: caller.organization.slug,
    address: input.baseUrl,
  });
  const url = `${input.baseUrl}/uploads/${id}?expires=${expiresAt}&signature=${signature}`;
  return { id, idV2: id, url, key: `${caller.organization.slug}/${id}` };
}
