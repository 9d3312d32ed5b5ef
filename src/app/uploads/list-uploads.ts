import type { ReplyOf } from '../../contract/operation.ts';
import type * as uploadsContract from '../../contract/uploads.ts';
import type { App } from '../core/app.ts';
import type { Caller } from '../core/caller.ts';
import { findTestScope, listPage, type PageQuery, type TestScope } from '../core/list-page.ts';
import { isRefusal, type Refusal } from '../core/refusal.ts';
import { viewUpload } from './upload-view.ts';

export interface ListUploads extends TestScope {
  readonly page: PageQuery;
}

export type UploadPage = ReplyOf<typeof uploadsContract.listUploads>;

export async function listUploads(app: App, caller: Caller, input: ListUploads): Promise<UploadPage | Refusal> {
  const repository = await findTestScope(app, caller, input);
  if (isRefusal(repository)) return repository;
  const { uploads } = app.store;
  const of = {
    repository,
    asked: ['uploads'],
    page: input.page,
    getWatermark: () => uploads.getWatermark(repository.id),
  };
  const read = await listPage(app, of, (query) => uploads.list(query));
  return isRefusal(read) ? read : { uploads: read.list.uploads.map(viewUpload), page: read.page };
}
