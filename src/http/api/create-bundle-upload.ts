import { createBundleUpload as create } from '../../app/uploads/create-bundle-upload.ts';
import { createBundleUpload } from '../../contract/uploader.ts';
import { route } from '../core/route.ts';

export const createBundleUploadRoute = route(createBundleUpload, ({ app, caller, baseUrl }, body) =>
  create(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.orgUrlSlug,
    clientVersion: body.clientVersion ?? undefined,
    baseUrl,
  }),
);
