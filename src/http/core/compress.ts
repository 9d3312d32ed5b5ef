import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A smaller reply arrives in the first packets of a connection: compressing it would take longer than it saves. */
const LEAST_BYTES = 4_096;

/** On a thread beside the event loop. Higher levels take twice the time for a tenth of the size. */
const LEVEL = 3;

// SPEC H53
export function compressReplies(server: FastifyInstance): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < LEAST_BYTES || !isCompressible(request, reply)) return done();
    reply.header('vary', 'accept-encoding');
    if (!acceptsGzip(String(request.headers['accept-encoding'] ?? ''))) return done();
    promisify(gzip)(payload, { level: LEVEL }).then((packed) => {
      reply.header('content-encoding', 'gzip').header('content-length', packed.length);
      done(null, packed);
    }, done);
  });
}

/** The size of a compressed reply would tell a listener about a secret that it has beside the caller's own words. */
function isCompressible({ routeOptions }: FastifyRequest, reply: FastifyReply): boolean {
  return routeOptions.config.operation?.secrets === undefined && !reply.hasHeader('content-encoding');
}

function acceptsGzip(accepted: string): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/i.test(accepted);
}
