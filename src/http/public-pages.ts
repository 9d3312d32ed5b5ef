import type { FastifyInstance, FastifyRequest } from 'fastify';
import { renderDocsPage } from './docs-page.ts';
import { createOpenApi } from './openapi.ts';
import { rememberRecent } from './remember-recent.ts';
import { ROUTES } from './routes.ts';
import type { ServerDeps } from './server-deps.ts';

/** What needs no token: whether the server lives and serves, and what it can do. */
export function registerPublicPages(server: FastifyInstance, { app, publicUrl, version }: ServerDeps): void {
  server.get('/healthz', () => ({ status: 'ok', version }));
  server.get('/readyz', async () => {
    await app.store.ping();
    return { status: 'ready' };
  });
  const operations = ROUTES.map((route) => route.operation);
  const baseUrlOf = (request: FastifyRequest): string => publicUrl ?? `${request.protocol}://${request.host}`;
  const openApi = rememberRecent(REMEMBERED_URLS, (baseUrl) => createOpenApi(operations, baseUrl));
  const openApiText = rememberRecent(REMEMBERED_URLS, (baseUrl) => JSON.stringify(openApi(baseUrl)));
  const docsPage = rememberRecent(REMEMBERED_URLS, (baseUrl) => renderDocsPage(openApi(baseUrl)));
  server.get('/openapi.json', (request, reply) =>
    reply.type('application/json; charset=utf-8').send(openApiText(baseUrlOf(request))),
  );
  server.get('/docs', (request, reply) => {
    reply.type('text/html; charset=utf-8');
    reply.header(
      'content-security-policy',
      "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
    );
    return docsPage(baseUrlOf(request));
  });
}

/** A server has one address, or the few by which its network knows it. */
const REMEMBERED_URLS = 4;
