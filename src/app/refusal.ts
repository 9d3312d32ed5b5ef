/** An expected no: the caller asked for something that cannot be had. Codes are the API's and never change. */
export interface Refusal {
  readonly kind: 'refused';
  readonly code: RefusalCode;
  /** A sentence that says what to do. */
  readonly detail: string;
  readonly errors?: readonly FieldError[];
}

export interface FieldError {
  readonly path: string;
  readonly message: string;
}

export type RefusalCode =
  | 'VALIDATION_FAILED'
  | 'INSUFFICIENT_SCOPE'
  | 'ORGANIZATION_NOT_FOUND'
  | 'REPOSITORY_NOT_FOUND'
  | 'QUEUE_NOT_FOUND'
  | 'PULL_REQUEST_NOT_FOUND'
  | 'TEST_RUN_NOT_FOUND'
  | 'TEST_NOT_FOUND'
  | 'MONITOR_NOT_FOUND'
  | 'TOKEN_NOT_FOUND'
  | 'UPLOAD_NOT_FOUND'
  | 'UPLOAD_NOT_KEPT'
  | 'UPLOAD_NOT_PROCESSED'
  | 'UPLOAD_URL_REFUSED'
  | 'ORGANIZATION_ALREADY_EXISTS'
  | 'REPOSITORY_HAS_QUEUES'
  | 'QUEUE_ALREADY_EXISTS'
  | 'QUEUE_NOT_EMPTY'
  | 'MODE_CHANGE_IN_PROGRESS'
  | 'PULL_REQUEST_NOT_IN_QUEUE'
  | 'TESTS_NOT_RESTARTABLE'
  | 'PULL_REQUEST_LANDING'
  | 'TEST_NOT_FLAGGABLE'
  | 'MONITOR_NOT_MUTABLE'
  | 'MONITOR_LIMIT_REACHED'
  | 'PULL_REQUEST_NOT_ENQUEUEABLE'
  | 'BRANCH_NOT_FOUND'
  | 'FORK_RUN_NOT_PROVEN'
  | 'RATE_LIMITED';

export function refuse(code: RefusalCode, detail: string, errors?: readonly FieldError[]): Refusal {
  return errors === undefined ? { kind: 'refused', code, detail } : { kind: 'refused', code, detail, errors };
}

export function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && (value as Refusal).kind === 'refused';
}
