import { isRefusal, type Refusal } from '../../app/core/refusal.ts';
import { createBundleUpload } from '../../app/uploads/create-bundle-upload.ts';
import { ignoreUpload } from '../../app/uploads/ignore-upload.ts';
import { listUploads } from '../../app/uploads/list-uploads.ts';
import { processUploadAgain } from '../../app/uploads/process-upload-again.ts';
import { checkUpload, receiveUpload, type UploadInput } from '../../app/uploads/receive-upload.ts';
import { type ReceivedBody, writeFile } from '../../app/uploads/upload-body.ts';
import { listedStatus } from '../../app/uploads/upload-view.ts';
import * as uploaderContract from '../../contract/uploader.ts';
import * as uploadsContract from '../../contract/uploads.ts';
import type { Upload } from '../../storage/uploads.ts';
import { arriving, type IncomingUpload } from '../core/incoming-upload.ts';
import { pageQuery } from '../core/parse.ts';
import { HttpProblem } from '../core/problem.ts';
import { readForm } from '../core/read-form.ts';
import { type RequestContext, type Route, route, uploadRoute } from '../core/route.ts';
import { FIELD_NAMES, parseUploadFields } from '../core/upload-fields.ts';
import { parseContentType, parseEncoding } from '../core/upload-headers.ts';

export const UPLOADS_ROUTES: readonly Route[] = [
  uploadRoute(uploadsContract.uploadResults, async (context, upload) => {
    const receive = parseContentType(upload.request) === 'form' ? receiveForm : receiveReport;
    const stored = await receive(context, upload);
    return isRefusal(stored) ? stored : { upload_id: stored.id, status: listedStatus(stored) };
  }),
  route(uploaderContract.createBundleUpload, ({ app, caller, baseUrl }, body) =>
    createBundleUpload(app, caller, {
      repo: body.repo,
      orgUrlSlug: body.orgUrlSlug,
      clientVersion: body.clientVersion ?? undefined,
      baseUrl,
    }),
  ),
  route(uploadsContract.listUploads, ({ app, caller }, body) =>
    listUploads(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, page: pageQuery(body.page_query) }),
  ),
  route(uploadsContract.processUploadAgain, ({ app, caller }, body) =>
    processUploadAgain(app, caller, { repo: body.repo, orgUrlSlug: body.org_url_slug, uploadId: body.upload_id }),
  ),
  route(uploadsContract.ignoreUpload, ({ app, caller }, body) =>
    ignoreUpload(app, caller, {
      repo: body.repo,
      orgUrlSlug: body.org_url_slug,
      uploadId: body.upload_id,
      reason: body.reason,
    }),
  ),
];

/** Fields may follow the files, so that they are known only at the end of the form. */
async function receiveForm(context: RequestContext, upload: IncomingUpload): Promise<Upload | Refusal> {
  const { filled: fields, body } = await upload.bodies.receive((writer) => readForm(upload, FIELD_NAMES, writer));
  return keep(context, upload, body, () => parseUploadFields({ ...(upload.query as object), ...fields }));
}

async function receiveReport(context: RequestContext, upload: IncomingUpload): Promise<Upload | Refusal> {
  const encoding = parseEncoding(upload.request);
  const input = parseUploadFields(upload.query);
  const refusal = await checkUpload(context.app, context.caller, input);
  if (refusal !== undefined) return refusal;
  const { body } = await upload.bodies.receive(async (writer) => {
    await writeFile(writer, 'report.xml', { encoding, bytes: arriving(upload) });
  });
  return keep(context, upload, body, () => input);
}

/** Removes the body if no upload is made of it. */
async function keep(
  { app, caller }: RequestContext,
  { bodies }: IncomingUpload,
  body: ReceivedBody,
  getInput: () => UploadInput,
): Promise<Upload | Refusal> {
  let stored: Upload | Refusal | undefined;
  try {
    const input = getInput();
    if (body.files.every(({ role }) => role !== undefined)) throw nothingCame();
    stored = await receiveUpload(app, caller, input, body);
    return stored;
  } finally {
    if (stored === undefined || isRefusal(stored) || stored.bodyId !== body.bodyId) await bodies.discard(body.bodyId);
  }
}

function nothingCame(): HttpProblem {
  const message = 'must have one report at least';
  return new HttpProblem(
    'VALIDATION_FAILED',
    `The upload ${message}. Send it as the body, or in a part called files.`,
    [{ path: '/files', message }],
  );
}
