import type { FastifyInstance } from 'fastify';
import { createReadiness } from '../app/upkeep/readiness.ts';
import { renderApiPage } from './api-page.ts';
import type { BaseUrlOf } from './core/base-url.ts';
import { keepHealth } from './core/health-metrics.ts';
import { HttpProblem } from './core/problem.ts';
import type { ServerDeps } from './core/server-deps.ts';
import { registerGuides } from './guides.ts';
import { asPage } from './link-pages.ts';
import { createOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';

/** A placeholder in cached pages: a stranger may choose the Host header that the address comes from. */
const ADDRESS = 'https://address-of-this-server.invalid';

// SPEC A8
export function registerPublicPages(
  server: FastifyInstance,
  { app, baseUrlOf, dataFolder, version }: ServerDeps & { readonly baseUrlOf: BaseUrlOf },
): void {
  server.get('/healthz', () => ({ status: 'ok', version }));
  const probe = createReadiness(app, dataFolder);
  const checkReady = async () => {
    if (server.isStopping) throw new HttpProblem('UNAVAILABLE', 'The server is stopping.');
    await probe();
  };
  keepHealth(app, { checkReady, dataFolder });
  server.get('/readyz', async () => {
    await checkReady();
    return { status: 'ready' };
  });
  const openApi = once(() =>
    createOpenApi(
      ROUTES.map((route) => route.operation),
      ADDRESS,
    ),
  );
  const openApiText = once(() => JSON.stringify(openApi()));
  const docsPage = once(() => renderApiPage(openApi()));
  server.get('/openapi.json', (request, reply) => {
    const address = JSON.stringify(baseUrlOf(request)).slice(1, -1);
    return reply.type('application/json; charset=utf-8').send(openApiText().replaceAll(ADDRESS, () => address));
  });
  registerGuides(server);
  server.get('/docs', (request, reply) => {
    asPage(reply);
    return docsPage().replaceAll(ADDRESS, () => escapeForPage(baseUrlOf(request)));
  });
}

/** Safe in text, in attributes and in commands that people copy. */
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
