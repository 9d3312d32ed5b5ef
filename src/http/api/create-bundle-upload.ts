import { createBundleUpload as create } from '../../app/create-bundle-upload.ts';
import { createBundleUpload } from '../contract/uploader.ts';
import { route } from '../route.ts';

export const createBundleUploadRoute = route(createBundleUpload, ({ app, caller, baseUrl }, body) =>
  create(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.orgUrlSlug,
    clientVersion: body.clientVersion ?? undefined,
    baseUrl,
  }),
);
