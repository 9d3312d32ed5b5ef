import type * as access from '../../contract/access.ts';
import type * as breakage from '../../contract/breakage.ts';
import type * as logs from '../../contract/candidate-log.ts';
import type * as cost from '../../contract/cost-of-flakes.ts';
import type * as events from '../../contract/events.ts';
import type * as flaky from '../../contract/flaky-tests.ts';
import type * as monitors from '../../contract/monitors.ts';
import type { ReplyOf } from '../../contract/operation.ts';
import type * as pullRequests from '../../contract/pull-requests.ts';
import type * as health from '../../contract/queue-health.ts';
import type * as queues from '../../contract/queues.ts';
import type * as repositories from '../../contract/repositories.ts';
import type * as server from '../../contract/server.ts';
import type * as acts from '../../contract/test-acts.ts';
import type * as details from '../../contract/test-details.ts';
import type * as history from '../../contract/test-history.ts';
import type * as settings from '../../contract/test-settings.ts';
import type * as testing from '../../contract/testing.ts';
import type * as trial from '../../contract/try-checks.ts';
import type * as uploads from '../../contract/uploads.ts';
import type * as webhooks from '../../contract/webhooks.ts';
import { noteServerTime } from './clock.ts';
import { noteEnd } from './session.ts';

type Operations = typeof access &
  typeof breakage &
  typeof logs &
  typeof cost &
  typeof events &
  typeof flaky &
  typeof monitors &
  typeof health &
  typeof pullRequests &
  typeof queues &
  typeof repositories &
  typeof server &
  typeof acts &
  typeof details &
  typeof history &
  typeof settings &
  typeof testing &
  typeof trial &
  typeof uploads &
  typeof webhooks;

/** Every operation of the API. */
type Named = {
  [Name in keyof Operations]: Operations[Name] extends { readonly path: string; readonly scope: string } ? Name : never;
}[keyof Operations];
export type Reply<Name extends Named> = ReplyOf<Operations[Name]>;

/** An answer that is no success, as the sentence that the server gave. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  readonly code: string;
  readonly status: number;

  constructor(code: string, status: number, detail: string) {
    super(detail);
    this.code = code;
    this.status = status;
  }
}

export interface Asked {
  readonly signal?: AbortSignal;
}

/** Calls an operation for the organization that the page shows. */
export async function call<Name extends Named>(
  org: string,
  name: Name,
  body: object,
  { signal }: Asked = {},
): Promise<Reply<Name>> {
  return (await send(`/web/v1/${name}`, { org, body, ...(signal === undefined ? {} : { signal }) })) as Reply<Name>;
}

/** Reads again what may have changed: the server sends an answer only if it differs from the last one. */
// SPEC H51
export async function callAgain<Name extends 'pollQueue' | 'pollPullRequest'>(
  org: string,
  name: Name,
  body: object,
  { signal, last }: { readonly signal: AbortSignal; readonly last: Reply<Name> | undefined },
): Promise<Reply<Name>> {
  const known = last?.version === undefined ? {} : { ifVersion: last.version };
  const answer = await call(org, name, { ...body, ...known }, { signal });
  return last !== undefined && 'unchanged' in answer ? last : answer;
}

interface Sent extends Asked {
  readonly org?: string;
  readonly body?: object;
}

export async function send(path: string, sent: Sent): Promise<unknown> {
  return (await request(path, sent)).json();
}

/** The documents of a reply that grows, one a line. */
export async function* callLines<Line>(org: string, name: Named, body: object, signal: AbortSignal) {
  const reader = (await request(`/web/v1/${name}`, { org, body, signal })).body?.pipeThrough(new TextDecoderStream());
  const pieces = reader?.getReader();
  let rest = '';
  for (;;) {
    const { done, value = '' } = (await pieces?.read()) ?? { done: true };
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line !== '') yield JSON.parse(line) as Line;
  }
}

async function request(path: string, { org, body, signal }: Sent): Promise<Response> {
  const response = await fetch(path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(org === undefined ? {} : { 'x-organization': org }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiProblem('UNREACHABLE', 0, 'The server cannot be reached. The page tries again by itself.');
  });
  noteServerTime(response.headers.get('date'));
  if (response.ok) return response;
  const problem = await readProblem(response);
  if (problem.code === 'AUTHENTICATION_REQUIRED' && org !== undefined) noteEnd(org);
  throw problem;
}

async function readProblem(response: Response): Promise<ApiProblem> {
  const given = (await response.json().catch(() => ({}))) as { code?: unknown; detail?: unknown };
  const code = typeof given.code === 'string' ? given.code : 'UNKNOWN';
  const detail =
    typeof given.detail === 'string' ? given.detail : `The server answered with status ${response.status}.`;
  return new ApiProblem(code, response.status, detail);
}
