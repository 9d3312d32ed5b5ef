import type { IncomingMessage } from 'node:http';
import type { App } from '../../app/core/app.ts';
import type { Caller } from '../../app/core/caller.ts';
import { type Answer, isRefusal, type Refusal } from '../../app/core/refusal.ts';
import { createBundleUpload } from '../../app/uploads/bundle-uploads.ts';
import { checkUpload, makeUploadInput, receiveUpload, type UploadInput } from '../../app/uploads/receive-upload.ts';
import { type ReceivedBody, type UploadBodies, writeFile } from '../../app/uploads/upload-body.ts';
import { ignoreUpload, listedStatus, listUploads, processUploadAgain } from '../../app/uploads/uploads.ts';
import type { RequestOf } from '../../contract/operation.ts';
import * as uploaderContract from '../../contract/uploader.ts';
import * as uploadsContract from '../../contract/uploads.ts';
import type { Upload, UploadFile } from '../../storage/uploads.ts';
import { createReader } from '../core/convert.ts';
import { arriving, type IncomingUpload } from '../core/incoming-upload.ts';
import { query } from '../core/parse.ts';
import { HttpProblem } from '../core/problem.ts';
import { encodingOf } from '../core/read-body.ts';
import { readForm } from '../core/read-form.ts';
import { type Route, route, uploadRoute } from '../core/route.ts';
import { createValidator } from '../core/validate.ts';

export const UPLOADS_ROUTES: readonly Route[] = [
  uploadRoute(uploadsContract.uploadResults, async (app, caller, upload) => {
    const receive = parseContentType(upload.request) === 'form' ? receiveForm : receiveReport;
    const stored = await receive(app, caller, upload);
    return isRefusal(stored) ? stored : { upload_id: stored.id, status: listedStatus(stored) };
  }),
  route(uploaderContract.createBundleUpload, createBundleUpload),
  route(uploadsContract.listUploads, listUploads),
  route(uploadsContract.processUploadAgain, processUploadAgain),
  route(uploadsContract.ignoreUpload, ignoreUpload),
];

/** Fields may follow the files, so that they are known only at the end of the form. */
// SPEC U15
async function receiveForm(app: App, caller: Caller, upload: IncomingUpload): Answer<Upload> {
  const { filled: fields, body } = await upload.bodies.receive((writer) => readForm(upload, FIELD_NAMES, writer));
  return keep(app, caller, upload.bodies, body, () => parseUploadFields({ ...(upload.query as object), ...fields }));
}

// SPEC U15
async function receiveReport(app: App, caller: Caller, upload: IncomingUpload): Answer<Upload> {
  const encoding = parseEncoding(upload.request);
  const input = parseUploadFields(upload.query);
  const refusal = await checkUpload(app, caller, input);
  if (refusal !== undefined) return refusal;
  const { body } = await upload.bodies.receive(async (writer) => {
    await writeFile(writer, 'report.xml', { encoding, bytes: arriving(upload) });
  });
  return keep(app, caller, upload.bodies, body, () => input);
}

// SPEC U66
async function keep(
  app: App,
  caller: Caller,
  bodies: UploadBodies,
  body: ReceivedBody,
  getInput: () => UploadInput,
): Answer<Upload> {
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

const validate = createValidator(uploadsContract.uploadResults.body);
const read = createReader(uploadsContract.uploadResults.body);

const FIELD_NAMES: readonly string[] = Object.keys(uploadsContract.uploadResults.body.properties);

/** Reads the fields of a form or a query. Scripts send an empty field where they have no value. */
// SPEC U65
function parseUploadFields(given: unknown): UploadInput {
  const named = Object.entries(given as object).filter(([name, value]) => FIELD_NAMES.includes(name) && value !== '');
  const fields = query(Object.fromEntries(named));
  validate(fields);
  return makeUploadInput(read?.(fields, '') as RequestOf<typeof uploadsContract.uploadResults>);
}

/** A form of reports, or one report as the body. The report may have any type but JSON, which is always a mistake. */
function parseContentType({ headers }: IncomingMessage): 'form' | 'report' {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json') {
    throw new HttpProblem(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send test results as multipart/form-data, or one report as application/xml with the fields in the query.',
    );
  }
  if (!type.startsWith('multipart/')) return 'report';
  if (encodingOf({ headers }) !== '') {
    throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Send a form as it is, and pack the files in it instead.');
  }
  return 'form';
}

/** Undefined: the first bytes decide. The body is stored as sent, and decompressed when it is processed. */
function parseEncoding({ headers }: IncomingMessage): UploadFile['encoding'] | undefined {
  const encoding = encodingOf({ headers });
  switch (encoding) {
    case '':
      return undefined;
    case 'gzip':
    case 'x-gzip':
      return 'gzip';
    case 'deflate':
    case 'zstd':
      return encoding;
    default:
      throw new HttpProblem(
        'UNSUPPORTED_MEDIA_TYPE',
        `The content encoding "${encoding.slice(0, 40)}" is not supported. Send the report as it is, or as gzip, deflate or zstd.`,
      );
  }
}
