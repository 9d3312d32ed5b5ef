import type { RefusalCode } from '../../contract/errors.ts';

/** An expected no. Codes are part of the API and never change. */
export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** A sentence that tells the caller what to do. */
  readonly detail: string;
  readonly errors?: readonly FieldError[];
  /** That of the submission before, where it is known to repeat. */
  readonly result?: object;
}

export type Answer<T> = Promise<T | Refusal>;

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export function refuse(code: RefusalCode, detail: string, errors?: readonly FieldError[]): Refusal {
  return errors === undefined ? { kind: 'refused', code, detail } : { kind: 'refused', code, detail, errors };
}

/** Refuses the value of one field; `path` is its JSON pointer. */
export function refuseField(path: string, message: string): Refusal {
  const end = message.endsWith('?') ? '' : '.';
  return refuse('VALIDATION_FAILED', `${path.slice(1).replaceAll('/', '.')} ${message}${end}`, [{ path, message }]);
}

/** Refuses the values of several fields. Undefined if none is at fault. */
export function refuseFields(errors: readonly FieldError[]): Refusal | undefined {
  const [first] = errors;
  return first && refuse('VALIDATION_FAILED', `${first.path.slice(1)} ${first.message}. Nothing was changed.`, errors);
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && (value as Refusal).kind === 'refused';
}
