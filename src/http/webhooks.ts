import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Receipt, receiveWebhook, sendersAt } from '../app/forge-events/receive-webhook.ts';
import type { DeliveryReader } from '../forge/hosting.ts';
import type { Log } from '../lib/log.ts';
import { STRANGER } from './core/body-budget.ts';
import { HttpProblem } from './core/problem.ts';
import { isAnnouncedTooLarge, type ReadBody, readBody, tooLarge } from './core/read-body.ts';
import type { ServerDeps } from './core/server-deps.ts';
import type { BodyDeps } from './read-json.ts';
import { logRequest } from './request-log.ts';

type WebhookDeps = ServerDeps & BodyDeps;

/** Receives webhooks. They are authenticated by a signature over the whole body, so that the body is read first. */
export function registerWebhooks(server: FastifyInstance, deps: WebhookDeps): void {
  server.route({
    method: 'POST',
    url: '/webhooks/:kind/:host?',
    config: { readsBody: true },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (isAnnouncedTooLarge(request.raw)) throw tooLarge();
      const senders = sendersAt(deps.app, addressOf(request));
      const isSigned = ({ proofHeaders }: DeliveryReader) =>
        proofHeaders.some((name) => request.headers[name] !== undefined);
      if (![...senders.values()].some(isSigned)) throw notSigned();
      // No forge compresses webhooks, and a small compressed body could become large.
      if (request.headers['content-encoding'] !== undefined) {
        throw new HttpProblem('UNSUPPORTED_MEDIA_TYPE', 'Send the delivery as it is, without a content encoding.');
      }
      await receive(deps, request, senders);
      if (request.server.isStopping) reply.header('connection', 'close');
      logRequest(deps.log, request, 202);
      return reply.code(202).send({ status: 'received' });
    },
  });
}

async function receive(
  deps: WebhookDeps,
  request: FastifyRequest,
  senders: ReadonlyMap<string, DeliveryReader>,
): Promise<void> {
  const { app, log } = deps;
  const { length, take, held } = await read(deps, request);
  try {
    // Checking the signature takes as long as parsing.
    await new Promise<void>((resolve) => deps.turns.run(length, resolve));
    const receipt = await receiveWebhook(app, senders, { headers: headersOf(request), body: take() });
    answerFor(receipt, { log, request, delivery: deliveryOf(request, senders) });
  } finally {
    held.release();
  }
}

function addressOf({ params }: FastifyRequest): { readonly kind: string; readonly host: string | undefined } {
  const { kind, host } = params as { readonly kind: string; readonly host?: string };
  return { kind, host: host?.toLowerCase() };
}

interface Received {
  readonly log: Log;
  readonly request: FastifyRequest;
  readonly delivery: string | undefined;
}

function answerFor(receipt: Receipt, { log, request, delivery }: Received): void {
  const facts = { requestId: request.id, delivery };
  switch (receipt.kind) {
    case 'unsigned':
      log.warn(facts, 'webhook signature does not match any known secret');
      throw notSigned();
    case 'unreadable':
      throw new HttpProblem('MALFORMED_JSON', `The delivery cannot be read. ${receipt.detail}`);
    case 'received':
      log.debug({ ...facts, hints: receipt.hints }, 'webhook received');
  }
}

function read({ requestTimeoutMs, budget }: WebhookDeps, request: FastifyRequest): Promise<ReadBody> {
  const reading = { timeoutMs: requestTimeoutMs, budget, owner: STRANGER };
  return new Promise((resolve, reject) => {
    readBody(request.raw, reading, (error, body) => (body === undefined ? reject(error) : resolve(body)));
  });
}

function headersOf({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** The id as the forge's page shows it. It is untrusted until the signature is checked. */
function deliveryOf({ headers }: FastifyRequest, senders: ReadonlyMap<string, DeliveryReader>): string | undefined {
  const [id] = [...senders.values()].flatMap(({ idHeader }) => headers[idHeader] ?? []);
  return id !== undefined && /^[\w-]{1,64}$/.test(id) ? id : undefined;
}

// SPEC G128
function notSigned(): HttpProblem {
  return new HttpProblem('INVALID_SIGNATURE', 'This delivery is not signed as it must be.');
}
