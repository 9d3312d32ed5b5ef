import type { EntryView } from '../../src/app/queue/entry-view.ts';
import type { QueueView } from '../../src/app/queue/queue-view.ts';
import type { Prng } from '../../src/lib/prng.ts';
import { pause } from './pause.ts';
import type { ChangeRef, Line } from './plan.ts';
import type { Post } from './server.ts';
import type { Violations } from './verdict.ts';

/** A call without an answer for this long is a bug. */
const PATIENCE_MS = 120_000;
const ANSWER_MS = 30_000;
const AGAIN_MS = 40;
const REPO = { host: 'local', owner: 'acme', name: 'storm' };

export interface Reply {
  readonly status: number;
  readonly body: unknown;
}

/** Calls any server that is up. */
export interface StormClient {
  /** Retries until it is answered. Only for calls that may be repeated. */
  call<T>(operation: string, body: object): Promise<T>;
  /** One attempt. Undefined if no answer came and the outcome is unknown. */
  attempt(operation: string, body: object): Promise<Reply | undefined>;
  get(change: ChangeRef, more?: object): Promise<EntryView | undefined>;
  getAll(line: Line, changes: readonly ChangeRef[]): Promise<readonly EntryView[]>;
  getQueue(line: Line): Promise<QueueView>;
  /** Pending calls fail from now on. */
  close(): void;
}

/** Only a server that is killed may leave a request without an answer, and none may fail. */
export function createStormClient(
  posts: readonly Post[],
  { token, random, violations }: { readonly token: string; readonly random: Prng; readonly violations: Violations },
): StormClient {
  let isClosed = false;
  const attempt: StormClient['attempt'] = async (operation, body) => {
    if (isClosed) throw new Error('the storm is over');
    const life = random.pick(posts.flatMap((post) => (post.life()?.url() === undefined ? [] : (post.life() ?? []))));
    if (life === undefined) return undefined;
    try {
      const response = await fetch(`${life.url()}/v1/${operation}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-token': token },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const reply = { status: response.status, body: await response.json() };
      if (response.status < 500) return reply;
      violations.add(`${operation} failed: ${JSON.stringify(reply)}`);
    } catch (error) {
      violations.expect(life.isKilled(), `${operation} was not answered by a server that lives: ${describe(error)}`);
    }
    return undefined;
  };
  const ask = async (operation: string, body: object): Promise<Reply> => {
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      const reply = await attempt(operation, body);
      if (reply !== undefined) return reply;
      if (performance.now() > deadline) throw new Error(`nobody answered ${operation} for ${PATIENCE_MS} ms`);
      await pause(AGAIN_MS);
    }
  };
  const call = async <T>(operation: string, body: object): Promise<T> => {
    const reply = await ask(operation, body);
    if (reply.status !== 200) throw new Error(`${operation}: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body as T;
  };
  return {
    call,
    attempt,
    get: async (change, more = {}) => {
      const reply = await ask('getSubmittedPullRequest', { ...nameOf(change), ...more });
      return reply.status === 200 ? (reply.body as EntryView) : undefined;
    },
    getAll: async (line, changes) => {
      const prs = changes.map(({ number }) => ({ number }));
      const body = { ...queueOf(line), prs };
      return (await call<{ pullRequests: EntryView[] }>('getSubmittedPullRequests', body)).pullRequests;
    },
    getQueue: (line) => call<QueueView>('getQueue', queueOf(line)),
    close: () => {
      isClosed = true;
    },
  };
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.message} ${error.cause ?? ''}` : `${error}`;
}

export function queueOf({ branch }: Line) {
  return { repo: REPO, targetBranch: branch };
}

export function nameOf({ line, number }: ChangeRef) {
  return { ...queueOf(line), pr: { number } };
}
