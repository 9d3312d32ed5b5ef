import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { receiveDelivery } from '../app/receive-delivery.ts';
import { Problem } from './problem.ts';
import { BODY_LIMIT_BYTES, isAnnouncedTooLarge, readBody, tooLarge } from './read-body.ts';
import { logRequest } from './request-log.ts';
import type { ServerDeps } from './server-deps.ts';

/** Anybody may send something here: whoever did not prove himself fills no more of the memory than this. */
const MAX_HELD_BYTES = 8 * BODY_LIMIT_BYTES;
/** Nearly all deliveries are smaller. Half of the memory is for them: a few large ones do not keep them out. */
const SMALL_BYTES = 256 * 1024;
const RETRY_AFTER_S = 5;

/** Where forges tell what happened. The signature stands for a token; it is over the whole body, which is read first. */
export function registerWebhooks(server: FastifyInstance, deps: ServerDeps): void {
  const held = { bytes: 0 };
  server.route({
    method: 'POST',
    url: '/webhooks/github',
    config: { readsBody: true },
    handler: async (request: FastifyRequest, reply: FastifyReply) => {
      if (isAnnouncedTooLarge(request.raw)) throw tooLarge();
      if (request.headers['x-hub-signature-256'] === undefined) throw notSigned();
      // A forge sends none that is compressed, and a small one could become large.
      if (request.headers['content-encoding'] !== undefined) {
        throw new Problem('UNSUPPORTED_MEDIA_TYPE', 'Send the delivery as it is, without a content encoding.');
      }
      if (held.bytes > (isSmall(request) ? MAX_HELD_BYTES - SMALL_BYTES : MAX_HELD_BYTES / 2)) {
        reply.header('retry-after', RETRY_AFTER_S);
        throw new Problem('RATE_LIMITED', `Too much is being delivered. Try again in ${RETRY_AFTER_S} s.`);
      }
      await counted(held, request, () => receive(deps, request));
      if (request.server.isClosing) reply.header('connection', 'close');
      logRequest(deps.log, request, 202);
      return reply.code(202).send({ status: 'received' });
    },
  });
}

function isSmall({ headers }: FastifyRequest): boolean {
  return Number(headers['content-length'] ?? Number.NaN) <= SMALL_BYTES;
}

/** Counts what is held of it; cuts it off where all of them together are too much. */
async function counted(held: { bytes: number }, { raw }: FastifyRequest, work: () => Promise<void>): Promise<void> {
  let own = 0;
  const count = (chunk: Buffer) => {
    own += chunk.length;
    held.bytes += chunk.length;
    if (held.bytes > MAX_HELD_BYTES) raw.destroy();
  };
  raw.on('data', count);
  try {
    await work();
  } finally {
    raw.off('data', count);
    held.bytes -= own;
    raw.resume();
  }
}

async function receive({ app, log, requestTimeoutMs }: ServerDeps, request: FastifyRequest): Promise<void> {
  const body = await read(request, requestTimeoutMs);
  const receipt = await receiveDelivery(app, { headers: headersOf(request), body });
  switch (receipt.kind) {
    case 'unsigned':
      log.warn(
        { requestId: request.id, delivery: deliveryOf(request) },
        'a delivery is not signed with a known secret',
      );
      throw notSigned();
    case 'unreadable':
      throw new Problem('MALFORMED_JSON', `The delivery cannot be read. ${receipt.detail}`);
    case 'received':
      log.debug({ requestId: request.id, delivery: deliveryOf(request), looks: receipt.looks }, 'delivery');
  }
}

function read(request: FastifyRequest, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    readBody(request.raw, timeoutMs, (error, body) =>
      error === null ? resolve(body ?? Buffer.alloc(0)) : reject(error),
    );
  });
}

function headersOf({ headers }: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** As the forge's own page names it. It is a stranger's text until it is proven. */
function deliveryOf({ headers }: FastifyRequest): string | undefined {
  const id = headers['x-github-delivery'];
  return typeof id === 'string' && /^[\w-]{1,64}$/.test(id) ? id : undefined;
}

/** The same whatever is wrong with it. */
function notSigned(): Problem {
  return new Problem('INVALID_SIGNATURE', 'This delivery is not signed as it must be.');
}
