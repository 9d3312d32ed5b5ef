import type { FastifyInstance } from 'fastify';
import { checkSlug } from '../lib/slug.ts';
import { HttpProblem } from './core/problem.ts';
import { html } from './docs-page-html.ts';
import { asPage } from './page-headers.ts';

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
