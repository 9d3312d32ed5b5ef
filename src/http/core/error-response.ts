import type { FastifyError } from 'fastify';
import { FAULT_ERRORS } from '../../contract/errors.ts';
import { Fault } from '../../lib/fault.ts';
import { HttpProblem } from './problem.ts';
import { tooLarge } from './read-body.ts';

export const NOT_JSON = 'Send the body as JSON, with the header content-type: application/json.';

// SPEC H20
export function toProblem(error: unknown): HttpProblem {
  if (error instanceof HttpProblem) return error;
  if (error instanceof Fault) {
    const code = FAULT_ERRORS[error.code];
    // Details of the store (its address, its files) are for the log.
    return new HttpProblem(
      code,
      code === 'UNAVAILABLE' ? (error.told ?? 'Sluice cannot do this now. Try again in a moment.') : error.detail,
    );
  }
  const code = (error as FastifyError | undefined)?.code;
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return tooLarge();
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HttpProblem('UNSUPPORTED_MEDIA_TYPE', NOT_JSON);
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
      return new HttpProblem('MALFORMED_JSON', 'The body is empty. Send a JSON object.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
      return new HttpProblem('MALFORMED_JSON', 'The body ended before its length was reached.');
    case 'FST_ERR_BAD_URL':
      return new HttpProblem('ROUTE_NOT_FOUND', 'The address is not a valid one.');
  }
  if (code?.startsWith('Z_') || code?.startsWith('ZSTD_') || code?.startsWith('ERR__ERROR_FORMAT')) {
    return new HttpProblem('MALFORMED_JSON', 'The body could not be decompressed.');
  }
  return new HttpProblem('INTERNAL', 'Something went wrong in Sluice. The log has the details under this request id.');
}
