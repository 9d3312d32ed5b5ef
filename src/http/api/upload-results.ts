import { isRefusal, type Refusal } from '../../app/core/refusal.ts';
import { checkUpload, receiveUpload, type UploadInput } from '../../app/uploads/receive-upload.ts';
import { type ReceivedBody, writeFile } from '../../app/uploads/upload-body.ts';
import { listedStatus } from '../../app/uploads/upload-view.ts';
import { uploadResults } from '../../contract/uploads.ts';
import type { Upload } from '../../storage/uploads.ts';
import { arriving, type IncomingUpload } from '../core/incoming-upload.ts';
import { HttpProblem } from '../core/problem.ts';
import { readForm } from '../core/read-form.ts';
import { type RequestContext, uploadRoute } from '../core/route.ts';
import { FIELD_NAMES, parseUploadFields } from '../core/upload-fields.ts';
import { parseContentType, parseEncoding } from '../core/upload-headers.ts';

export const uploadResultsRoute = uploadRoute(uploadResults, async (context, upload) => {
  const receive = parseContentType(upload.request) === 'form' ? receiveForm : receiveReport;
  const stored = await receive(context, upload);
  return isRefusal(stored) ? stored : { upload_id: stored.id, status: listedStatus(stored) };
});

/** Fields may come after files: only the end of a form says what it is. */
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

/** The body is the upload's, or nobody's. */
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
