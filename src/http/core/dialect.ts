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
  /**
   * Declarative clients compare their plan with the result: a write must not change a setting that it did not name,
   * also where an unset setting follows another one.
   */
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
  if (typeof body !== 'object' || body === null || !('prs' in body)) return body;
  const { prs: _, ...rest } = body;
  return rest;
}

// SPEC E16
function withoutHead(body: unknown): unknown {
  const { pr } = (body ?? {}) as { readonly pr?: unknown };
  if (typeof pr !== 'object' || pr === null || !('sha' in pr)) return body;
  const { sha: _, ...rest } = pr;
  return { ...(body as Json), pr: rest };
}

/** Without alarms, holds, freezes and statistics, and with required checks as plain names: their apps are an extension of ours. */
// SPEC H25
function asQueue(queue: unknown): Json {
  const { alarms: _1, held: _2, learned: _3, frozen: _8, requiredStatuses, ...others } = queue as QueueReply;
  const { stateSince: _4, stateBy: _5, stateReason: _6, stateUntil: _7, ...rest } = others;
  return { ...rest, requiredStatuses: requiredStatuses?.map(toName) ?? null };
}

interface QueueReply extends Json {
  readonly alarms?: unknown;
  readonly hold?: unknown;
  readonly learned?: unknown;
  readonly frozen?: unknown;
  readonly requiredStatuses: readonly RequiredStatus[] | null;
}

function toName(status: RequiredStatus): string {
  return typeof status === 'string' ? status : status.name;
}

// SPEC F32
function withoutDecisions(test: Json): Json {
  const {
    first_seen_at: _1,
    quarantined_at: _2,
    quarantine_override: _3,
    flag: _4,
    labels: _5,
    monitors: _6,
    daily: _7,
    pull_requests_impacted_last_30d: _8,
    average_duration_ms: _9,
    last_failure_at: _10,
    suites: _11,
    ...rest
  } = test;
  return rest;
}

function withoutRunFigures(test: Json): Json {
  const { most_common_failures: _1, failure_rate_last_7d: _2, failure_rate_last_24h: _3, ...rest } = test;
  return rest;
}
