import type { FieldError } from '../../app/core/refusal.ts';
import { ERRORS, type ErrorCode } from '../../contract/errors.ts';
import { present } from '../../lib/present.ts';

/** Thrown below a request, to answer it with a problem document. */
export class HttpProblem extends Error {
  override readonly name = 'Problem';
  readonly code: ErrorCode;
  readonly detail: string;
  readonly errors: readonly FieldError[] | undefined;
  readonly result: object | undefined;

  constructor(code: ErrorCode, detail: string, errors?: readonly FieldError[], result?: object) {
    super(`${code}: ${detail}`);
    this.code = code;
    this.detail = detail;
    this.errors = errors;
    this.result = result;
  }
}

/** `path` is the JSON pointer of the field. */
export function invalidField(path: string, message: string): HttpProblem {
  return new HttpProblem('VALIDATION_FAILED', `${path.slice(1)} ${message}.`, [{ path, message }]);
}

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** RFC 9457. The type is a link into the server's own documentation. */
// SPEC H1
export function formatProblem(
  problem: Pick<HttpProblem, 'code' | 'detail'> & Partial<Pick<HttpProblem, 'errors' | 'result'>>,
  requestId: string,
  status?: number,
): string {
  const { code, detail, errors, result } = problem;
  return JSON.stringify({
    type: `/docs#${code}`,
    title: ERRORS[code].title,
    status: status ?? ERRORS[code].status,
    detail,
    code,
    requestId,
    ...present({ errors, result }),
  });
}
