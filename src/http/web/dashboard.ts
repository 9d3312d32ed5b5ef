import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { checkSlug } from '../../lib/text.ts';
import { HttpProblem } from '../core/problem.ts';
import type { ServerDeps } from '../core/server-deps.ts';

/** What the build of the dashboard wrote: its page, and the files that the page loads. */
interface Manifest {
  readonly html: string;
  readonly files: readonly string[];
}

/** Scripts and styles come from this server and from no text in a page; nothing is sent elsewhere. */
// SPEC A38
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Serves the dashboard: one page for every address of it, and its files, which never change under their names. */
export function registerDashboard(server: FastifyInstance, { webFolder }: ServerDeps): void {
  const manifest = readManifest(webFolder);
  const show = (_request: FastifyRequest, reply: FastifyReply) => {
    reply.type('text/html; charset=utf-8').header('content-security-policy', CONTENT_SECURITY_POLICY);
    reply.header('cache-control', 'no-cache').header('referrer-policy', 'same-origin');
    return reply.send(manifest?.html ?? NOT_BUILT);
  };
  server.get('/', show);
  server.get('/login', show);
  server.get('/:org', (request, reply) => showOf(request, reply));
  server.get('/:org/*', (request, reply) => showOf(request, reply));

  const showOf = (request: FastifyRequest, reply: FastifyReply) => {
    const { org } = request.params as { readonly org: string };
    if (checkSlug(org) !== undefined) throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such page.');
    return show(request, reply);
  };

  server.get('/assets/:file', (request, reply) => {
    const { file } = request.params as { readonly file: string };
    if (manifest?.files.includes(file) !== true) throw new HttpProblem('ROUTE_NOT_FOUND', 'There is no such file.');
    reply.type(TYPES[path.extname(file)] ?? 'application/octet-stream');
    reply.header('cache-control', 'public, max-age=31536000, immutable').header('vary', 'accept-encoding');
    const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
    if (isZipped) reply.header('content-encoding', 'gzip');
    return reply.send(readFileSync(path.join(webFolder ?? '', isZipped ? `${file}.gz` : file)));
  });
}

const NOT_BUILT =
  '<!doctype html><html lang="en"><title>Sluice</title><p>The dashboard is not built. <code>npm start</code> builds it; the API and the command line work without it.</p>';

function readManifest(folder: string | undefined): Manifest | undefined {
  const file = path.join(folder ?? '', 'manifest.json');
  return folder !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest) : undefined;
}
