import Fastify from 'fastify';
import { publicSchema } from '../../src/contract/schema.ts';
import { ROUTES } from '../../src/http/routes.ts';
import { serveParent } from './child.ts';

/** Bare Fastify with the same paths, bodies, schemas and constant answers. */
const { replies } = JSON.parse(process.argv[2] as string) as { replies: Record<string, unknown> };
const server = Fastify({ logger: false, bodyLimit: 20 * 1024 * 1024, ajv: { customOptions: { strict: false } } });
for (const { operation } of ROUTES) {
  const reply = replies[operation.path];
  if (reply === undefined) continue;
  const schemas = operation.method === 'POST' ? { body: publicSchema(operation.body) } : {};
  server.route({
    method: operation.method,
    url: `/v1${operation.path}`,
    schema: operation.replyType === undefined ? { ...schemas, response: { 200: publicSchema(operation.reply) } } : {},
    handler: async (_request, response) => {
      if (operation.replyType !== undefined) response.type(operation.replyType);
      return reply;
    },
  });
}
const url = await server.listen({ host: '127.0.0.1', port: 0 });
serveParent(url, () => server.close());
