import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** A smaller reply arrives in the first packets of a connection: compressing it would take longer than it saves. */
const LEAST_BYTES = 4_096;

/** On threads beside the event loop. Higher levels take twice the time for a tenth of the size. */
const CODINGS = {
  br: (text: string) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  gzip: (text: string) => promisify(gzip)(text, { level: 3 }),
} as const;

/** Compresses large texts for clients that accept it. Streams, and files that are stored compressed, stay as they are. */
// SPEC H53
export function compressReplies(server: FastifyInstance): void {
  server.addHook('onSend', (request, reply, payload, done) => {
    if (typeof payload !== 'string' || payload.length < LEAST_BYTES || !isCompressible(request, reply)) return done();
    reply.header('vary', 'accept-encoding');
    const coding = chooseCoding(String(request.headers['accept-encoding'] ?? ''));
    if (coding === undefined) return done();
    CODINGS[coding](payload).then((packed) => {
      reply.header('content-encoding', coding).header('content-length', packed.length);
      done(null, packed);
    }, done);
  });
}

/** The size of a compressed reply would tell a listener about a secret that it has beside the caller's own words. */
function isCompressible({ routeOptions }: FastifyRequest, reply: FastifyReply): boolean {
  return routeOptions.config.operation?.secrets === undefined && !reply.hasHeader('content-encoding');
}

function chooseCoding(accepted: string): keyof typeof CODINGS | undefined {
  const names = accepted
    .toLowerCase()
    .split(',')
    .filter((each) => !/;\s*q=0(?:\.0*)?\s*$/.test(each))
    .map((each) => each.split(';', 1)[0]?.trim());
  return (['br', 'gzip'] as const).find((coding) => names.includes(coding));
}
