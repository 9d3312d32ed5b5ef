import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { Agent, request } from 'undici';
import { Fault } from '../../lib/fault.ts';
import type { OutgoingMessage, SendProblem, WebhookSender } from '../outgoing.ts';
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
    send: async (message) => {
      const dispatcher = message.mayReachPrivate ? agents.privileged : agents.open;
      const signal = AbortSignal.timeout(timeoutMs);
      try {
        const headers = { 'content-type': 'application/json', 'user-agent': userAgent, ...signedHeaders(message) };
        const { url, body } = message;
        const answer = await request(url, { dispatcher, signal, method: 'POST', headers, body });
        // The status has come: an answer without end, or one that breaks off, changes nothing.
        void answer.body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
        const isAborted = answer.headers['webhook-delivery'] === 'abort-message';
        return { kind: 'answered', status: answer.statusCode, isAborted };
      } catch (error) {
        if (isClosed) throw new Fault('SHUTTING_DOWN', 'The server stops.');
        return { kind: 'failed', problem: signal.aborted ? 'TIMEOUT' : problemOf(error) };
      }
    },
    close: async () => {
      isClosed = true;
      await Promise.all([agents.open.destroy(), agents.privileged.destroy()]);
    },
  };
}

function problemOf(error: unknown): SendProblem {
  if (error instanceof UnreachableAddress) return 'ADDRESS_NOT_ALLOWED';
  const code = String((error as { code?: unknown }).code ?? '');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'NAME_NOT_FOUND';
  if (code === 'UND_ERR_CONNECT_TIMEOUT' || code === 'UND_ERR_HEADERS_TIMEOUT') return 'TIMEOUT';
  return /CERT|TLS|SSL|SELF_SIGNED|VERIFY/.test(code) ? 'TLS_FAILED' : 'CONNECTION_FAILED';
}

/** As Standard Webhooks has it, and once more under the names that clients of Svix read. */
// SPEC X30
export function signedHeaders({
  id,
  timestampSeconds,
  body,
  secrets,
}: Pick<OutgoingMessage, 'id' | 'timestampSeconds' | 'body' | 'secrets'>): Readonly<Record<string, string>> {
  const signature = secrets.map((secret) => `v1,${sign(secret, `${id}.${timestampSeconds}.${body}`)}`).join(' ');
  const values = { id, timestamp: `${timestampSeconds}`, signature };
  return Object.fromEntries(
    ['webhook', 'svix'].flatMap((prefix) =>
      Object.entries(values).map(([name, value]) => [`${prefix}-${name}`, value]),
    ),
  );
}

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
