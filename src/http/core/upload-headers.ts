import type { IncomingMessage } from 'node:http';
import type { UploadFile } from '../../storage/uploads.ts';
import { HttpProblem } from './problem.ts';

/** A form of reports, or one report as the body. The report may have any type but JSON, which is always a mistake. */
export function parseContentType({ headers }: IncomingMessage): 'form' | 'report' {
  const type = (headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === 'application/json') {
    throw new HttpProblem(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send test results as multipart/form-data, or one report as application/xml with the fields in the query.',
    );
  }
  if (!type.startsWith('multipart/')) return 'report';
  if (encodingOf(headers) !== '') {
    throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Send a form as it is, and pack the files in it instead.');
  }
  return 'form';
}

/** Undefined: the first bytes decide. The body is stored as sent, and decompressed when it is processed. */
export function parseEncoding({ headers }: IncomingMessage): UploadFile['encoding'] | undefined {
  const encoding = encodingOf(headers);
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

function encodingOf(headers: IncomingMessage['headers']): string {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? '';
  return encoding === 'identity' ? '' : encoding;
}
