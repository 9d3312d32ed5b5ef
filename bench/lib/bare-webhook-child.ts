import { createHmac, timingSafeEqual } from 'node:crypto';
import Fastify from 'fastify';
import { serveParent } from './child.ts';

/** Bare Fastify that verifies the signature of a delivery and answers. */
const { secret } = JSON.parse(process.argv[2] as string) as { secret: string };
const server = Fastify({ logger: false, bodyLimit: 20 * 1024 * 1024 });
server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
server.post('/webhooks/github', async (request, reply) => {
  const expected = Buffer.from(
    `sha256=${createHmac('sha256', secret)
      .update(request.body as Buffer)
      .digest('hex')}`,
  );
  const told = Buffer.from(String(request.headers['x-hub-signature-256']));
  const isSigned = told.length === expected.length && timingSafeEqual(told, expected);
  return reply.code(isSigned ? 202 : 401).send({ looks: 1 });
});
const url = await server.listen({ host: '127.0.0.1', port: 0 });
serveParent(url, () => server.close());
