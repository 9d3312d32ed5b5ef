import { processUploadAgain as processAgain } from '../../app/uploads/process-upload-again.ts';
import { processUploadAgain } from '../../contract/uploads.ts';
import { route } from '../core/route.ts';

export const processUploadAgainRoute = route(processUploadAgain, ({ app, caller }, body) =>
  processAgain(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, uploadId: body.upload_id }),
);
