import type { FaultCode } from '../lib/fault.ts';

interface ErrorKind {
  readonly status: number;
  readonly title: string;
  /** Its meaning and remedy, for the documentation. */
  readonly help: string;
}

/** Every error of the API by its status: title, meaning and remedy. Codes are stable; texts may be reworded. */
const BY_STATUS = {
  400: {
    VALIDATION_FAILED: [
      'The request does not fit the contract',
      'Something in the request is missing, unknown, out of range or of the wrong type. `errors` names every such field; correct them all and send it again.',
    ],
    MALFORMED_JSON: [
      'The body is not usable JSON',
      'The body is empty, cut short, not UTF-8, not JSON, or JSON that not everybody reads alike (a key that occurs twice or is `__proto__`, a NUL character, half of a surrogate pair). Send one JSON object.',
    ],
  },
  401: {
    AUTHENTICATION_REQUIRED: ['A token is required', 'Send an API token in the header `x-api-token`.'],
    INVALID_TOKEN: [
      'The token is not valid',
      'The token is unknown, revoked or expired. Ask an administrator for another one.',
    ],
    INVALID_SIGNATURE: [
      'The delivery is not signed',
      'Deliveries of webhooks are signed with a secret that the forge and this server share. Set the same one on both sides.',
    ],
    FORK_RUN_NOT_PROVEN: [
      'The workflow run is not what it says',
      'The header `x-forked-workflow-run-id` must name a workflow run of this repository that runs now, that a pull_request event started, and that is for the pull request and the commit of the body. Everybody else sends a token.',
    ],
  },
  403: {
    FOREIGN_ORIGIN: [
      'The request comes from another site',
      'Only the dashboard sends requests with a session. Programs use /v1 with a token.',
    ],
    INSUFFICIENT_SCOPE: [
      'The token lacks a scope',
      'The token is good, and it may not do this. Use one with the scope that the operation names.',
    ],
    NOT_YOUR_ACCOUNT: [
      'The account is not proven to be yours',
      'Sign in with this account, or ask an administrator to set it up.',
    ],
    UPLOAD_URL_REFUSED: [
      'The address for the upload is not good',
      'It is an hour old or more, or not as it was given out. Ask `createBundleUpload` for another one.',
    ],
  },
  404: {
    ROUTE_NOT_FOUND: ['No such operation', 'There is no operation at this address. GET /openapi.json lists them all.'],
    ORGANIZATION_NOT_FOUND: [
      'No such organization',
      '`org_url_slug`, or the header `x-organization`, is not the organization of the token. A token with the scope `instance` may name any organization in that header.',
    ],
    REPOSITORY_NOT_FOUND: [
      'No such repository',
      'No such repository is registered, or the token may not see it. `listRepositories` shows those it may see.',
    ],
    QUEUE_NOT_FOUND: [
      'No such queue',
      'The repository has no queue for this branch. `listQueues` shows those it has; `createQueue` makes one.',
    ],
    PULL_REQUEST_NOT_FOUND: [
      'No such pull request',
      'The pull request does not exist, or was never submitted to this queue.',
    ],
    TEST_RUN_NOT_FOUND: [
      'No such test run',
      'No test run of this queue or repository has this id or commit. The id is the last part of the name of a test branch.',
    ],
    TEST_NOT_FOUND: ['No such test', 'The repository has no test with this id.'],
    MONITOR_NOT_FOUND: [
      'No such monitor',
      'The repository has no monitor with this id. `listMonitors` shows those it has.',
    ],
    TOKEN_NOT_FOUND: [
      'No such token',
      'The organization has no token with this id. `listApiTokens` shows those it has.',
    ],
    SESSION_NOT_FOUND: [
      'No such session',
      'It ended, or was revoked before. `listSessions` shows those of people who are signed in.',
    ],
    UPLOAD_NOT_FOUND: [
      'No such upload',
      'The repository has no upload with this id. `listUploads` shows those it has.',
    ],
    WEBHOOK_NOT_FOUND: [
      'No such webhook',
      'The organization has no webhook with this id, or the token may not manage it. `listWebhooks` shows those it has.',
    ],
    WEBHOOK_DELIVERY_NOT_FOUND: [
      'No such delivery',
      'The webhook has no delivery with this id. Deliveries that have ended are kept for 30 days.',
    ],
    PAST_NOT_KEPT: [
      'That part of the past is not kept',
      'The instant is before the first one that is kept. `detail` says since when the past of this queue is kept.',
    ],
  },
  405: {
    METHOD_NOT_ALLOWED: [
      'The operation has another method',
      'The address is right and the method is not. The header `Allow` says which one is.',
    ],
  },
  408: {
    REQUEST_TIMEOUT: ['The request did not arrive in time', 'The request took too long to arrive. Send it again.'],
  },
  409: {
    ORGANIZATION_ALREADY_EXISTS: ['The organization exists', 'Choose another slug.'],
    REPOSITORY_HAS_QUEUES: ['The repository has queues', 'Delete its queues first.'],
    LAST_ADMINISTRATOR: [
      'No administrator would get in',
      'Make another token with the scope admin first, or send evenIfLast.',
    ],
    QUEUE_ALREADY_EXISTS: ['The queue exists', 'The branch has a queue. Change its settings with `updateQueue`.'],
    QUEUE_NOT_EMPTY: [
      'The queue is not empty',
      'Pull requests are in the queue. Cancel them, or wait until they have landed.',
    ],
    QUEUE_NOT_HELD: [
      'The target branch is not known to be broken',
      'The queue does not hold because the head of its branch fails checks. There is nothing to search.',
    ],
    REVERT_CONFLICTS: [
      'The revert conflicts with later commits',
      'Later commits changed the same lines. `detail` names the files. Revert it by hand on a branch, and submit that as a repair.',
    ],
    NOTHING_TO_REVERT: [
      'There is nothing to revert',
      'It has not landed, or the target branch has none of its changes any more.',
    ],
    UNCHANGED_SINCE_FAILURE: [
      'It failed as it is',
      'The queue has refuseUnchanged, and the pull request would be tested as it was when it failed. `result` says what failed. Change it, or send `force`.',
    ],
    MODE_CHANGE_IN_PROGRESS: [
      'The queue is changing its mode',
      'The queue waits for the pull requests in it before it changes its mode. Try again when its state is no longer SWITCHING_MODES.',
    ],
    PULL_REQUEST_NOT_IN_QUEUE: [
      'The pull request is not in the queue',
      'The pull request has left the queue: it is merged, failed or cancelled.',
    ],
    PULL_REQUEST_LANDING: [
      'The pull request is being landed',
      'It was pushed to while its earlier commit is being landed. Submit it again when that has ended, in a few seconds.',
    ],
    TESTS_NOT_RESTARTABLE: [
      'There are no tests to restart',
      'Only a pull request that is TESTING or PENDING_FAILURE can be tested again.',
    ],
    TEST_NOT_FLAGGABLE: ['The test cannot be flagged', 'The test is broken, which outranks a flag.'],
    MONITOR_NOT_MUTABLE: [
      'The monitor cannot be muted for this test',
      'Only a monitor that has been active on the test can be muted.',
    ],
    MONITOR_LIMIT_REACHED: [
      'The repository has too many monitors',
      'A repository has at most 50 monitors. Delete one first.',
    ],
    WEBHOOK_DISABLED: [
      'The webhook is disabled',
      'Somebody disabled it, or every delivery failed for five days. Repair the endpoint and enable the webhook with `updateWebhook`.',
    ],
    WEBHOOK_LIMIT_REACHED: [
      'The organization has too many webhooks',
      'An organization has at most 100 webhooks. Delete one first.',
    ],
    SECRET_KEY_DIFFERS: [
      'The server has another key than the webhooks',
      'Start all servers with the same `SLUICE_SECRET_KEY`. If the key is lost, delete the webhooks that it encrypted and create them again.',
    ],
    UPLOAD_NOT_KEPT: [
      'The files of the upload are gone',
      'Files are kept for some days after they were processed. Upload them again.',
    ],
    UPLOAD_NOT_PROCESSED: [
      'The upload waits to be processed',
      'What it is evidence for is known once it is processed. List uploads to see when it is, and try again.',
    ],
    IDEMPOTENCY_KEY_IN_USE: [
      'The same request is being answered',
      'A request with the same `Idempotency-Key` came before and is not answered yet. Send it again in a moment.',
    ],
  },
  413: {
    BODY_TOO_LARGE: [
      'The body is too large',
      'A body may have 20 MiB, also after decompression, 100,000 values, 20,000 keys and 4 MiB of texts and numbers outside its list of targets or tests, without a token 256 KiB, and an upload of test results 100 MiB. Instead of a very long list of impacted targets, send "ALL"; send reports in several uploads, or packed.',
    ],
  },
  415: {
    UNSUPPORTED_MEDIA_TYPE: [
      'The content type is not supported',
      'Send the body as UTF-8 JSON with the header `content-type: application/json`; gzip, deflate, br and zstd are accepted as content encodings. Test results are sent as multipart/form-data, or as one report with any other content type, as it is or as gzip, deflate or zstd.',
    ],
  },
  422: {
    PULL_REQUEST_NOT_ENQUEUEABLE: [
      'The pull request cannot be queued',
      'The pull request is closed, a draft, merged already, or at another head commit than `pr.sha`.',
    ],
    IDEMPOTENCY_KEY_REUSED: [
      'The idempotency key is taken',
      'The same `Idempotency-Key` came with another operation or body in the last 24 hours. Use a new key for each request.',
    ],
    BRANCH_NOT_FOUND: ['No such branch', 'The repository has no such branch. Push it first.'],
  },
  429: {
    RATE_LIMITED: [
      'Too many requests',
      'The token sends too many requests, or too many workflow runs of forks are being proven. Wait as many seconds as the header `Retry-After` says.',
    ],
  },
  431: {
    HEADERS_TOO_LARGE: [
      'The headers are too large',
      'The address and the headers of a request may have 16 KiB together. Cookies and tokens of proxies are what makes them large.',
    ],
  },
  500: {
    INTERNAL: ['Something is wrong in Sluice', "This is a bug. The server's log has the details under the request id."],
  },
  502: {
    FORGE_UNAVAILABLE: [
      'The forge does not answer',
      'The forge, or the git repository, does not answer. Try again later.',
    ],
  },
  503: {
    UNAVAILABLE: [
      'Not available now',
      'The server starts, stops, cannot reach its database, has no room on its disk, or reads too many large bodies at once. Wait as many seconds as the header `Retry-After` says.',
    ],
  },
} as const;

type ByStatus = typeof BY_STATUS;

export type ErrorCode = { [Status in keyof ByStatus]: keyof ByStatus[Status] }[keyof ByStatus];

/** Codes that only the HTTP layer uses. */
type HttpErrorCode =
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

/** Codes of a `Refusal`, an expected no. */
export type RefusalCode = Exclude<ErrorCode, HttpErrorCode>;

export const ERRORS = Object.fromEntries(
  Object.entries(BY_STATUS).flatMap(([status, codes]) =>
    Object.entries(codes).map(([code, [title, help]]) => [code, { status: Number(status), title, help }]),
  ),
) as { readonly [Code in ErrorCode]: ErrorKind };

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
