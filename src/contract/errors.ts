import type { FaultCode } from '../lib/fault.ts';

/** Codes of a `Refusal`, an expected no. */
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
  | 'SESSION_NOT_FOUND'
  | 'UPLOAD_NOT_FOUND'
  | 'WEBHOOK_NOT_FOUND'
  | 'WEBHOOK_DELIVERY_NOT_FOUND'
  | 'WEBHOOK_DISABLED'
  | 'WEBHOOK_LIMIT_REACHED'
  | 'SECRET_KEY_DIFFERS'
  | 'PAST_NOT_KEPT'
  | 'UPLOAD_NOT_KEPT'
  | 'UPLOAD_NOT_PROCESSED'
  | 'UPLOAD_URL_REFUSED'
  | 'ORGANIZATION_ALREADY_EXISTS'
  | 'REPOSITORY_HAS_QUEUES'
  | 'LAST_ADMINISTRATOR'
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
  | 'IDEMPOTENCY_KEY_IN_USE'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'RATE_LIMITED';

/** Codes that only the HTTP layer uses. */
export type HttpErrorCode =
  | 'MALFORMED_JSON'
  | 'AUTHENTICATION_REQUIRED'
  | 'INVALID_TOKEN'
  | 'FOREIGN_ORIGIN'
  | 'INVALID_SIGNATURE'
  | 'ROUTE_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'REQUEST_TIMEOUT'
  | 'BODY_TOO_LARGE'
  | 'HEADERS_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'INTERNAL'
  | 'FORGE_UNAVAILABLE'
  | 'UNAVAILABLE';

export type ErrorCode = RefusalCode | HttpErrorCode;

export interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** Its meaning and remedy, for the documentation. */
  readonly help: string;
}

/** Every error of the API. Codes are stable; titles and details may be reworded. */
export const ERRORS: { readonly [Code in ErrorCode]: ErrorKind } = {
  VALIDATION_FAILED: {
    status: 400,
    title: 'The request does not fit the contract',
    help: 'Something in the request is missing, unknown, out of range or of the wrong type. `errors` names every such field; correct them all and send it again.',
  },
  MALFORMED_JSON: {
    status: 400,
    title: 'The body is not usable JSON',
    help: 'The body is empty, cut short, not UTF-8, not JSON, or JSON that not everybody reads alike (a key that occurs twice or is `__proto__`, a NUL character, half of a surrogate pair). Send one JSON object.',
  },
  AUTHENTICATION_REQUIRED: {
    status: 401,
    title: 'A token is required',
    help: 'Send an API token in the header `x-api-token`.',
  },
  FOREIGN_ORIGIN: {
    status: 403,
    title: 'The request comes from another site',
    help: 'Only the dashboard sends requests with a session. Programs use /v1 with a token.',
  },
  INVALID_TOKEN: {
    status: 401,
    title: 'The token is not valid',
    help: 'The token is unknown, revoked or expired. Ask an administrator for another one.',
  },
  INVALID_SIGNATURE: {
    status: 401,
    title: 'The delivery is not signed',
    help: 'Deliveries of webhooks are signed with a secret that the forge and this server share. Set the same one on both sides.',
  },
  INSUFFICIENT_SCOPE: {
    status: 403,
    title: 'The token lacks a scope',
    help: 'The token is good, and it may not do this. Use one with the scope that the operation names.',
  },
  FORK_RUN_NOT_PROVEN: {
    status: 401,
    title: 'The workflow run is not what it says',
    help: 'The header `x-forked-workflow-run-id` must name a workflow run of this repository that runs now, that a pull_request event started, and that is for the pull request and the commit of the body. Everybody else sends a token.',
  },
  UPLOAD_URL_REFUSED: {
    status: 403,
    title: 'The address for the upload is not good',
    help: 'It is an hour old or more, or not as it was given out. Ask `createBundleUpload` for another one.',
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    title: 'No such operation',
    help: 'There is no operation at this address. GET /openapi.json lists them all.',
  },
  ORGANIZATION_NOT_FOUND: {
    status: 404,
    title: 'No such organization',
    help: '`org_url_slug`, or the header `x-organization`, is not the organization of the token. A token with the scope `instance` may name any organization in that header.',
  },
  REPOSITORY_NOT_FOUND: {
    status: 404,
    title: 'No such repository',
    help: 'No such repository is registered, or the token may not see it. `listRepositories` shows those it may see.',
  },
  QUEUE_NOT_FOUND: {
    status: 404,
    title: 'No such queue',
    help: 'The repository has no queue for this branch. `listQueues` shows those it has; `createQueue` makes one.',
  },
  PULL_REQUEST_NOT_FOUND: {
    status: 404,
    title: 'No such pull request',
    help: 'The pull request does not exist, or was never submitted to this queue.',
  },
  TEST_RUN_NOT_FOUND: {
    status: 404,
    title: 'No such test run',
    help: 'No test run of this queue or repository has this id or commit. The id is the last part of the name of a test branch.',
  },
  TEST_NOT_FOUND: {
    status: 404,
    title: 'No such test',
    help: 'The repository has no test with this id.',
  },
  MONITOR_NOT_FOUND: {
    status: 404,
    title: 'No such monitor',
    help: 'The repository has no monitor with this id. `listMonitors` shows those it has.',
  },
  TOKEN_NOT_FOUND: {
    status: 404,
    title: 'No such token',
    help: 'The organization has no token with this id. `listApiTokens` shows those it has.',
  },
  SESSION_NOT_FOUND: {
    status: 404,
    title: 'No such session',
    help: 'It ended, or was revoked before. `listSessions` shows those of people who are signed in.',
  },
  UPLOAD_NOT_FOUND: {
    status: 404,
    title: 'No such upload',
    help: 'The repository has no upload with this id. `listUploads` shows those it has.',
  },
  WEBHOOK_NOT_FOUND: {
    status: 404,
    title: 'No such webhook',
    help: 'The organization has no webhook with this id, or the token may not manage it. `listWebhooks` shows those it has.',
  },
  WEBHOOK_DELIVERY_NOT_FOUND: {
    status: 404,
    title: 'No such delivery',
    help: 'The webhook has no delivery with this id. Deliveries that have ended are kept for 30 days.',
  },
  PAST_NOT_KEPT: {
    status: 404,
    title: 'That part of the past is not kept',
    help: 'The instant is before the first one that is kept. `detail` says since when the past of this queue is kept.',
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    title: 'The operation has another method',
    help: 'The address is right and the method is not. The header `Allow` says which one is.',
  },
  REQUEST_TIMEOUT: {
    status: 408,
    title: 'The request did not arrive in time',
    help: 'The request took too long to arrive. Send it again.',
  },
  ORGANIZATION_ALREADY_EXISTS: {
    status: 409,
    title: 'The organization exists',
    help: 'Choose another slug.',
  },
  REPOSITORY_HAS_QUEUES: {
    status: 409,
    title: 'The repository has queues',
    help: 'Delete its queues first.',
  },
  LAST_ADMINISTRATOR: {
    status: 409,
    title: 'No administrator would get in',
    help: 'Make another token with the scope admin first, or send evenIfLast.',
  },
  QUEUE_ALREADY_EXISTS: {
    status: 409,
    title: 'The queue exists',
    help: 'The branch has a queue. Change its settings with `updateQueue`.',
  },
  QUEUE_NOT_EMPTY: {
    status: 409,
    title: 'The queue is not empty',
    help: 'Pull requests are in the queue. Cancel them, or wait until they have landed.',
  },
  MODE_CHANGE_IN_PROGRESS: {
    status: 409,
    title: 'The queue is changing its mode',
    help: 'The queue waits for the pull requests in it before it changes its mode. Try again when its state is no longer SWITCHING_MODES.',
  },
  PULL_REQUEST_NOT_IN_QUEUE: {
    status: 409,
    title: 'The pull request is not in the queue',
    help: 'The pull request has left the queue: it is merged, failed or cancelled.',
  },
  PULL_REQUEST_LANDING: {
    status: 409,
    title: 'The pull request is being landed',
    help: 'It was pushed to while its earlier commit is being landed. Submit it again when that has ended, in a few seconds.',
  },
  TESTS_NOT_RESTARTABLE: {
    status: 409,
    title: 'There are no tests to restart',
    help: 'Only a pull request that is TESTING or PENDING_FAILURE can be tested again.',
  },
  TEST_NOT_FLAGGABLE: {
    status: 409,
    title: 'The test cannot be flagged',
    help: 'The test is broken, which outranks a flag.',
  },
  MONITOR_NOT_MUTABLE: {
    status: 409,
    title: 'The monitor cannot be muted for this test',
    help: 'Only a monitor that has been active on the test can be muted.',
  },
  MONITOR_LIMIT_REACHED: {
    status: 409,
    title: 'The repository has too many monitors',
    help: 'A repository has at most 50 monitors. Delete one first.',
  },
  WEBHOOK_DISABLED: {
    status: 409,
    title: 'The webhook is disabled',
    help: 'Somebody disabled it, or every delivery failed for five days. Repair the endpoint and enable the webhook with `updateWebhook`.',
  },
  WEBHOOK_LIMIT_REACHED: {
    status: 409,
    title: 'The organization has too many webhooks',
    help: 'An organization has at most 100 webhooks. Delete one first.',
  },
  SECRET_KEY_DIFFERS: {
    status: 409,
    title: 'The server has another key than the webhooks',
    help: 'Start all servers with the same `SLUICE_SECRET_KEY`. If the key is lost, delete the webhooks that it encrypted and create them again.',
  },
  UPLOAD_NOT_KEPT: {
    status: 409,
    title: 'The files of the upload are gone',
    help: 'Files are kept for some days after they were processed. Upload them again.',
  },
  UPLOAD_NOT_PROCESSED: {
    status: 409,
    title: 'The upload waits to be processed',
    help: 'What it is evidence for is known once it is processed. List uploads to see when it is, and try again.',
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    title: 'The same request is being answered',
    help: 'A request with the same `Idempotency-Key` came before and is not answered yet. Send it again in a moment.',
  },
  BODY_TOO_LARGE: {
    status: 413,
    title: 'The body is too large',
    help: 'A body may have 20 MiB, also after decompression, 100,000 values, 20,000 keys and 4 MiB of texts and numbers outside its list of targets or tests, without a token 256 KiB, and an upload of test results 100 MiB. Instead of a very long list of impacted targets, send "ALL"; send reports in several uploads, or packed.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: 'The content type is not supported',
    help: 'Send the body as UTF-8 JSON with the header `content-type: application/json`; gzip, deflate, br and zstd are accepted as content encodings. Test results are sent as multipart/form-data, or as one report with any other content type, as it is or as gzip, deflate or zstd.',
  },
  PULL_REQUEST_NOT_ENQUEUEABLE: {
    status: 422,
    title: 'The pull request cannot be queued',
    help: 'The pull request is closed, a draft, merged already, or at another head commit than `pr.sha`.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    title: 'The idempotency key is taken',
    help: 'The same `Idempotency-Key` came with another operation or body in the last 24 hours. Use a new key for each request.',
  },
  BRANCH_NOT_FOUND: {
    status: 422,
    title: 'No such branch',
    help: 'The repository has no such branch. Push it first.',
  },
  RATE_LIMITED: {
    status: 429,
    title: 'Too many requests',
    help: 'The token sends too many requests, or too many workflow runs of forks are being proven. Wait as many seconds as the header `Retry-After` says.',
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    title: 'The headers are too large',
    help: 'The address and the headers of a request may have 16 KiB together. Cookies and tokens of proxies are what makes them large.',
  },
  INTERNAL: {
    status: 500,
    title: 'Something is wrong in Sluice',
    help: "This is a bug. The server's log has the details under the request id.",
  },
  FORGE_UNAVAILABLE: {
    status: 502,
    title: 'The forge does not answer',
    help: 'The forge, or the git repository, does not answer. Try again later.',
  },
  UNAVAILABLE: {
    status: 503,
    title: 'Not available now',
    help: 'The server starts, stops, cannot reach its database, has no room on its disk, or reads too many large bodies at once. Wait as many seconds as the header `Retry-After` says.',
  },
};

/** Maps faults to the errors that a client sees. */
export const FAULT_ERRORS: { readonly [Code in FaultCode]: ErrorCode } = {
  FORGE_UNAVAILABLE: 'FORGE_UNAVAILABLE',
  GIT_UNSUPPORTED: 'FORGE_UNAVAILABLE',
  STORE_UNAVAILABLE: 'UNAVAILABLE',
  STORE_TOO_NEW: 'UNAVAILABLE',
  STORE_LOCKED: 'UNAVAILABLE',
  MISCONFIGURED: 'UNAVAILABLE',
  RUNNER_UNAVAILABLE: 'UNAVAILABLE',
  BACKUP_UNUSABLE: 'VALIDATION_FAILED',
  SHUTTING_DOWN: 'UNAVAILABLE',
  QUEUE_PARKED: 'UNAVAILABLE',
};

/** Errors that any operation with a token can return. */
export const COMMON_ERRORS: readonly ErrorCode[] = [
  'VALIDATION_FAILED',
  'MALFORMED_JSON',
  'AUTHENTICATION_REQUIRED',
  'INVALID_TOKEN',
  'INSUFFICIENT_SCOPE',
  'ORGANIZATION_NOT_FOUND',
  'REQUEST_TIMEOUT',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'INTERNAL',
  'UNAVAILABLE',
];
