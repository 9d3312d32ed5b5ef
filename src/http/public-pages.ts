import type { FastifyInstance, FastifyReply } from 'fastify';
import { checkSlug } from '../lib/text.ts';
import type { BaseUrlOf } from './base-url.ts';
import { HttpProblem } from './core/problem.ts';
import { renderDocsPage } from './docs-page.ts';
import { html } from './docs-page-html.ts';
import { createOpenApi } from './openapi.ts';
import { ROUTES } from './routes.ts';
import type { ServerDeps } from './server-deps.ts';

/**
 * A placeholder in cached pages: the address comes from the Host header of each request, which a stranger may choose.
 */
const ADDRESS = 'https://address-of-this-server.invalid';

/** Pages that need no token: health, readiness and documentation. */
// SPEC A8
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

/** Links to tests lead here. It shows nothing that needs a token. */
// SPEC A19
export function registerTestPage(server: FastifyInstance): void {
  server.get('/:org/flaky-tests/test/:id', (request, reply) => {
    const { org, id } = request.params as { org: string; id: string };
    if (checkSlug(org) !== undefined || !/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
      throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such page. Links to tests end with the id of a test.');
    }
    asPage(reply).header('cache-control', 'no-store');
    return renderTestPage(id.toLowerCase());
  });
}

function renderTestPage(id: string): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>A test</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}pre{padding:1rem;overflow:auto;border:1px solid}</style>
</head>
<body>
<h1>A test</h1>
<p>What is known about it is shown to those who have a token. With <code>SLUICE_URL</code> and <code>SLUICE_TOKEN</code> set:</p>
<pre><code>sluice tests show ${id}</code></pre>
<p>Over HTTP, <a href="/docs#getTestDetails">getTestDetails</a> answers the same.</p>
</body>
</html>
`.markup;
}

/** Pages for people load nothing, run nothing, send nothing, and cannot be framed. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// SPEC H34
function asPage(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY);
}
