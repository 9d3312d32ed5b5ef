import type { FastifyInstance } from 'fastify';
import type { BaseUrlOf } from './base-url.ts';
import { renderDocsPage } from './docs-page.ts';
import { createOpenApi } from './openapi.ts';
import { asPage } from './page-headers.ts';
import { ROUTES } from './routes.ts';
import type { ServerDeps } from './server-deps.ts';

/** Stands for the server's address in what is made once; it is put in for every request, whose Host a stranger chose. */
const ADDRESS = 'https://address-of-this-server.invalid';

/** What needs no token: whether the server lives and serves, and what it can do. */
export function registerPublicPages(
  server: FastifyInstance,
  { app, baseUrlOf, version }: ServerDeps & { readonly baseUrlOf: BaseUrlOf },
): void {
  server.get('/healthz', () => ({ status: 'ok', version }));
  server.get('/readyz', async () => {
    await app.store.ping();
    return { status: 'ready' };
  });
  const openApi = once(() =>
    createOpenApi(
      ROUTES.map((route) => route.operation),
      ADDRESS,
    ),
  );
  const openApiText = once(() => JSON.stringify(openApi()));
  const docsPage = once(() => renderDocsPage(openApi()));
  server.get('/', (_request, reply) => reply.redirect('/docs'));
  server.get('/openapi.json', (request, reply) => {
    const address = JSON.stringify(baseUrlOf(request)).slice(1, -1);
    return reply.type('application/json; charset=utf-8').send(openApiText().replaceAll(ADDRESS, () => address));
  });
  server.get('/docs', (request, reply) => {
    asPage(reply);
    return docsPage().replaceAll(ADDRESS, () => escapeForPage(baseUrlOf(request)));
  });
}

/** Safe in text, in attributes and in the commands that people copy. */
function escapeForPage(text: string): string {
  return text.replace(/[^\w.:/[\]-]/g, (character) => `&#${character.codePointAt(0)};`);
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
