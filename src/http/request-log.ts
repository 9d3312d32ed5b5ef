import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Log } from '../lib/log.ts';

export function logRequest(log: Log, request: FastifyRequest, status: number): void {
  const { caller } = request;
  log.info(
    {
      requestId: request.id,
      method: request.method,
      path: pathOf(request),
      status,
      ms: Math.round((performance.now() - request.arrivedAt) * 100) / 100,
      organization: caller?.organization.slug,
      token: caller?.name,
    },
    'request',
  );
}

/** Without the query, which may contain secrets. */
export function pathOf({ url }: FastifyRequest): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Ids differ between servers and between starts. */
// SPEC H2
export function createRequestIds(): (request: { headers: IncomingMessage['headers'] }) => string {
  const prefix = makeRequestPrefix();
  let count = 0;
  return (request) => {
    const given = request.headers['x-request-id'];
    // A proxy's id is kept, so that both logs can be read together.
    if (typeof given === 'string' && /^[\w.-]{1,64}$/.test(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

export function makeRequestPrefix(): string {
  return randomBytes(6).toString('hex');
}
