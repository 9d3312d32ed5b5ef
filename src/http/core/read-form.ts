import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { BodyWriter } from '../../app/uploads/upload-body.ts';
import { arriving, type IncomingUpload } from './incoming-upload.ts';
import { HttpProblem } from './problem.ts';

const OWNERS_PART = 'codeowners';
/** GitHub ignores a larger one. */
const MAX_OWNERS_BYTES = 3_000_000;

const LIMITS = {
  /** More than the longest field of the contract. */
  fieldSize: 16 * 1024,
  fields: 200,
  files: 10_000,
  headerPairs: 100,
  headerSize: 16 * 1024,
};

/** Fields by name. A repeated one is a list, which fits no schema. */
export type FormFields = Readonly<Record<string, string | readonly string[]>>;

/** A part is a file if it has a file name, or is `files` or `codeowners`. Of the others the `known` ones are kept. */
// SPEC U39
export async function readForm(
  upload: IncomingUpload,
  known: readonly string[],
  writer: BodyWriter,
): Promise<FormFields> {
  const form = createForm(upload.request.headers);
  const fields: Record<string, string | string[]> = {};
  const failure = createFailure();
  const open = new Set<Readable>();
  let files: Promise<void> = Promise.resolve();
  let owners = 0;
  form.on('error', (error) => failure.fail(cutShort(error)));
  form.on('field', (name, value, _isNameCut, isCut) => {
    if (isCut) failure.fail(invalid(`/${name}`.slice(0, 100), 'is too long'));
    else if (known.includes(name)) addField(fields, name, value);
  });
  form.on('file', (name, stream, fileName: string | undefined) => {
    open.add(stream);
    if (name === OWNERS_PART) owners += 1;
    if (owners > 1) failure.fail(invalid(`/${OWNERS_PART}`, 'is there more than once'));
    // The stream may fail before its turn.
    stream.on('error', (error) => failure.fail(cutShort(error)));
    files = files
      .then(() => copyFile(stream, { name, fileName: fileName ?? '' }, writer))
      .then(() => void open.delete(stream));
    files.catch(failure.fail);
  });
  form.on('fieldsLimit', () => failure.fail(invalid('', `has more than ${LIMITS.fields} fields`)));
  form.on('filesLimit', () => failure.fail(invalid('', `has more than ${LIMITS.files} files`)));
  const finished = new Promise<void>((resolve) => form.once('finish', resolve));
  try {
    for await (const chunk of arriving(upload)) {
      failure.check();
      if (!form.write(chunk)) await failure.or(new Promise((resolve) => form.once('drain', resolve)));
    }
    form.end();
    await failure.or(finished);
    await failure.or(files);
    return fields;
  } finally {
    for (const stream of open) stream.destroy();
  }
}

function createForm(headers: IncomingHttpHeaders): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: headers as { 'content-type': string },
      limits: LIMITS,
      preservePath: true,
      isPartAFile: (name, _type, fileName) => fileName !== undefined || name === 'files' || name === OWNERS_PART,
    });
  } catch {
    throw invalid('', 'is no multipart/form-data with a boundary; clients make that header');
  }
}

/** A browser sends an empty part without a name when no file was chosen. */
async function copyFile(
  stream: Readable,
  { name, fileName }: { readonly name: string; readonly fileName: string },
  writer: BodyWriter,
): Promise<void> {
  const isOwners = name === OWNERS_PART;
  const begin = () =>
    writer.begin(isOwners ? fileName || 'CODEOWNERS' : fileName, isOwners ? { role: OWNERS_PART } : {});
  let isBegun = fileName !== '';
  let length = 0;
  if (isBegun) await begin();
  for await (const chunk of stream) {
    if (!isBegun) await begin();
    isBegun = true;
    length += (chunk as Buffer).length;
    if (isOwners && length > MAX_OWNERS_BYTES) throw invalid(`/${OWNERS_PART}`, 'is larger than 3 MB');
    await writer.write(chunk as Buffer);
  }
}

function addField(fields: Record<string, string | string[]>, name: string, value: string): void {
  const present = fields[name];
  if (present === undefined) fields[name] = value;
  else if (typeof present === 'string') fields[name] = [present, value];
}

interface Failure {
  fail(error: unknown): void;
  check(): void;
  or<T>(work: Promise<T>): Promise<T>;
}

/** Keeps the first error. */
function createFailure(): Failure {
  let reason: { readonly error: unknown } | undefined;
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => undefined);
  return {
    fail: (error) => {
      reason ??= { error };
      reject(error);
    },
    check: () => {
      if (reason !== undefined) throw reason.error;
    },
    or: (work) => Promise.race([work, failed]),
  };
}

function cutShort(error: unknown): unknown {
  // Errors from other parts of the server also come through here.
  if (!(error instanceof Error) || !/multipart|part terminated|boundary|header/i.test(error.message)) return error;
  return invalid('', 'ends before its last boundary, or is no multipart/form-data at all');
}

function invalid(path: string, message: string): HttpProblem {
  const what = path === '' ? 'The form' : path.slice(1);
  return new HttpProblem('VALIDATION_FAILED', `${what} ${message}.`, [{ path, message }]);
}
