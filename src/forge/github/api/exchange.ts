import type { Octokit } from '@octokit/core';
import { pause, type Timing } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { inSpan } from '../../../lib/trace.ts';
import { bareText } from '../../hosted/forge-text.ts';
import { type Budget, exhausted, type Resource, type Urgency } from './budget.ts';

export interface Ask {
  /** A method with a path or URL, in octokit's form. */
  readonly route: string;
  /** The name for counting, when it is not the route. */
  readonly name?: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly urgency: Urgency;
  readonly resource: Resource;
  /** The request changes something. It is retried only when GitHub said that it was not executed. */
  readonly isAct: boolean;
}

export type Received =
  | { readonly kind: 'answer'; readonly status: number; readonly headers: Headers; readonly data: unknown }
  /** GitHub may or may not have executed the request. */
  | { readonly kind: 'lost'; readonly detail: string };

type Headers = Readonly<Record<string, string | undefined>>;

export interface RequestLine {
  readonly octokit: Octokit;
  readonly budget: Budget;
  readonly clock: Timing;
  readonly timeoutMs: number;
  readonly log: Log;
  readonly closing: AbortSignal;
}

/** The budget inserts a wait before each retry. */
const MAX_REFUSED = 5;
const RETRY_MS = [500, 2_000];

// SPEC G103
export async function exchange(line: RequestLine, ask: Ask): Promise<Received> {
  let failed = 0;
  for (let refused = 0; ; ) {
    const turn = await line.budget.take(ask);
    line.log.debug({ route: ask.name ?? ask.route }, 'GitHub request');
    const received = await sendInSpan(line, ask).catch((error: unknown) => {
      turn.end(undefined);
      throw error;
    });
    const isLimited = turn.end(received.kind === 'answer' ? factsOf(received) : undefined);
    // Some mutations of a batch may have been executed before the limit was hit, so the batch is not repeated.
    const isRefused = isLimited && !(ask.isAct && isPartlyDone(received));
    const waitMs = RETRY_MS[failed];
    if (isRefused) {
      refused += 1;
      line.log.warn({ route: ask.name ?? ask.route, refused }, 'GitHub rate limit reached');
      if (refused > MAX_REFUSED) throw exhausted(line.clock.now());
    } else if (!ask.isAct && isTransient(received) && waitMs !== undefined) {
      failed += 1;
      await pause(line.clock, waitMs);
    } else {
      return received;
    }
  }
}

/** The route is a template: it names no repository. A redirect's is an address. */
function sendInSpan(line: RequestLine, ask: Ask): Promise<Received> {
  const name = ask.name ?? ask.route;
  const begun = { name: name.includes('://') ? 'GitHub redirect' : `GitHub ${name}`, kind: 'client' } as const;
  return inSpan(begun, async (span) => {
    const received = await send(line, ask);
    if (received.kind === 'lost') span?.fail();
    else span?.set({ 'http.response.status_code': received.status });
    return received;
  });
}

async function send({ octokit, timeoutMs, closing }: RequestLine, ask: Ask): Promise<Received> {
  try {
    const { status, headers, data } = await octokit.request(ask.route, {
      ...ask.parameters,
      headers: ask.headers,
      request: { signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]) },
    });
    const isWhole = status === 204 || (typeof data === 'object' && data !== null);
    // Octokit returns a truncated body as if it were complete.
    if (!isWhole && status !== 202) return { kind: 'lost', detail: 'the answer broke off or is no JSON' };
    return { kind: 'answer', status, headers: headers as Headers, data };
  } catch (error) {
    const answer = responseOf(error);
    if (answer !== undefined) return answer;
    if (!isNetworkError(error)) throw error;
    return { kind: 'lost', detail: bareText(error.message) };
  }
}

/** Octokit throws on every status from 300 on. The error carries the response. */
function responseOf(error: unknown): Received | undefined {
  if (typeof error !== 'object' || error === null || !('response' in error)) return undefined;
  const { response } = error;
  if (typeof response !== 'object' || response === null || !('status' in response)) return undefined;
  const { status, headers, data } = response as { status: unknown; headers?: unknown; data?: unknown };
  if (typeof status !== 'number') return undefined;
  return { kind: 'answer', status, headers: (headers ?? {}) as Headers, data };
}

function isNetworkError(error: unknown): error is Error {
  return error instanceof Error && 'status' in error && error.status === 500;
}

// SPEC G17
export function isTransient(received: Received): boolean {
  if (received.kind === 'lost') return true;
  if (received.status >= 500) return true;
  return problemsIn(received.data).some(({ type, message }) => type === undefined && isPassing(message));
}

function isPartlyDone(received: Received): boolean {
  if (received.kind === 'lost' || typeof received.data !== 'object' || received.data === null) return false;
  const parts: unknown = 'data' in received.data ? received.data.data : undefined;
  return typeof parts === 'object' && parts !== null && Object.values(parts).some((part) => part !== null);
}

/** GraphQL reports a passing server error as a message with status 200. */
export function isPassing(message: string): boolean {
  return /something went wrong|timed? ?out|try again|temporarily/i.test(message);
}

/** GraphQL reports a query that is too large as an error, sometimes with a partial answer. */
export function isTooMuch({ type, message }: GitHubProblem): boolean {
  return type === undefined ? isPassing(message) : /^(RESOURCE_LIMITS|MAX_NODE_LIMIT)_EXCEEDED$/.test(type);
}

export interface GitHubProblem {
  readonly type: string | undefined;
  readonly path: readonly string[];
  readonly message: string;
}

/** GraphQL errors come with status 200. */
export function problemsIn(data: unknown): readonly GitHubProblem[] {
  if (typeof data !== 'object' || data === null || !('errors' in data) || !Array.isArray(data.errors)) return [];
  return data.errors.map(({ type, path, message }: Record<string, unknown>) => ({
    type: typeof type === 'string' ? type : undefined,
    path: Array.isArray(path) ? path.map(String) : [],
    message: typeof message === 'string' ? bareText(message) : '',
  }));
}

export function messageIn(data: unknown): string {
  if (typeof data === 'string') return bareText(data);
  if (typeof data !== 'object' || data === null || !('message' in data)) return '';
  return typeof data.message === 'string' ? bareText(data.message) : '';
}

function factsOf({ status, headers, data }: Extract<Received, { kind: 'answer' }>) {
  return {
    status,
    headers,
    message: messageIn(data),
    isLimited: problemsIn(data).some(({ type }) => type === 'RATE_LIMITED'),
  };
}
