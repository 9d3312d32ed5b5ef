import { ERRORS, type ErrorCode } from '../../contract/errors.ts';
import type { Operation } from '../../contract/operation.ts';
import type { RequiredStatus } from '../../engine/model/check.ts';
import { createLowering } from './convert.ts';

/** How a mount reads and writes: /v1 as the contract says, /trunk/v1 as clients of that product expect it. */
export interface Dialect {
  readonly mount: string;
  pathOf(operation: Operation): string;
  /** Drops our own fields from a request: clients of another product may send something else under that name. */
  readerFor(operation: Operation): Translate;
  translatorFor(operation: Operation): Translate;
  /** `operation` is undefined where the request was for none. */
  statusOf(code: ErrorCode, operation: Operation | undefined): number;
  /** Declarative clients compare plan and result: a write must not change an unset setting that follows another. */
  readonly keepsUnnamedSettings: boolean;
  /** Clients of /trunk/v1 know no alarms. */
  readonly hasAlarms: boolean;
  /** Quarantined tests say whether they should be reviewed. */
  readonly hasReviews: boolean;
}

export type Translate = (value: unknown) => unknown;

const same: Translate = (reply) => reply;

export const sluiceDialect: Dialect = {
  mount: '/v1',
  pathOf: ({ path }) => path,
  readerFor: () => same,
  translatorFor: () => same,
  statusOf: (code) => ERRORS[code].status,
  keepsUnnamedSettings: false,
  hasAlarms: true,
  hasReviews: true,
};

/** The dashboard speaks as /v1, with a session in place of a token. */
export const webDialect: Dialect = { ...sluiceDialect, mount: '/web/v1', pathOf: ({ name }) => `/${name}` };

// SPEC H26
export const trunkDialect: Dialect = {
  mount: '/trunk/v1',
  pathOf: ({ path }) => path,
  readerFor: ({ name, bulkReply }) => {
    const read = name === 'submitPullRequest' ? withoutHead : same;
    return bulkReply === undefined ? read : (body) => read(withoutSeveral(body));
  },
  translatorFor(operation) {
    const lower = createLowering(operation.reply) ?? same;
    const reshape = RESHAPES[operation.name] ?? same;
    return (reply) => reshape(lower(reply, ''));
  },
  statusOf: (code, operation) =>
    code === 'QUEUE_NOT_EMPTY' && operation?.name === 'deleteQueue' ? 400 : ERRORS[code].status,
  keepsUnnamedSettings: true,
  hasAlarms: false,
  hasReviews: false,
};

type Json = Record<string, unknown>;

// SPEC H25, H28
const RESHAPES: Readonly<Record<string, Translate>> = {
  createQueue: asQueue,
  updateQueue: asQueue,
  getQueue: (reply) => {
    const queue = reply as { enqueuedPullRequests: readonly { state: string }[] };
    const admitted = queue.enqueuedPullRequests.filter((entry) => entry.state !== 'not_ready');
    return asQueue({ ...queue, enqueuedPullRequests: admitted });
  },
  listQueues: (reply) => {
    const list = reply as { queues: readonly unknown[] };
    return { ...list, queues: list.queues.map(asQueue) };
  },
  getTestDetails: (reply) => {
    const { test } = reply as { test: Json };
    return { test: withoutDecisions(test) };
  },
  linkTicketToTestCase: () => ({}),
  listUnhealthyTests: (reply) => {
    const page = reply as { tests: readonly Json[] };
    return { ...page, tests: page.tests.map(withoutRunFigures) };
  },
  listQuarantinedTests: (reply) => {
    const page = reply as { quarantined_tests: readonly Json[] };
    const unknown = { parent: null, file: null, classname: null };
    return { ...page, quarantined_tests: page.quarantined_tests.map((test) => ({ ...unknown, ...test })) };
  },
};

// SPEC E32
function withoutSeveral(body: unknown): unknown {
  return isJson(body) && 'prs' in body ? without(body, 'prs') : body;
}

// SPEC E16
function withoutHead(body: unknown): unknown {
  const pr = isJson(body) ? body['pr'] : undefined;
  return isJson(pr) && 'sha' in pr ? { ...(body as Json), pr: without(pr, 'sha') } : body;
}

/** Without alarms, holds, freezes and statistics, and with required checks as plain names: their apps are an extension of ours. */
// SPEC H25
function asQueue(queue: unknown): Json {
  const rest = without(
    queue as Json,
    'alarms held learned frozen automaticSettings stateSince stateBy stateReason stateUntil',
  );
  const { requiredStatuses, failFastStatuses } = rest as Readonly<Record<string, readonly RequiredStatus[] | null>>;
  const names = { requiredStatuses: requiredStatuses?.map(toName) ?? null };
  return { ...rest, ...names, ...(failFastStatuses && { failFastStatuses: failFastStatuses.map(toName) }) };
}

function toName(status: RequiredStatus): string {
  return typeof status === 'string' ? status : status.name;
}

// SPEC F32
function withoutDecisions(test: Json): Json {
  return without(
    test,
    'first_seen_at quarantined_at quarantine_override flag labels monitors daily pull_requests_impacted_last_30d average_duration_ms last_failure_at suites',
  );
}

function withoutRunFigures(test: Json): Json {
  return without(test, 'most_common_failures failure_rate_last_7d failure_rate_last_24h');
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/** `fields` has blanks between the names. */
function without(from: Json, fields: string): Json {
  const names = fields.split(' ');
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
}
