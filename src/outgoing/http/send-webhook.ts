import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import { Fault } from '../../lib/fault.ts';
import type { OutgoingMessage, SendProblem, SendResult, WebhookSender } from '../outgoing.ts';
import {
  guardedConnector,
  isReachable,
  literalAddress,
  type Network,
  parseNetworks,
  type Resolve,
  resolveBySystem,
  UnreachableAddress,
} from './reachable.ts';

/** An answer is read this far, so that its connection can be used again, and thrown away. */
// SPEC X45
const MAX_ANSWER_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 20_000;

interface SenderOptions {
  /** Those of SLUICE_WEBHOOK_NETWORKS. */
  readonly networks?: readonly string[];
  readonly timeoutMs?: number;
  readonly resolve?: Resolve;
  readonly userAgent: string;
}

const TIMEOUT_MS = 15_000;

export function createWebhookSender(options: SenderOptions): WebhookSender {
  const { networks = [], timeoutMs = TIMEOUT_MS, resolve = resolveBySystem, userAgent } = options;
  const allowed = parseNetworks(networks);
  const agentFor = (given: readonly Network[]) =>
    new Agent({
      connect: guardedConnector(given, resolve, timeoutMs),
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
    });
  // Two pools: a connection to a private network must not serve a webhook that may not reach it.
  let isClosed = false;
  const agents = { open: agentFor([]), privileged: agentFor(allowed) };
  return {
    mayReach: (url, mayReachPrivate) => {
      const address = literalAddress(url);
      return address === undefined || isReachable(address, mayReachPrivate ? allowed : []);
    },
    send: (message) => {
      const dispatcher = message.mayReachPrivate ? agents.privileged : agents.open;
      const { origin, pathname, search } = new URL(message.url);
      const headers = ['content-type', 'application/json', 'user-agent', userAgent, ...signedHeaders(message)];
      const request = { origin, path: `${pathname}${search}`, method: 'POST', headers, body: message.body } as const;
      return new Promise((settle, reject) => {
        const attempt = new Attempt(timeoutMs, (error, result) => {
          if (result !== undefined) settle(result);
          else if (isClosed) reject(new Fault('SHUTTING_DOWN', 'The server stops.'));
          else settle({ kind: 'failed', problem: error instanceof Late ? 'TIMEOUT' : problemOf(error) });
        });
        dispatcher.dispatch({ ...request, headersTimeout: 0, bodyTimeout: 0 }, attempt);
      });
    },
    close: async () => {
      isClosed = true;
      await Promise.all([agents.open.destroy(), agents.privileged.destroy()]);
    },
  };
}

class Late extends Error {}

type Settle = (error: unknown, result?: SendResult) => void;

/** Takes the answer as it comes: a promise, a stream and a signal for each would take as long as all the rest. */
class Attempt implements Dispatcher.DispatchHandler {
  readonly #settle: Settle;
  readonly #timer: NodeJS.Timeout;
  #controller: Dispatcher.DispatchController | undefined;
  #isLate = false;
  #bytes = 0;

  constructor(timeoutMs: number, settle: Settle) {
    this.#settle = settle;
    this.#timer = setTimeout(() => this.#end(), timeoutMs);
  }

  /** Of a request that waits for its connection there is nothing to abort yet. */
  #end(): void {
    this.#isLate = true;
    this.#controller?.abort(new Late());
    this.#settle(new Late());
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#isLate) controller.abort(new Late());
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: Record<string, unknown>): void {
    if (status < 200) return;
    // An answer without end, or one that breaks off, changes nothing any more.
    this.#settle(undefined, {
      kind: 'answered',
      status,
      isAborted: headers['webhook-delivery'] === 'abort-message',
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > MAX_ANSWER_BYTES) controller.abort(new Late());
  }

  onResponseEnd(): void {
    clearTimeout(this.#timer);
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    clearTimeout(this.#timer);
    this.#settle(error);
  }
}

const NO_ADDRESS: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN']);

// SPEC X56
function problemOf(error: unknown): SendProblem {
  const code = String((error as { code?: unknown }).code ?? '');
  if (error instanceof UnreachableAddress || NO_ADDRESS.has(code)) return 'NO_ALLOWED_ADDRESS';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT') return 'TIMEOUT';
  return /CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(code) ? 'TLS_FAILED' : 'CONNECTION_FAILED';
}

// SPEC X30
export function signedHeaders({ id, timestampSeconds, body, secrets }: Signed): readonly string[] {
  const signature = secrets.map((secret) => `v1,${sign(secret, `${id}.${timestampSeconds}.${body}`)}`).join(' ');
  const values = ['id', id, 'timestamp', `${timestampSeconds}`, 'signature', signature];
  const named = (prefix: string) => values.map((value, index) => (index % 2 === 0 ? `${prefix}-${value}` : value));
  return [...named('webhook'), ...named('svix')];
}

type Signed = Pick<OutgoingMessage, 'id' | 'timestampSeconds' | 'body' | 'secrets'>;

function sign(secret: string, text: string): string {
  return createHmac('sha256', keyOf(secret)).update(text).digest('base64');
}

/** Importing a key takes five times as long as signing with it. */
const keys = new Map<string, KeyObject>();
const MOST_KEYS = 1_000;

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret);
  if (known !== undefined) return known;
  const key = createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  if (keys.size >= MOST_KEYS) keys.clear();
  keys.set(secret, key);
  return key;
}
