import { ignoreUpload as ignore } from '../../app/uploads/ignore-upload.ts';
import { ignoreUpload } from '../../contract/uploads.ts';
import { route } from '../core/route.ts';

export const ignoreUploadRoute = route(ignoreUpload, ({ app, caller }, body) =>
  ignore(app, caller, {
    repo: body.repo,
    orgUrlSlug: body.org_url_slug,
    uploadId: body.upload_id,
    reason: body.reason,
  }),
);
